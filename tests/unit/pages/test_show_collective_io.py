"""What `isochrone show` says of hot spots and of collective I/O."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isochrone.cli.main import main
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from made_up.hotspots import hot_spot, saturating, tile_io
from made_up.sweeps import table_of


def show(capsys: pytest.CaptureFixture[str], folder: Path, run: Run, *options: str) -> str:
    runs.write(run, folder / "a.jsonl", overwrite=True)
    assert main(["show", str(folder / "a.jsonl"), *options]) == 0
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], folder: Path, run: Run) -> dict[str, Any]:
    found = json.loads(show(capsys, folder, run, "--json"))
    assert isinstance(found, dict)
    return found


def row(text: str, *cells: str) -> str:
    lines = [line for line in text.splitlines() if line.split()[: len(cells)] == list(cells)]
    assert len(lines) == 1, (cells, lines)
    return lines[0]


def test_a_hot_spot_is_a_table_over_its_grid(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Messages, pairs, order, number of hot processes, repetitions, median, interval, min."""
    text = show(capsys, tmp_path, hot_spot(intra=3, noise=0.0))
    for title in ("intra", "in", "out", "pa", "pe", "order", "hot", "n", "median", "min"):
        assert title in text
    found = row(text, "4", "5", "5", "2", "5", "intra-first", "1", "4", "MiB", "7")
    assert "48.9 ms" in found
    assert saturating(2, 5, 5) == pytest.approx(0.0489)


def test_a_hot_spot_names_its_partners_and_sums_up_what_was_not_reached(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, hot_spot(intra=3))
    assert "Hot: rank 0 (n0)" in text
    assert "partners inside: ranks 1-3 (n0)" in text
    assert "partners on other nodes: ranks 4,8,12,16,20,24,28 (n1, n2" in text
    (line,) = [line for line in text.splitlines() if line.startswith("Not reachable")]
    assert "5 points of the grid" in line
    assert "3 partners of each hot process (3); too few nodes (2)" in line


def test_the_document_of_a_hot_spot_has_the_keys_of_the_docs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = document(capsys, tmp_path, hot_spot(("intra-first", "inter-first"), intra=2, inter=2))
    assert found["experiment"] == "hotspot"
    assert found["complete"] is True
    assert len(found["points"]) == 2 * 8
    keys = {"intra", "in", "out", "pa", "pe", "order", "hot", "bytes", "n", "median", "low",
            "high", "min", "mean", "max"}  # fmt: skip
    assert all(set(point) == keys for point in found["points"])
    assert found["roles"][1] == {
        "rank": 1, "role": "intra", "group": 0, "index": 0, "host": "n0"
    }  # fmt: skip
    assert sum(one["points"] for one in found["unreachable"]) == 5


def test_repetitions_of_a_point_become_its_median(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = hot_spot(intra=1, inter=1, noise=0.2, repeats=9)
    table = run.tables["sample"]
    mine = (table["intra"] == 2) & (table["in"] == 1)
    (point,) = [
        p for p in document(capsys, tmp_path, run)["points"] if (p["pa"], p["pe"]) == (1, 1)
    ]
    assert point["n"] == 9
    assert point["median"] == pytest.approx(float(np.median(table["seconds"][mine])))
    assert point["low"] < point["median"] < point["high"]


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
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, tile_io())
    assert "(romio_aggregator_list): 6 (n3), 2 (n1), 0 (n0), 4 (n2)" in text
    assert "accessed the file to write: 0 (n0), 2 (n1), 4 (n2), 6 (n3)" in text
    assert "cb_config_list=n3,n1,*:1" in text
    assert "hot" in row(text, "n1", "4", "6", "3")
    assert "hot" not in row(text, "n0", "4", "2", "3")


def test_the_document_of_tiles_has_the_keys_of_the_docs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = document(capsys, tmp_path, tile_io())
    assert [(p["phase"], p["op"]) for p in found["phases"]] == [
        ("file", "write"), ("file", "read"), ("exchange", "write"), ("exchange", "read"),
    ]  # fmt: skip
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


