"""The page of a comparison: its verdict is that of the comparison, its picture has its numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.command_line import Command
from beds.golden import Golden
from isochrone import views
from isochrone.base.errors import InputError
from isochrone.changes.check import check
from isochrone.changes.compare import compare
from isochrone.changes.pages.check import check_page
from isochrone.changes.pages.comparison_page import Compared, comparison_page
from isochrone.pages.html.render import write_page
from isochrone.pages.page import LiveMap, Picture, Sentence, Table
from isochrone.runfile.file import write
from isochrone.runfile.run import Run
from made_up.latency_maps import latency_map
from made_up.launches import SIZES, launches

MOST = 300_000
"""Bytes of a page that can be sent to anybody."""


def sides(factor: float, number: int = 5) -> tuple[list[Run], list[Run]]:
    dice = np.random.default_rng(7)
    before, after = (
        launches(number, dice, factor=one, between=0.01, within=0.02) for one in (1.0, factor)
    )
    return list(before), list(after)


@pytest.mark.parametrize(
    ("factor", "number", "tone"), [(1.4, 5, "bad"), (0.6, 5, "good"), (1.0, 1, "bad")]
)
def test_the_page_opens_with_the_verdict(
    factor: float, number: int, tone: str, golden: Golden
) -> None:
    before, after = sides(factor, number)
    page = comparison_page([Compared("", compare(before, after), before, after)])
    first = page.sections[0].blocks[0]
    assert isinstance(first, Sentence)
    assert first.tone == tone
    golden(first.text)
    tables = [block for part in page.sections for block in part.blocks if isinstance(block, Table)]
    assert [len(table.rows) for table in tables][-2:] == [2 * number, len(SIZES)]


def test_the_picture_has_the_ratios_and_intervals_of_the_comparison(tmp_path: Path) -> None:
    before, after = sides(1.4)
    found = compare(before, after)
    page = comparison_page([Compared("", found, before, after)])
    (picture,) = (b for part in page.sections for b in part.blocks if isinstance(b, Picture))
    figure = views.draw(picture.view, picture.runs, picture.options)
    ends = [line.get_ydata() for line in figure.axes[1].get_lines() if len(line.get_xdata()) == 2]
    bars = [(low, high) for low, high in ends if low != high]
    wanted = [(one.difference.low, one.difference.high) for one in found.points]
    assert np.allclose(sorted(bars), sorted(wanted))
    write_page(page, tmp_path / "ab.html")
    assert (tmp_path / "ab.html").stat().st_size < MOST


def test_two_runs_are_drawn_and_three_are_refused() -> None:
    before, after = sides(1.4, 1)
    assert len(views.draw("ratio", [*before, *after]).axes) == 2
    with pytest.raises(InputError):
        views.draw("ratio", [*before, *after, *after])


def test_the_command_writes_the_page_once(isochrone: Command, tmp_path: Path) -> None:
    before, after = sides(1.4, 3)
    for name, runs in (("a", before), ("b", after)):
        for k, run in enumerate(runs, 1):
            write(run, tmp_path / f"{name}-{k}.jsonl")
    words = ("compare", "a.jsonl", "b.jsonl", "-o")
    assert isochrone(*words, "ab.html", cwd=tmp_path).returncode == 0
    assert (tmp_path / "ab.html").read_text("utf-8").count("<svg") == 1
    assert isochrone(*words, "ab.html", cwd=tmp_path).returncode == 2
    assert isochrone(*words, "ab.html", "--force", "--json", cwd=tmp_path).returncode == 0
    assert isochrone(*words, "folder", cwd=tmp_path).returncode == 2


def test_the_page_of_a_check_opens_with_the_verdict_and_has_the_map() -> None:
    """Whoever gets the mail in the morning sees the slow node first, then why."""
    run = latency_map([host for host in "abcdefgh" for _ in range(4)], slow_hosts={"c": 3.0})
    found = check(run)
    page = check_page([found], [])
    first, *_, last = page.sections[0].blocks
    assert isinstance(first, Sentence)
    assert isinstance(last, Sentence)
    assert first.text.startswith(found.verdict)
    assert first.tone == "strong"  # nobody measured it again
    assert ": c " in last.text
    blocks = [block for part in page.sections for block in part.blocks]
    assert sum(isinstance(block, LiveMap) for block in blocks) == 1
