"""The seconds of every MPI-IO call, by rank and file, also counted by another library."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from beds.mpis import MPIS, ROOT, Mpi, find_mpi
from beds.recorded import IO_RANKS, ROMIO, built, recorded_io, slow_library
from isochrone.collective_io.causes.rules import causes
from isochrone.collective_io.results import io_recording
from isochrone.collective_io.results.io_times import account, call_times

LATE = 2.0
"""Seconds that rank 3 of file_calls.c sleeps."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def library(mpi: Mpi, folder: Path, name: str) -> Path:
    """Compile a library to preload."""
    source = ROOT / f"tests/beds/{name}.c"
    compiled = folder / f"{name}-{mpi.name}.so"
    flags = ("-shared", "-fPIC", "-O1")
    subprocess.run([mpi.probe.mpicc, *flags, source, "-o", compiled], check=True)
    return compiled


@pytest.mark.few(2)
@pytest.mark.parametrize("name", list(MPIS))
def test_all_seconds_of_all_calls_are_in_the_account(
    name: str, folder: Path, tmp_path: Path
) -> None:
    """Of each rank: 95 % of what a library between the recorder and MPI counts, at least."""
    mpi = find_mpi(name)
    clock = library(mpi, folder, "file_clock")
    program = str(built(mpi, folder, "file_calls"))
    run = recorded_io(
        mpi,
        tmp_path / "run.jsonl",
        program,
        str(tmp_path / "data"),
        below=str(clock),
        FILE_CLOCK=str(tmp_path / "clock"),
    )
    times = call_times(run)
    for rank in range(IO_RANKS):
        spent = sum(row.seconds for row in times if row.rank == rank)
        assert spent >= 0.95 * float((tmp_path / f"clock.{rank}").read_text())
    found = account(run)
    assert found is not None
    assert sum(part.share for part in found.parts) == pytest.approx(1)
    assert found.seconds <= found.whole
    calls = {(row.call, row.op): row.calls for row in times if row.rank == 1}
    assert calls == {
        ("open", ""): 2,
        ("close", ""): 2,
        ("set-view", ""): 2,
        ("set-size", ""): 2,
        ("sync", ""): 8,
        ("independent", "write"): 8,
        ("independent", "read"): 2,
        ("collective", "write"): 20,
        ("shared", "write"): 8,
        ("ordered", "write"): 8,
        ("nonblocking", "write"): 16,
        ("nonblocking-collective", "write"): 2,
    }
    (started,) = [row for row in times if (row.rank, row.call) == (1, "nonblocking-collective")]
    span = 2 * (15 * IO_RANKS * 4096 + 4096)
    assert (started.nbytes, started.pieces, started.span) == (131072, 32, span)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", list(MPIS))
def test_a_late_rank_is_named_by_every_mpi(name: str, folder: Path, tmp_path: Path) -> None:
    """By the times at which ranks enter, though the clock of each has another origin."""
    mpi = find_mpi(name)
    run = recorded_io(
        mpi,
        tmp_path / "run.jsonl",
        str(built(mpi, folder, "file_calls")),
        str(tmp_path / "data"),
        "late",
        below=str(library(mpi, folder, "clock_origins")),
    )
    (first, *_) = causes(run)
    assert first.name == "late-ranks"
    assert first.numbers["rank"] == 3
    assert first.numbers["late_seconds"] == pytest.approx(LATE, rel=0.1)
    assert first.seconds == pytest.approx(LATE * (IO_RANKS - 1) / IO_RANKS, rel=0.1)
    assert [call.late for call in io_recording.calls(run)] == pytest.approx([1, 1], rel=0.1)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", list(ROMIO))
def test_a_rank_that_is_still_writing_for_the_others_is_not_late(
    name: str, folder: Path, tmp_path: Path
) -> None:
    """Rank 0 sleeps in its first access to the file, in a collective call; rank 2 waits for that.

    It may leave the call before, and wait in the next one.
    """
    mpi = find_mpi(name)
    slow = slow_library(mpi, folder)
    run = recorded_io(
        mpi,
        tmp_path / "run.jsonl",
        str(built(mpi, folder, "file_rows")),
        str(tmp_path / "data"),
        options=ROMIO[name],
        below=str(slow),
        ISO_SLOW=f"0 pwrite 1 {LATE}",
    )
    mine = [row for row in call_times(run) if row.rank in (0, 2)]
    for rank in (0, 2):
        rows = [row for row in mine if row.rank == rank]
        assert sum(row.waiting for row in rows) < LATE / 2
        assert sum(row.seconds for row in rows if row.call == "collective") >= LATE
    assert max(row.access for row in mine if row.rank == 0) >= LATE
    assert all(row.late < LATE / 2 for row in mine)
