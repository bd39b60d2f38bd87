"""Fixtures that all tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mpis import MPIS, SCRIPTS, Mpi, find_mpi
from shims import Shim


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let probes be built afresh, and not in the user's cache."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    for name in ("MPICC", "SLURM_JOB_ID", "FLUX_URI"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session")
def mpich() -> Mpi:
    """The MPI every functional test may use: the wheel `mpich`."""
    return find_mpi("mpich-wheel")


@pytest.fixture(scope="session", params=list(MPIS))
def every_mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI that must work."""
    return find_mpi(request.param)


@pytest.fixture
def isochrone() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line as a user does, in a process of its own."""

    def run(
        *args: object, cwd: Path | None = None, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        program = shutil.which("isochrone", path=str(SCRIPTS))
        assert program, "isochrone is not installed beside this Python"
        return subprocess.run(
            [program, *map(str, args)],
            cwd=cwd,
            env={**os.environ, "MPICC": str(MPIS["mpich-wheel"]), **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    return run


@pytest.fixture
def mpich_shim(mpich: Mpi, tmp_path: Path) -> Shim:
    """The wheel `mpich`, with the shim below it."""
    return Shim(mpich, tmp_path)


@pytest.fixture
def every_shim(every_mpi: Mpi, tmp_path: Path) -> Shim:
    """Each MPI that must work, with the shim below it."""
    return Shim(every_mpi, tmp_path)
