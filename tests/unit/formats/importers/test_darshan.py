"""Text of Darshan: the seconds, bytes and calls of its counters, and the patterns of DXT."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import ROOT
from isochrone.base.errors import InputError
from isochrone.collective_io.causes.rules import causes
from isochrone.collective_io.results import io_recording
from isochrone.collective_io.results.io_times import CallTime, account, call_times
from isochrone.runfile.any_file import read
from isochrone.runfile.file import write
from isochrone.runfile.run import Run

TEXT = (ROOT / "tests/golden/darshan/collective.txt").read_text("utf-8")
MIB = 1 << 20

_HAS_WHEEL = pytest.mark.skipif(sys.version_info >= (3, 13), reason="PyDarshan has no wheel")


def _public_log(name: str) -> Path:
    """Return a log that PyDarshan ships."""
    library = importlib.util.find_spec("darshan")
    assert library and library.origin
    return Path(library.origin).parent / f"examples/example_logs/{name}.darshan"


def _run(folder: Path, text: str) -> Run:
    path = folder / "log.txt"
    path.write_text(text, "utf-8")
    return read(path)


def _without_dxt(text: str = TEXT) -> str:
    return text.split("# DXT", maxsplit=1)[0]


def _rows(run: Run, call: str) -> list[CallTime]:
    return [row for row in call_times(run) if row.call == call]


def test_shared_and_single_records_keep_their_sums(tmp_path: Path) -> None:
    for text in (TEXT, _without_dxt()):
        run = _run(tmp_path, text)
        together, alone = _rows(run, "collective"), _rows(run, "independent")
        assert sum(row.seconds for row in together) == pytest.approx(4.8)
        assert (sum(r.nbytes for r in together), sum(r.calls for r in together)) == (12 * MIB, 12)
        assert [(r.rank, r.calls, r.nbytes, r.seconds) for r in alone] == [
            (1, 100, 51200, 0.02),
            (2, 200, 102400, 0.04),
        ]
        assert sum(row.seconds for row in _rows(run, "open")) == pytest.approx(0.042)
        assert (run.kind, run.size, (run.end or {})["seconds"]) == ("io-recording", 4, 4.0)
        first, second = io_recording.files(run)
        assert first.hints == {"striping_unit": str(MIB), "striping_factor": "4"}
        assert (first.filesystem, second.ranks.tolist()) == ("lustre", [1, 2])


def test_slowest_and_fastest_rank_of_a_shared_record_have_their_times(tmp_path: Path) -> None:
    """1.51 s and 0.31 s of 4.84 s; the two others share the remainder."""
    rows = _rows(_run(tmp_path, _without_dxt()), "collective")
    parts = np.array([1.51, 1.51, 1.51, 0.31]) / 4.84
    assert [row.seconds for row in rows] == pytest.approx(4.8 * parts)


def test_fewer_calls_than_ranks_are_those_of_the_slowest(tmp_path: Path) -> None:
    text = _without_dxt().replace("COLL_WRITES\t12\t", "COLL_WRITES\t1\t")
    run = _run(tmp_path, text)
    (row,) = _rows(run, "collective")
    assert (row.rank, row.calls, row.nbytes) == (0, 1, 12 * MIB)
    of_rank = [r.seconds for r in call_times(run) if r.rank == 0]
    assert sum(of_rank) == pytest.approx(4.0)  # the whole run; the counter says 4.8 s


@pytest.mark.parametrize(
    ("counters", "few"),
    [
        ({"SIZE_WRITE_AGG_0_100": 3, "SIZE_WRITE_AGG_1M_4M": 12}, 150),
        ({"SIZE_WRITE_AGG_0_100": 3, "ACCESS2_ACCESS": 40, "ACCESS2_COUNT": 3}, 120),
        ({"SIZE_WRITE_AGG_0_100": 2, "SIZE_WRITE_AGG_1M_4M": 13}, 12 * MIB * 3 / 15),
    ],
    ids=["in the smallest bin", "of one size", "not known"],
)
def test_bytes_of_other_calls_are_told_by_their_sizes(
    tmp_path: Path, counters: dict[str, int], few: float
) -> None:
    """Twelve collective writes and three independent ones are one sum."""
    lines = [line for line in _without_dxt().splitlines() if "MPIIO_COLL_WRITES\t12\t" in line]
    (line,) = lines
    added = [line.replace("COLL_WRITES\t12\t", f"{k}\t{v}\t") for k, v in counters.items()]
    added.append(line.replace("COLL_WRITES\t12\t", "INDEP_WRITES\t3\t"))
    text = _without_dxt().replace(line, "\n".join([line, *added]))
    run = _run(tmp_path, text)
    file = _rows(run, "collective")[0].file
    alone = sum(row.nbytes for row in _rows(run, "independent") if row.file == file)
    assert alone == pytest.approx(few, abs=2)
    assert alone + sum(row.nbytes for row in _rows(run, "collective")) == 12 * MIB


def test_collective_calls_with_views_have_pieces_that_are_not_known(tmp_path: Path) -> None:
    run = _run(tmp_path, _without_dxt().replace("MPIIO_VIEWS\t0\t", "MPIIO_VIEWS\t12\t"))
    assert causes(run)[0].name == "unseen-pieces"
    assert causes(_run(tmp_path, _without_dxt()))[0].name != "unseen-pieces"


def test_a_log_of_many_ranks_is_kept_in_a_file(tmp_path: Path) -> None:
    """More ranks than a file may have without describing them."""
    run = _run(tmp_path, _without_dxt().replace("nprocs: 4", "nprocs: 5000"))
    write(run, tmp_path / "io.jsonl")
    assert read(tmp_path / "io.jsonl").size == 5000


def test_dxt_alone_is_said_to_lack_the_counters(tmp_path: Path) -> None:
    head = [line for line in TEXT.splitlines() if not line.startswith(("MPI-IO", "POSIX"))]
    with pytest.raises(InputError, match="counters") as caught:
        _run(tmp_path, "\n".join(head))
    assert "darshan-parser" in caught.value.hint


def test_dxt_tells_the_pattern_and_the_late_rank(tmp_path: Path) -> None:
    run = _run(tmp_path, TEXT)
    (pattern,) = io_recording.patterns(run)
    assert (pattern.bytes, pattern.calls, pattern.contiguous, pattern.whole) == (
        4 * MIB,
        3,
        4,
        True,
    )
    assert pattern.pieces["offset"].tolist() == [0, MIB, 2 * MIB, 3 * MIB]
    calls = io_recording.calls(run)
    assert [call.shift for call in calls] == [0, 4 * MIB, 8 * MIB]
    assert [call.late for call in calls] == pytest.approx([0.4] * 3)
    total = account(run)
    assert total is not None
    assert {part.part: part.total for part in total.parts} == pytest.approx(
        {
            "waiting": 9 * 0.4,
            "access": 4 * 0.24 + 0.06,
            "exchange": 4 * 0.06,
            "metadata": 0.042,
            "sync": 0,
        }
    )
    assert causes(run)[0].name == "late-ranks"
    assert [rank.host for rank in run.ranks] == ["node0", "node0", "node1", "node1"]


def test_without_all_accesses_there_are_no_patterns(tmp_path: Path) -> None:
    """A row of DXT is missing, or calls are not collective: who called together is not known."""
    rows = TEXT.splitlines(keepends=True)
    changed = [
        "".join(rows[:-1]),
        _without_dxt(),
        TEXT.replace("INDEP_WRITES\t0\t", "INDEP_WRITES\t4\t"),
    ]
    for text in changed:
        run = _run(tmp_path, text)
        assert io_recording.patterns(run) == []
        assert sum(row.waiting for row in call_times(run)) == 0
        assert sum(row.seconds for row in call_times(run) if row.op) == pytest.approx(4.86)


def test_views_make_patterns_incomplete(tmp_path: Path) -> None:
    run = _run(tmp_path, TEXT.replace("VIEWS\t0\t", "VIEWS\t4\t"))
    assert [pattern.whole for pattern in io_recording.patterns(run)] == [False]


@_HAS_WHEEL
def test_binary_log_holds_what_its_text_does(processes: None) -> None:
    """The numbers are those that darshan-parser prints of this log of IOR on HDF5."""
    run = read(_public_log("ior_hdf5_example"))
    rows = call_times(run)
    assert {(r.call, r.op) for r in rows} == {
        ("open", ""),
        ("independent", "write"),
        ("independent", "read"),
    }
    for op, calls, nbytes, seconds in (
        ("write", 23, 4195800, 0.537002),
        ("read", 36, 4202504, 0.078549),
    ):
        each = [row for row in rows if row.op == op]
        assert (sum(r.calls for r in each), sum(r.nbytes for r in each)) == (calls, nbytes)
        assert sum(row.seconds for row in each) == pytest.approx(seconds, abs=1e-6)
    (file,) = io_recording.files(run)
    assert (file.filesystem, file.hints["striping_unit"]) == ("lustre", str(MIB))
    assert [rank.host for rank in run.ranks] == ["nid00097"] * 4


@_HAS_WHEEL
def test_damaged_binary_log_is_refused_or_named(tmp_path: Path, processes: None) -> None:
    data = _public_log("ior_hdf5_example").read_bytes()
    log = tmp_path / "cut.darshan"
    log.write_bytes(data[:1500])  # without counters
    with pytest.raises(InputError):
        read(log)
    log.write_bytes(data[:3000])  # without all of DXT
    assert {"incomplete"} <= {warning["code"] for warning in read(log).warnings}


def test_binary_log_without_its_library_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "darshan", None)
    log = tmp_path / "app.darshan"
    log.write_bytes(b"3.41\0\0\0\x0075d\0\0\0\0\0" + bytes(1000))
    with pytest.raises(InputError) as error:
        read(log)
    assert "darshan-parser" in str(error.value.hint)


def test_settings_are_of_both_libraries_as_a_log_names_none(tmp_path: Path) -> None:
    settings = {one for cause in causes(_run(tmp_path, TEXT)) for one in cause.settings}
    assert {"romio_cb_write=disable", "OMPI_MCA_fcoll=individual"} <= settings


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("# nprocs: 4", "# nprocs: four", 0),
        ("# nprocs: 4", "# nprocs: 0", 0),
        ("# start_time: 1764374400", "# start_time: 1125899906842624", 0),
        ("# nprocs: 4", "# nprocs: 2", 0),
        ("F_WRITE_TIME\t4.800000", "F_WRITE_TIME\tlong", 36),
        ("BYTES_WRITTEN\t12582912\t/scratch/field.dat", "BYTES_WRITTEN\t12582912", 32),
        ("BYTES_WRITTEN\t12582912", "BYTES_WRITTEN\t1e300", 32),
        ("MPI-IO\t", "MPIIO\t", 0),
        ("X_MPIIO       0  write        0", "X_MPIIO       0  wrote        0", 82),
    ],
    ids=[
        "ranks-word",
        "no-rank",
        "start",
        "rank-above",
        "time-word",
        "columns",
        "too-large",
        "no-module",
        "dxt-op",
    ],
)
def test_wrong_text_is_refused(tmp_path: Path, old: str, new: str, line: int) -> None:
    assert old in TEXT
    with pytest.raises(InputError) as error:
        _run(tmp_path, TEXT.replace(old, new))
    assert "\n" not in str(error.value)
    assert (f":{line}" in str(error.value.where)) is bool(line)
