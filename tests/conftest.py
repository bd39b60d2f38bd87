"""Fixtures that all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

from beds import golden as golden_texts
from beds import markers, selection
from beds.command_line import Command, run_here, run_process
from beds.golden import Golden
from beds.mpis import MPIS, ROOT, Mpi, find_mpi
from beds.shim import Shim

GUARD = markers.Guard()
FIRST_MPI = next(iter(MPIS))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what `make` chooses tests by."""
    group = parser.getgroup("isochrone")
    group.addoption("--full", action="store_true", help="everything, at full size")
    group.addoption("--golden", action="store_true", help="write the golden texts again")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by what they need; leave out what only ``--full`` runs."""
    for item in items:
        markers.mark(item)
    if not config.getoption("full"):
        kept = set(selection.quick(items, FIRST_MPI))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Let `make coverage` know which test executed what, here and in the processes it starts."""
    measured = coverage.Coverage.current()
    if measured is None:
        return (yield)
    os.environ["ISOCHRONE_TEST"] = name = item.nodeid.partition("[")[0]
    measured.switch_context(name)
    try:
        return (yield)
    finally:
        del os.environ["ISOCHRONE_TEST"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Let a test start only what its markers say."""
    GUARD.item = item
    try:
        return (yield)
    finally:
        GUARD.item = None


@pytest.fixture(scope="session", autouse=True)
def own_cache() -> None:
    """Build probes not in the user's cache, but in one that all tests of this checkout share.

    What is in it is named by the hash of its sources and its MPI, so it is never out of date.
    """
    folder = ROOT / ".venv/test-cache"
    folder.mkdir(parents=True, exist_ok=True)
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


@pytest.fixture
def processes() -> None:
    """Say that a test starts processes."""


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether everything is tested at full size."""
    return bool(request.config.getoption("full"))


@pytest.fixture(scope="session")
def trials(full: bool) -> int:
    """How many random samples a rate is measured on: bounds follow from it (`beds.rates`)."""
    return 200 if full else 20


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Golden:
    """Compare full texts with those in tests/golden/texts, where folders of this run are masked."""
    masks = {str(tmp_path_factory.getbasetemp()): "TMP", str(ROOT): "ROOT"}
    masks |= {f" on {os.uname().nodename}": " on HOST"}
    if "tmp_path" in request.fixturenames:
        masks = {str(request.getfixturevalue("tmp_path")): "FOLDER", **masks}
    write = request.config.getoption("golden")
    return Golden(golden_texts.file_of(request.path), request.node.name, masks, write=write)
