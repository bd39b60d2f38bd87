"""Fixtures that all tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from beds.command_line import Command, run_here, run_process
from beds.mpis import MPIS, Mpi, find_mpi
from beds.shim import Shim


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let probes be built afresh, and not in the user's cache; workers of one run share them."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "own-cache"
    folder.mkdir(exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(folder)
    for name in ("ISOCHRONE_PROBE", "MPICC", "SLURM_JOB_ID", "FLUX_URI"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session", autouse=True)
def nothing_configured(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let neither the site nor the user have set anything."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    os.environ["ISOCHRONE_SITE_CONFIG"] = ""


@pytest.fixture(scope="session", autouse=True)
def heard_signals() -> None:
    """Hear SIGINT, which tests send: whoever is started in the background by a shell ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def mpich() -> Mpi:
    """The MPI every functional test may use: the wheel `mpich`."""
    return find_mpi("mpich-wheel")


@pytest.fixture(scope="session", params=list(MPIS))
def every_mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI that must work."""
    return find_mpi(request.param)


@pytest.fixture(scope="session")
def isochrone() -> Command:
    """Run the command line within this process, which has imported all it needs."""
    return run_here


@pytest.fixture(scope="session")
def isochrone_process() -> Command:
    """Run the command line as a user does, in a process of its own."""
    return run_process


@pytest.fixture
def mpich_shim(mpich: Mpi, tmp_path: Path) -> Shim:
    """The wheel `mpich`, with the shim below it."""
    return Shim(mpich, tmp_path)


@pytest.fixture
def every_shim(every_mpi: Mpi, tmp_path: Path) -> Shim:
    """Each MPI that must work, with the shim below it."""
    return Shim(every_mpi, tmp_path)