def test_runs_that_were_cut_show_what_they_hold(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without a sample, without hosts: no traceback, and what is missing is said."""
    spot, io = hot_spot(complete=False), tile_io(complete=False)
    for run in (spot, io):
        del run.tables["sample"]
        run.ranks = []
    text = show(capsys, tmp_path, spot)
    assert "partial run" in text
    assert "no point was measured" in text
    assert document(capsys, tmp_path, spot)["points"] == []
    text = show(capsys, tmp_path, io)
    assert "nothing was timed" in text
    assert "hot" in row(text, "1", "4", "6", "3")
    assert document(capsys, tmp_path, io)["phases"] == []


def test_nodes_without_messages_to_others_have_no_hot_spot(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tile_io()
    run.tables["node"] = table_of([{"node": 0, "intra": 8, "in": 0, "out": 0}])
    assert [one["hot"] for one in document(capsys, tmp_path, run)["nodes"]] == [False]


@pytest.mark.parametrize(
    ("record", "key", "value", "words"),
    [
        ("sample", "intra", 1.5, "'intra' is no whole number"),
        ("sample", "in", -1, "'in' is no whole number"),
        ("sample", "seconds", "x", "'seconds' is no number"),
        ("sample", "seconds", -1.0, "'seconds' is no time"),
        ("sample", "order", 3, "without 'order'"),
        ("role", "rank", None, "without 'rank'"),
        ("unreachable", "why", 7, "without 'why'"),
    ],
)
def test_a_damaged_hot_spot_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, record: str, key: str, value: object,
    words: str,
) -> None:  # fmt: skip
    run = hot_spot(intra=1, inter=1, repeats=1)
    rows = [{**one, key: value} for one in run.tables[record].rows()]
    run.tables[record] = table_of(rows)
    runs.write(run, tmp_path / "a.jsonl")
    assert main(["show", str(tmp_path / "a.jsonl")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [("sample", "seconds", None), ("sample", "bytes", "x"), ("sample", "phase", 1),
     ("aggregator", "rank", -1), ("node", "in", 0.5), ("hint", "value", 5)],
)  # fmt: skip
def test_damaged_tiles_are_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, record: str, key: str, value: object
) -> None:
    run = tile_io()
    run.tables[record] = table_of([{**one, key: value} for one in run.tables[record].rows()])
    runs.write(run, tmp_path / "a.jsonl")
    assert main(["show", str(tmp_path / "a.jsonl")]) == 2
    error = capsys.readouterr().err
    assert f"a '{record}' record" in error
    assert error.count("\n") == 1


def test_one_size_may_be_chosen_and_a_wrong_one_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "intra-first" in show(capsys, tmp_path, hot_spot(), "--bytes", "4MiB")
    assert main(["show", str(tmp_path / "a.jsonl"), "--bytes", "1KiB"]) == 2
    assert "there are: 4194304" in capsys.readouterr().err
    show(capsys, tmp_path, tile_io(), "--bytes", "24MiB")
    assert main(["show", str(tmp_path / "a.jsonl"), "--bytes", "1KiB"]) == 2
    assert "there are: 25165824" in capsys.readouterr().err


def test_hostile_names_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    evil = "\x1b[2J[bold]x"
    spot = hot_spot(intra=1, inter=1, repeats=1)
    spot.tables["sample"] = table_of([{**r, "order": evil} for r in spot.tables["sample"].rows()])
    spot.tables["unreachable"] = table_of([{"intra": 1, "inter": 1, "why": evil}])
    io = tile_io()
    for record, key in (("sample", "op"), ("hint", "value"), ("aggregator", "source")):
        io.tables[record] = table_of([{**r, key: evil} for r in io.tables[record].rows()])
    for run in (spot, io):
        for rank in range(run.size):
            object.__setattr__(run.ranks[rank], "host", evil)
        run.warnings.append({"code": "x", "text": evil})
        text = show(capsys, tmp_path, run)
        assert "\x1b[2J" not in text
        assert "[bold]x" in text
