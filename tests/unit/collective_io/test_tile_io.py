"""What is said of collective I/O: on a terminal, to a script and in a report."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from beds.golden import Golden
from isochrone.cli.main import main
from isochrone.collective_io.kinds.tile_io import PAGE
from isochrone.pages.page import Picture, Table
from isochrone.runfile import file as runs
from made_up.hotspots import tile_io
from made_up.sweeps import table_of
from rendered import blocks, document, report, row, sections, show, words


def test_tiles_have_a_line_for_each_part_of_each_phase(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, tile_io())
    assert "1.05 GB/s" in row(text, "write", "24", "MiB", "5")  # 24 MiB in 24 ms
    assert "4.00 ms" in row(text, "file", "write", "open")
    assert "exchange in 2 rounds" in row(text, "exchange", "write")
    assert "6.00 ms" in row(text, "exchange", "write")
    assert text.count(" close ") == 2


def test_tiles_name_aggregators_hints_and_the_hot_node(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, tile_io())
    assert "(romio_aggregator_list): 6 (n3), 2 (n1), 0 (n0), 4 (n2)" in text
    golden(text)
    assert "cb_config_list=n3,n1,*:1" in text
    assert "hot" in row(text, "n1", "4", "6", "3")
    assert "hot" not in row(text, "n0", "4", "2", "3")


def test_the_document_of_tiles_has_the_keys_of_the_docs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = document(capsys, tmp_path, tile_io())
    assert [(p["phase"], p["op"]) for p in found["phases"]] == [
        ("file", "write"),
        ("file", "read"),
        ("exchange", "write"),
        ("exchange", "read"),
    ]
    write, exchange = found["phases"][0], found["phases"][2]
    assert set(write["times"]) == {"open", "seconds", "close", "total"}
    assert set(exchange["times"]) == {"seconds"}
    assert exchange["rounds"] == 2
    assert write["bandwidth"] == pytest.approx(write["bytes"] / write["times"]["seconds"]["median"])
    assert write["bandwidth_low"] < write["bandwidth"] < write["bandwidth_high"]
    assert [one["rank"] for one in found["aggregators"]] == [6, 2, 0, 4]
    assert [one["node"] for one in found["nodes"] if one["hot"]] == [1]
    assert found["hints"] == {"cb_nodes": "4", "cb_config_list": "n3,n1,*:1"}
    assert found["file_io"][0]["host"] == "n0"


def test_a_run_that_was_cut_shows_what_it_holds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    """Without a sample, without hosts: no traceback, and what is missing is said."""
    io = tile_io(complete=False)
    del io.tables["sample"]
    io.ranks = []
    text = show(capsys, tmp_path, io)
    golden(text)
    assert "hot" in row(text, "1", "4", "6", "3")
    assert document(capsys, tmp_path, io)["phases"] == []


def test_nodes_without_messages_to_others_have_no_hotspot(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tile_io()
    run.tables["node"] = table_of([{"node": 0, "intra": 8, "in": 0, "out": 0}])
    assert [one["hot"] for one in document(capsys, tmp_path, run)["nodes"]] == [False]


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [
        ("sample", "seconds", None),
        ("sample", "bytes", "x"),
        ("sample", "phase", 1),
        ("aggregator", "rank", -1),
        ("node", "in", 0.5),
        ("hint", "value", 5),
    ],
)
def test_damaged_tiles_are_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, record: str, key: str, value: object
) -> None:
    run = tile_io()
    run.tables[record] = table_of([{**one, key: value} for one in run.tables[record].rows()])
    runs.write(run, tmp_path / "a.jsonl")
    assert main(["show", str(tmp_path / "a.jsonl")]) == 2
    error = capsys.readouterr().err
    assert f"'{record}' record" in error
    assert error.count("\n") == 1


def test_one_size_may_be_chosen_and_a_wrong_one_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    show(capsys, tmp_path, tile_io(), "--bytes", "24MiB")
    assert main(["show", str(tmp_path / "a.jsonl"), "--bytes", "1KiB"]) == 2
    assert "there are: 25165824" in capsys.readouterr().err


def test_hostile_names_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    evil = "\x1b[2J[bold]x"
    io = tile_io()
    for record, key in (("hint", "value"), ("aggregator", "source")):
        io.tables[record] = table_of([{**r, key: evil} for r in io.tables[record].rows()])
    io.ranks = [msgspec.structs.replace(rank, host=evil) for rank in io.ranks]
    io.warnings.append({"code": "x", "text": evil})
    text = show(capsys, tmp_path, io)
    assert "\x1b[2J" not in text
    assert "[bold]x" in text


# --- the report -----------------------------------------------------------------------------------


def test_tiles_are_told_in_words_and_a_table_of_phases(tmp_path: Path) -> None:
    said = words(report(tmp_path, tile_io()))
    for part in (
        "Collective I/O of tiles on 8 ranks, 4 nodes",
        "Writing a file of 24 MiB takes 24.0 ms, which is 1.05 GB/s; in addition, 4.00 ms to open "
        "it and 1.00 ms to close it.",
        "The exchange of a write for a file of 24 MiB takes 6.00 ms in 2 rounds",
        "Aggregators, in the order of the file (romio_aggregator_list): "
        "6 (n3), 2 (n1), 0 (n0), 4 (n2)",
        "Ranks that accessed the file to write: 0 (n0), 2 (n1), 4 (n2), 6 (n3)",
        "The hot spot is n1: 6 messages in and 3 out when writing.",
        "file write open 5 4.00 ms",
        "cb_config_list n3,n1,*:1",
        "Messages of each node",
    ):
        assert part in said, part


def test_tiles_without_a_sample_or_a_node_are_reported(tmp_path: Path, golden: Golden) -> None:
    run = tile_io(complete=False)
    run.tables, run.ranks = {}, []
    said = words(report(tmp_path, run))
    golden(said)
    assert "Partial run" in said


def test_texts_of_a_file_are_inert(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    io = tile_io()
    for record, key in (("hint", "value"), ("aggregator", "source")):
        io.tables[record] = table_of([{**r, key: evil} for r in io.tables[record].rows()])
    text = report(tmp_path, io)
    assert "<script" not in text
    assert "&lt;script&gt;" in text


# --- pages as data --------------------------------------------------------------------------------


def test_messages_of_nodes_before_and_after_are_in_one_picture() -> None:
    """One scale for all; the picture of a run alone is left out then."""
    run = tile_io()
    (own,) = sections(run, "Nodes")
    assert (own.alone, own.only) == (True, "report")
    (together,) = PAGE.together([run, tile_io(file=False)])
    (picture,) = together.blocks
    assert isinstance(picture, Picture)
    assert len(picture.runs) == 2


def test_of_many_nodes_the_hot_one_is_listed(golden: Golden) -> None:
    run = tile_io()
    rows = [{"node": k, "intra": 0, "in": k, "out": k} for k in range(100)]
    run.tables["node"] = table_of(rows)
    table = blocks(run, Table, "Numbers")[-1]
    assert len(table.rows) == 64
    golden(table.more)
    assert table.rows[-1].cells == ("99", "0", "99", "99", "« hot")
    assert table.rows[-1].tone == "bad"
