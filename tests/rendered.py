"""Pages as a user sees them: printed by `isochrone show`, as JSON, and as a report."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any, TypeVar

import pytest

from isochrone.cli.main import main
from isochrone.pages.common import page_of
from isochrone.pages.html.render import write_report
from isochrone.pages.page import Section
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run

B = TypeVar("B")
"""A sort of block."""


def show(capsys: pytest.CaptureFixture[str], folder: Path, run: Run, *options: str) -> str:
    """Return what is printed."""
    runs.write(run, folder / "a.jsonl", overwrite=True)
    assert main(["show", str(folder / "a.jsonl"), *options]) == 0
    return capsys.readouterr().out


def row(text: str, *cells: str) -> str:
    """Return the one line of a table that begins with these cells."""
    lines = [line for line in text.splitlines() if line.split()[: len(cells)] == list(cells)]
    assert len(lines) == 1, (cells, lines)
    return lines[0]


def document(capsys: pytest.CaptureFixture[str], folder: Path, run: Run) -> dict[str, Any]:
    """Return what a script gets."""
    found = json.loads(show(capsys, folder, run, "--json"))
    assert isinstance(found, dict)
    return found


def report(folder: Path, *made: Run) -> str:
    """Return the report of runs, as HTML."""
    write_report(list(made), folder / "report.html")
    return (folder / "report.html").read_text("utf-8")


def words(text: str) -> str:
    """Return the words of a report, without its pictures and its script."""
    text = re.sub(r"<(svg|style|script)\b.*?</\1>", " ", text, flags=re.DOTALL)
    text = re.sub(r"</?(strong|code|b)\b[^>]*>", "", text)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def sections(run: Run, title: str = "") -> list[Section]:
    """Return the sections of a page, or those of one title."""
    return [one for one in page_of(run).sections if title in ("", one.title)]


def blocks(run: Run, kind: type[B], title: str = "") -> list[B]:
    """Return the blocks of one sort of a page, or of its sections of one title."""
    found = [block for section in sections(run, title) for block in section.blocks]
    return [block for block in found if isinstance(block, kind)]
