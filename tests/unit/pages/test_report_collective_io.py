"""What a report says of hot spots and of collective I/O."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from isochrone.pages.html.build import write_report
from isochrone.runfile.run import Run
from made_up.hotspots import hotspot, tile_io
from made_up.sweeps import table_of


def report(folder: Path, *runs: Run) -> str:
    write_report(runs, folder / "report.html")
    return (folder / "report.html").read_text("utf-8")


def said(text: str) -> str:
    """Return the words of the page, without its pictures."""
    text = re.sub(r"<(svg|style)\b.*?</\1>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def test_a_hot_spot_says_what_each_message_costs_in_each_regime(tmp_path: Path) -> None:
    """A coefficient is of a pair, two messages: half of it is the cost of one."""
    text = report(tmp_path, hotspot(noise=0.0))
    words = said(text)
    for part in (
        "Hot spot on 32 ranks, 8 nodes",
        "intra-first, 4 MiB, pa ≤ 1:",
        "3.05 ms for each message into the node or out of it",
        "1.90 ms for each message within the node",
        "5.70 ms to start with",
        "intra-first, 4 MiB, 2 ≤ pa:",
        "4.20 ms for each message within the node",
        "in regimes, because one formula does not fit all points",
        "R² 1.0000",
        "Hot: rank 0 on n0; partners within the node: ranks 1–3",
        "5 points of the grid could not be reached",
        "The fitted plane",
        "The 63 points that were measured",
    ):
        assert part in words, part
    assert text.count('<figure class="sweep plane">') == 1


def test_directions_that_are_apart_have_costs_of_their_own(tmp_path: Path) -> None:
    words = said(report(tmp_path, hotspot(free=True, intra=3, inter=4, noise=0.0)))
    assert "86.4 ms for each message of the busier direction" in words
    assert "12.4 ms for each message of the other direction" in words


def test_a_cost_within_noise_of_nothing_is_said_to_be_so(tmp_path: Path) -> None:
    run = hotspot(free=True, intra=3, inter=4, noise=0.1, repeats=3)
    assert "cannot be told from nothing" in said(report(tmp_path, run))


@pytest.mark.parametrize(("intra", "inter"), [(3, 0), (0, 3), (1, 0), (1, 1)])
def test_few_points_are_reported_and_why_there_is_no_formula(
    tmp_path: Path, intra: int, inter: int
) -> None:
    run = hotspot(intra=intra, inter=inter, repeats=1, complete=False)
    text = report(tmp_path, run)
    assert "No formula could be fitted: " in said(text)
    assert "Partial run" in said(text)
    assert "The measured points" in said(text)


def test_a_hot_spot_without_any_point_is_reported(tmp_path: Path) -> None:
    run = hotspot(complete=False)
    run.tables, run.ranks = {}, []
    words = said(report(tmp_path, run))
    assert "No formula could be fitted: no point was measured" in words


def test_tiles_are_told_in_words_and_a_table_of_phases(tmp_path: Path) -> None:
    words = said(report(tmp_path, tile_io()))
    for part in (
        "Collective I/O of tiles on 8 ranks, 4 nodes",
        "Writing a file of 24 MiB takes 24.0 ms, which is 1.05 GB/s; besides, 4.00 ms to open it "
        "and 1.00 ms to close it.",
        "The exchange of a write for a file of 24 MiB takes 6.00 ms in 2 rounds",
        "4 aggregators, in the order of the file: ranks 6 (n3), 2 (n1), 0 (n0), 4 (n2)",
        "To write it, the file was accessed by ranks 0 (n0), 2 (n1), 4 (n2), 6 (n3)",
        "The hot spot is n1: 6 messages in and 3 out when writing.",
        "file write open 24 MiB 4.00 ms",
        "cb_config_list n3,n1,*:1",
        "Messages of each node",
    ):
        assert part in words, part


def test_tiles_without_a_sample_or_a_node_are_reported(tmp_path: Path) -> None:
    run = tile_io(complete=False)
    run.tables, run.ranks = {}, []
    words = said(report(tmp_path, run))
    assert "Nothing was timed." in words
    assert "Partial run" in words


def test_texts_of_a_file_are_inert(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    spot, io = hotspot(intra=1, inter=1, repeats=1), tile_io()
    spot.tables["sample"] = table_of([{**r, "order": evil} for r in spot.tables["sample"].rows()])
    for record, key in (("sample", "op"), ("hint", "value"), ("aggregator", "source")):
        io.tables[record] = table_of([{**r, key: evil} for r in io.tables[record].rows()])
    text = report(tmp_path, spot, io)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
