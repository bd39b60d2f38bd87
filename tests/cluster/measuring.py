"""Measuring on a cluster, started as a user on its login node does."""

from __future__ import annotations

from pathlib import Path

from cluster.running import Cluster
from isochrone.run import Run, read
from mpis import SCRIPTS, Mpi

LAUNCHERS = {
    "mpich": ("mpiexec-mpich", "-f"),
    "openmpi": ("mpirun-openmpi", "--hostfile"),
}
"""By kind of MPI: the launcher, and how its starter takes a hostfile."""


def measure(
    on: Cluster, mpi: Mpi, out: Path, *options: object, experiment: str = "latency-map"
) -> Run:
    """Measure with the command line; all ranks of the hostfile."""
    kind = "openmpi" if "openmpi" in mpi.name else "mpich"
    launcher, flag = LAUNCHERS[kind]
    start = ["--launcher", launcher, f"--launcher-arg={flag}"]
    start += [f"--launcher-arg={on.hostfile(kind)}", "--timeout", "120"]
    ranks = ["-n", sum(on.plan.ranks), "--mpicc", mpi.probe.mpicc]
    words = ["measure", experiment, *ranks, *start, *options, "-o", out]
    answer = on.run(SCRIPTS / "isochrone", *words, timeout=150)
    assert answer.returncode == 0, answer.stderr
    return read(out)
