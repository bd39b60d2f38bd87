"""Measuring on a cluster, started as a user on its login node does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from beds.mpis import SCRIPTS, Mpi
from cluster.running import Cluster
from cluster.waiting import PATIENCE
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

LAUNCHERS = {
    "mpich": ("mpiexec-mpich", "-f"),
    "openmpi": ("mpirun-openmpi", "--hostfile"),
}
"""By kind of MPI: the launcher, and how its starter takes a hostfile."""


def hostfile(on: Cluster, order: Sequence[int], path: Path) -> Path:
    """Name nodes with these numbers of ranks, in this order, for MPICH."""
    left = dict(zip(on.plan.nodes, on.plan.ranks, strict=True))
    lines = []
    for size in order:
        node = next(name for name, ranks in left.items() if ranks == size)
        lines.append(f"{node}:{left.pop(node)}\n")
    path.write_text("".join(lines))
    return path


def measure(
    on: Cluster,
    mpi: Mpi,
    out: Path,
    *options: object,
    experiment: str = "latency-map",
    hosts: Path | None = None,
) -> Run:
    """Measure with the command line; all ranks of the hostfile, or of another one."""
    kind = "openmpi" if "openmpi" in mpi.name else "mpich"
    launcher, flag = LAUNCHERS[kind]
    start = ["--launcher", launcher, f"--launcher-arg={flag}"]
    start += [f"--launcher-arg={hosts or on.hostfile(kind)}", "--kill-after", str(PATIENCE)]
    ranks = ["-n", sum(on.plan.ranks), "--mpicc", mpi.probe.mpicc]
    words = ["measure", experiment, *ranks, *start, *options, "-o", out]
    answer = on.run(SCRIPTS / "isochrone", *words, timeout=2 * PATIENCE)
    assert answer.returncode == 0, answer.stderr
    return read(out)
