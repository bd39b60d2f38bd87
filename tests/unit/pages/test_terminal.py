"""Pages on a terminal: nothing is cut, nothing is obeyed, nothing is added."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from beds.golden import Golden
from isochrone.pages.common import page_of
from isochrone.pages.html.render import write_report
from isochrone.pages.page import (
    Block,
    Column,
    Facts,
    Listing,
    Page,
    Row,
    Sentence,
    Table,
    Tile,
    Tiles,
    Warnings,
    said,
)
from isochrone.pages.terminal import print_blocks, render
from isochrone.runfile.run import Run
from made_up.hotspots import hotspot, tile_io
from made_up.latency_maps import block, latency_map
from made_up.sweeps import bisection, point_to_point

EVIL = "\x1b[2J[bold]x"


def printed(capsys: pytest.CaptureFixture[str], *blocks: Block) -> str:
    print_blocks(blocks)
    return capsys.readouterr().out


def test_a_page_begins_with_its_keywords_and_says_that_it_is_partial(
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
) -> None:
    render(page_of(latency_map(block(4, 4), missing=lambda i, j: j > 12)))
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert first == "latency-map · 16 ranks on 4 nodes · MPICH 5.0.2"
    golden(second)


def test_sentences_lists_facts_and_warnings_are_lines(
    capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    text = printed(
        capsys,
        Sentence("All is well.", "good"),
        Listing("Slow", (Sentence("3.0x", about="node n3"),), "bad", "and 3 more"),
        Facts("", (("window", "1"), ("cache", "hot"))),
        Facts("Hints", (("a", "1"), ("b", "2"))),
        Warnings(("the machine was busy",)),
        Sentence("for paper", only="report"),
        Tiles((Tile("1 s", "of it", "all"),)),
    )
    golden(text.splitlines())


def test_a_table_has_its_title_above_and_what_is_left_out_below(
    capsys: pytest.CaptureFixture[str],
) -> None:
    columns = (Column("size"), Column("median", right=True), Column("long", only="report"))
    table = Table("Times", columns, (Row(("64 B", "1 µs", "…")),), "and 7 more sizes")
    lines = [line.rstrip() for line in printed(capsys, table).splitlines()]
    assert lines == ["", "Times:", "size  median", "64 B    1 µs", "… and 7 more sizes"]


def test_numbers_are_never_cut_and_long_texts_are_wrapped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number without its unit is worse than a line that the terminal wraps."""
    monkeypatch.setenv("COLUMNS", "30")
    columns = (Column("median", right=True), Column("interval", right=True), Column("groups"))
    words = " | ".join(["0-3"] * 40)
    text = printed(capsys, Table("", columns, (Row(("1.23 µs", "1.20 … 1.24 µs", words)),)))
    assert "1.23 µs  1.20 … 1.24 µs  0-3 | 0-3" in text
    assert text.count("0-3") == 40
    assert max(map(len, text.splitlines())) <= 80


def test_texts_of_a_file_reach_the_terminal_as_they_are_but_for_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    evil = Sentence(EVIL, about=EVIL)
    render(Page(EVIL, (EVIL,), (EVIL,), Sentence(EVIL), ()))
    text = capsys.readouterr().out + printed(
        capsys,
        evil,
        Listing(EVIL, (evil,), more=EVIL),
        Warnings((EVIL,)),
        Facts(EVIL, ((EVIL, EVIL),)),
        Facts("", ((EVIL, EVIL),)),
        Table(EVIL, (Column(EVIL),), (Row((EVIL,)),), EVIL),
    )
    assert "\x1b" not in text
    assert text.count("�[2J[bold]x") == 18


def _statements(blocks: list[Block]) -> list[str]:
    """List every text that both a terminal and a report must show."""
    found: list[str] = []
    for part in blocks:
        match part:
            case Sentence():
                found += [part.about, part.text]
            case Listing():
                found += [part.title, part.more, *_statements(list(part.items))]
            case Warnings():
                found += part.items
            case Facts():
                found += [text for fact in part.items for text in fact]
            case Table():
                table = part.on("terminal").on("report")
                found += [table.title, table.more, *(column.title for column in table.columns)]
                found += [cell for row in table.rows for cell in row.cells]
    return [" ".join(text.split()) for text in found if text.strip()]


@pytest.mark.slow
@pytest.mark.few(3)
@pytest.mark.parametrize(
    "run",
    [
        latency_map(block(8, 4), noise=0.0, slow_hosts={"n3": 2.4}, nbytes=(64, 1024)),
        latency_map(block(4, 4), missing=lambda i, j: j > 12),
        point_to_point(noise=0.001),
        bisection(9, slow=2),
        hotspot(intra=2, inter=2),
        tile_io(),
    ],
    ids=["slow-node", "partial", "sweep", "bisection", "hot-spot", "tiles"],
)
def test_terminal_and_report_say_the_same(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is meant for both is in both, word for word; only the first letter may be a capital."""
    page = page_of(run)
    render(page)
    terminal = capsys.readouterr().out
    write_report([run], tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text("utf-8")
    report = re.sub(r"<(svg|style|script)\b.*?</\1>", "", report, flags=re.DOTALL)
    report = re.sub(r"</?strong[^>]*>", "", report)
    report = html.unescape(re.sub(r"<[^>]*>", " ", report))
    shown = [
        part
        for section in page.sections
        for part in section.blocks
        if all(said(one, medium) for one in (section, part) for medium in ("terminal", "report"))
    ]
    statements = _statements(shown)
    assert len(statements) > 10
    for text in statements:
        assert text in " ".join(terminal.split())
        assert text.casefold() in " ".join(report.split()).casefold()
