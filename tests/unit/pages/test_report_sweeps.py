"""What the report says of sweeps."""

from __future__ import annotations

import html
import re
from pathlib import Path

from isochrone.pages.html import sweeps as report_sweeps
from isochrone.pages.html.build import write_report
from isochrone.runfile.run import Run
from made_up.latency_maps import block, latency_map
from made_up.sweeps import bisection, collective, line, point_to_point, table_of


def report(folder: Path, *runs: Run) -> str:
    write_report(list(runs), folder / "report.html")
    return (folder / "report.html").read_text("utf-8")


def words(text: str) -> str:
    body = re.sub(r"<style>.*?</style>", "", text, flags=re.S)
    body = re.sub(r"</?(strong|code|b)>", "", body)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_a_sweep_is_told_in_words_a_table_and_pictures(tmp_path: Path) -> None:
    run = point_to_point(noise=0.0)
    run.warnings.append({"code": "noisy", "text": "the machine was busy"})
    text = report(tmp_path, run)
    said = words(text)
    for part in (
        "Point-to-point sweep of 4 ranks on 2 nodes",
        "Ranks 0–3 take 1.20 µs with 0 B and 387 µs with 4 MiB",
        "the bandwidth is highest at 4 MiB: 10.9 GB/s",
        "Where the protocol switches",
        "Ranks 0–3 , between 64 KiB and 128 KiB: 5.93 µs less (-26 %), further bytes at 11.0 GB/s "
        "instead of 6.00 GB/s",
        "The times are: half a round trip",
        "the machine was busy",
        "messages in flight",
    ):
        assert part.replace(" ,", ",") in said.replace(" ,", ","), part
    assert text.count("<svg") == 4  # two pictures, the model, and the contours in the head
    assert text.count('class="switch"') == 1


def test_a_line_without_switches_says_nothing_of_them(tmp_path: Path) -> None:
    assert "protocol switches" not in report(tmp_path, point_to_point(line(), noise=0.001))


def test_bystanders_slow_pairs_and_late_ranks_are_named(tmp_path: Path) -> None:
    said = words(report(tmp_path, bisection(9, slow=2), collective(("bcast", "barrier"), late=5)))
    assert "Rank 8 sat out" in said
    assert "4 pairs at once on 9 ranks: pair 2–6 (n0, n2) takes" in said
    assert "bcast on 8 ranks: rank 5 (n1) takes 1." in said
    assert "barrier on 8 ranks takes" in said


def test_runs_of_one_kind_share_pictures_that_say_what_differs(tmp_path: Path) -> None:
    """The seed's figures: 1, 2 and 4 ranks per node; and ranks against time."""
    few = (8, 512, 4096)
    many = [collective(("bcast",), n, sizes=few) for n in (4, 8)]
    text = report(tmp_path, *many, *(point_to_point(per_node=k, sizes=few) for k in (1, 2)))
    assert "2 collective runs together" in text
    assert "Time by number of ranks" in text
    assert "1 rank per node" in text
    alone = report(tmp_path, point_to_point(sizes=few), latency_map(block(2, 4)))
    assert "together" not in alone


def test_very_many_curves_are_not_drawn_over_each_other(tmp_path: Path) -> None:
    run = collective(tuple(f"op{k}" for k in range(60)), sizes=(8, 64), repeats=2)
    text = report(tmp_path, run)
    assert "48 more curves are in the run file" in text
    assert text.count("<svg") == 1
    assert report_sweeps.together([run, run]) == []


def test_hostile_text_is_escaped(tmp_path: Path) -> None:
    run = collective(("bcast",), sizes=(8, 64))
    rows = [{**row, "op": "<script>x"} for row in run.tables["sample"].rows()]
    run.tables["sample"] = table_of(rows)
    run.header["seconds_are"] = "<script>y"
    text = report(tmp_path, run)
    assert "<script" not in text
    assert "&lt;script&gt;x" in text


def test_a_partial_sweep_of_one_point_is_reported(tmp_path: Path) -> None:
    said = words(report(tmp_path, point_to_point(sizes=(64,), repeats=1, complete=False)))
    assert "Partial run." in said
    assert "Ranks 0–3 take" in said
