"""A recording of collective I/O in place of a table: its pieces, hints, operation and nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.cli.main import main
from isochrone.collective_io.cli.workload import is_recording, recorded_access
from isochrone.collective_io.workload.call import call_of
from isochrone.runfile.file import write
from made_up.jobs import TACHYON
from made_up.sweeps import run_of

HINTS = {
    "cb_nodes": "2",
    "cb_buffer_size": "64",
    "cb_config_list": "*:1",
    "striping_unit": "0",
    "romio_cb_write": "automatic",
}


def recording(folder: Path, hints: dict[str, str] | None = None, ranks: str | None = None) -> Path:
    """Four ranks on two nodes: rows of a matrix are written, and columns read, which is slower."""
    rows = [
        {"pattern": 0, "rank": r, "offset": 100 + 64 * r, "length": 64, "count": 1, "stride": 0}
        for r in range(4)
    ]
    columns = [
        {"pattern": 1, "rank": r, "offset": 100 + 8 * r, "length": 8, "count": 8, "stride": 32}
        for r in range(4)
    ]
    calls = [
        {
            "call": k,
            "pattern": k % 2,
            "shift": 0,
            "name": "MPI_File_write_all",
            "seconds": 0.1 + k % 2,
        }
        for k in range(4)
    ]
    file = {"file": 0, "name": "out.h5", "opens": 1, **({"ranks": ranks} if ranks else {})}
    patterns = [
        {"pattern": k, "file": 0, "op": op, "bytes": 256, "pieces": pieces, "calls": 2}
        for k, op, pieces in ((0, "write", 4), (1, "read", 32))
    ]
    found = {**HINTS, **(hints or {})}
    records = {
        "file": [file],
        "hint": [{"file": 0, "key": k, "value": v} for k, v in found.items()],
        "pattern": patterns,
        "piece": [*rows, *columns],
        "call": calls,
    }
    run = run_of("io-recording", 4, 2, records, {}, "collective accesses")
    run.header["kind"] = "io-recording"
    path = folder / "io.jsonl"
    write(run, path)
    return path


def predicted(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    command = ["predict", "collective-io", "--model", str(TACHYON), "--json", *map(str, words)]
    assert main(command) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("hint", "rows", "columns"),
    [("automatic", False, True), ("enable", True, True), ("disable", False, False)],
)
def test_whether_anything_is_exchanged_follows_from_hint_and_access(
    hint: str, rows: bool, columns: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recording(tmp_path, {"romio_cb_write": hint, "romio_cb_read": hint})
    for pattern, exchanges in enumerate((rows, columns)):
        words = ["place", "nodes", "--model", str(TACHYON), "--json", "--dry-run"]
        words += ["--table", str(path), "--pattern", str(pattern)]
        assert main(words) == 0
        assert json.loads(capsys.readouterr().out)["exchanges"] == exchanges


def test_what_is_assumed_of_another_library_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    """OMPIO has other file domains than ROMIO; unless they are asked for."""
    path = recording(tmp_path)
    text = path.read_text().replace('"cb_config_list"', '"other"')
    path.write_text(text.replace('"library":"', '"library":"Open MPI '))
    assert recorded_access(path).through == "OMPIO"
    golden(predicted(capsys, "--table", path)["warnings"])


def test_the_pattern_that_took_longest_is_taken_with_its_hints(tmp_path: Path) -> None:
    path = recording(tmp_path)
    found = recorded_access(path)
    assert is_recording(path)
    assert found.accesses.count.tolist() == [8] * 4
    assert found.accesses.members is None
    assert (found.op, found.hints["cb_buffer_size"]) == ("read", "64")
    assert found.hints["cb_config_list"] == "*:1"
    assert "cb_nodes" not in found.hints
    assert recorded_access(path, 0).op == "write"
    with pytest.raises(InputError, match="no pattern 7"):
        recorded_access(path, 7)


def test_fewer_aggregators_than_nodes_were_asked_for_and_are_kept(tmp_path: Path) -> None:
    found = recorded_access(recording(tmp_path, {"cb_nodes": "1"}))
    assert found.hints["cb_nodes"] == "1"


def test_a_prediction_needs_nothing_but_the_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nodes, operation and buffer are those of the run, and options count more."""
    path = recording(tmp_path)
    own = predicted(capsys, "--table", path)
    assert [node["host"] for node in own["nodes"]] == ["n0", "n1"]
    assert (own["ranks"], own["rounds"], own["aggregators"]) == (4, 2, [0, 2])
    assert sum(node["in_bytes"] for node in own["nodes"]) == 128
    other = predicted(capsys, "--table", path, "--hints", "cb_buffer_size=1MiB", "--nodes", "1,1,2")
    assert (other["rounds"], other["aggregators"]) == (1, [0, 1, 2])
    rows = predicted(capsys, "--table", path, "--pattern", "0", "--op", "write")
    assert sum(node["in_bytes"] for node in rows["nodes"]) == 0, "each node writes its own part"


def test_a_file_of_some_ranks_has_its_aggregators_among_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recording(tmp_path, ranks="1-3")
    assert predicted(capsys, "--table", path)["aggregators"] == [1, 2]


def test_a_lustre_file_is_predicted_with_its_stripes(tmp_path: Path) -> None:
    hints = {
        "romio_filesystem_type": "LUSTRE: x",
        "striping_unit": "65536",
        "striping_factor": "4",
        "romio_lustre_co_ratio": "2",
    }
    found = recorded_access(recording(tmp_path, hints))
    call = call_of(found.accesses, found.hints, reading=True)
    assert (call.driver, call.stripe, call.targets, call.ratio) == ("lustre", 65536, 4, 2)


def test_a_table_of_numbers_has_no_patterns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    path = tmp_path / "table"
    path.write_text("0,0,8\n")
    words = ["--table", str(path), "--pattern", "0", "--nodes", "1", "--model", str(TACHYON)]
    assert main(["predict", "collective-io", *words]) == 2
    golden(capsys.readouterr().err)
