"""What is said of hot spots: on a terminal, to a script and in a report."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from beds.golden import Golden
from isochrone.cli.main import main
from isochrone.runfile import file as runs
from made_up.hotspots import hotspot, saturating
from made_up.sweeps import table_of
from rendered import document, report, row, show, words


def test_a_hotspot_is_a_table_over_its_grid(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Messages, pairs, order, number of hot processes, repetitions, median, interval, min."""
    text = show(capsys, tmp_path, hotspot(intra=3, noise=0.0))
    for title in ("intra", "in", "out", "pa", "pe", "order", "hot", "n", "median", "min"):
        assert title in text
    found = row(text, "4", "5", "5", "2", "5", "intra-first", "1", "4", "MiB", "7")
    assert "48.9 ms" in found
    assert saturating(2, 5, 5) == pytest.approx(0.0489)


def test_a_hotspot_names_its_partners_and_sums_up_what_was_not_reached(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, hotspot(intra=3))
    assert "Hot: rank 0 (n0)" in text
    assert "partners inside: ranks 1-3 (n0)" in text
    golden(text)
    (line,) = [line for line in text.splitlines() if line.startswith("Not reachable")]
    golden(line)


def test_the_document_of_a_hotspot_has_the_keys_of_the_docs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = document(capsys, tmp_path, hotspot(("intra-first", "inter-first"), intra=2, inter=2))
    assert found["experiment"] == "hotspot"
    assert found["complete"] is True
    assert len(found["points"]) == 2 * 8
    keys = {
        "intra",
        "in",
        "out",
        "pa",
        "pe",
        "order",
        "hot",
        "bytes",
        "shape",
        "busy",
        "n",
        "passes",
        "median",
        "low",
        "high",
        "min",
        "mean",
        "max",
    }
    assert all(set(point) == keys for point in found["points"])
    assert found["roles"][1] == {"rank": 1, "role": "intra", "group": 0, "index": 0, "host": "n0"}
    assert sum(one["points"] for one in found["unreachable"]) == 5


def test_repetitions_of_a_point_become_its_median(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = hotspot(intra=1, inter=1, noise=0.2, repeats=9)
    table = run.tables["sample"]
    mine = (table["intra"] == 2) & (table["in"] == 1)
    (point,) = [
        p for p in document(capsys, tmp_path, run)["points"] if (p["pa"], p["pe"]) == (1, 1)
    ]
    assert point["n"] == 9
    assert point["median"] == pytest.approx(float(np.median(table["seconds"][mine])))
    assert point["low"] < point["median"] < point["high"]


def test_a_run_that_was_cut_shows_what_it_holds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    """Without a sample, without hosts: no traceback, and what is missing is said."""
    spot = hotspot(complete=False)
    del spot.tables["sample"]
    spot.ranks = []
    text = show(capsys, tmp_path, spot)
    assert "partial run" in text
    golden(text)
    assert document(capsys, tmp_path, spot)["points"] == []


@pytest.mark.parametrize(
    ("record", "key", "value", "words"),
    [
        ("sample", "intra", 1.5, "'intra' of a 'sample' record is not a whole number"),
        ("sample", "in", -1, "'in' is out of range"),
        ("sample", "seconds", "x", "'seconds' of a 'sample' record is not a number"),
        ("sample", "seconds", -1.0, "'seconds' is out of range"),
        ("sample", "order", 3, "'order' is not a known word"),
        ("role", "rank", None, "' record has no 'rank'"),
        ("unreachable", "why", 7, "'why' is not a known word"),
    ],
)
def test_a_damaged_hotspot_is_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    record: str,
    key: str,
    value: object,
    words: str,
) -> None:
    run = hotspot(intra=1, inter=1, repeats=1)
    rows = [{**one, key: value} for one in run.tables[record].rows()]
    run.tables[record] = table_of(rows)
    runs.write(run, tmp_path / "a.jsonl")
    assert main(["show", str(tmp_path / "a.jsonl")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_one_size_may_be_chosen_and_a_wrong_one_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "intra-first" in show(capsys, tmp_path, hotspot(), "--bytes", "4MiB")
    assert main(["show", str(tmp_path / "a.jsonl"), "--bytes", "1KiB"]) == 2
    assert "there are: 4194304" in capsys.readouterr().err


def test_hostile_names_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    evil = "\x1b[2J[bold]x"
    spot = hotspot(intra=1, inter=1, repeats=1)
    spot.tables["sample"] = table_of([{**r, "order": evil} for r in spot.tables["sample"].rows()])
    spot.tables["unreachable"] = table_of([{"intra": 1, "inter": 1, "why": evil}])
    spot.ranks = [msgspec.structs.replace(rank, host=evil) for rank in spot.ranks]
    spot.warnings.append({"code": "x", "text": evil})
    text = show(capsys, tmp_path, spot)
    assert "\x1b[2J" not in text
    assert "[bold]x" in text


# --- the report -----------------------------------------------------------------------------------


def test_a_hotspot_says_what_each_message_costs_in_each_segment(tmp_path: Path) -> None:
    """A coefficient is of a pair, two messages: half of it is the cost of one."""
    text = report(tmp_path, hotspot(noise=0.0))
    said = words(text)
    for part in (
        "Hot spot on 32 ranks, 8 nodes",
        "Intra-first, 4 MiB, pa ≤ 1:",
        "3.05 ms for each message into the node or out of it",
        "1.90 ms for each message within the node",
        "5.70 ms as a fixed cost",
        "Intra-first, 4 MiB, 2 ≤ pa:",
        "4.20 ms for each message within the node",
        "Family hotspot, several segments: deviation",
        "R² 1.0000",
        "Hot: rank 0 (n0) · partners inside: ranks 1-3 (n0)",
        "Not reachable: 5 points of the grid",
        "The fitted plane",
        "All 63 points",
    ):
        assert part in said, part
    assert text.count('<figure class="plane">') == 1


def test_directions_that_are_apart_have_costs_of_their_own(tmp_path: Path, golden: Golden) -> None:
    said = words(report(tmp_path, hotspot(free=True, intra=3, inter=4, noise=0.0)))
    golden(said)


def test_a_cost_within_noise_of_nothing_is_said_to_be_so(tmp_path: Path, golden: Golden) -> None:
    run = hotspot(free=True, intra=3, inter=4, noise=0.1, repeats=3)
    golden(words(report(tmp_path, run)))


@pytest.mark.parametrize(("intra", "inter"), [(3, 0), (0, 3), (1, 0), (1, 1)])
def test_few_points_are_reported_and_why_there_is_no_formula(
    tmp_path: Path, intra: int, inter: int, golden: Golden
) -> None:
    run = hotspot(intra=intra, inter=inter, repeats=1, complete=False)
    text = report(tmp_path, run)
    golden(words(text))
    assert "Partial run" in words(text)


def test_a_hotspot_without_any_point_is_reported(tmp_path: Path, golden: Golden) -> None:
    run = hotspot(complete=False)
    run.tables, run.ranks = {}, []
    said = words(report(tmp_path, run))
    golden(said)


def test_texts_of_a_file_are_inert(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    spot = hotspot(intra=1, inter=1, repeats=1)
    spot.tables["sample"] = table_of([{**r, "order": evil} for r in spot.tables["sample"].rows()])
    text = report(tmp_path, spot)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
