"""The head of a figure: its title, below it what is drawn, when, by which library, and warnings."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.runfile.run import Run
from isochrone.views.style import CAPTION, FAINT, INK, TITLE, check, shortened, text_width, wrapped
from isochrone.views.view import Figure

_TITLE_AT = 0.14  # inches below the upper edge
_FIRST = 0.40
_HEAD_LINE = 0.165


_MPI = re.compile(
    r"(MPICH|Open MPI|MVAPICH\d?|Intel\(R\) MPI|Cray MPICH|SimGrid|SMPI)\D{0,30}?(\d+(?:\.\d+)*)"
)


class HeadLine(NamedTuple):
    """A line below the title."""

    text: str
    colour: str = FAINT


def head_height(lines: int) -> float:
    """Return the inches that a title with so many lines below it needs."""
    return _FIRST + _HEAD_LINE * lines + 0.04


def write_head(figure: Figure, left: float, title: str, lines: Sequence[HeadLine]) -> None:
    """Write the title and the lines below it; ``left`` in parts of the width."""
    inch = 1 / figure.get_figheight()
    room = (1 - left) * figure.get_figwidth() / text_width(title, TITLE) if title else 1.0
    figure.text(
        left,
        1 - _TITLE_AT * inch,
        title,
        size=TITLE * min(1.0, room),
        weight="bold",
        color=INK,
        va="top",
        parse_math=False,
    )
    for k, line in enumerate(lines):
        down = _FIRST + _HEAD_LINE * k
        figure.text(
            left,
            1 - down * inch,
            line.text,
            size=CAPTION,
            color=line.colour,
            va="top",
            parse_math=False,
        )


def head_lines(notes: Sequence[str], width: float) -> list[HeadLine]:
    """Join notes to lines below a title, of at most this width in inches."""
    return [HeadLine(line) for line in wrapped(notes, width)]


def made(run: Run, width: float) -> list[HeadLine]:
    """Say when a run was made and by which library, and warn of it if it does."""
    notes = [text for text in (*taken([run]), library(run)) if text]
    return [*head_lines(notes, width), *warned([run], width)]


def library(run: Run) -> str:
    """Return the MPI library in two words: ``MPICH 5.0.2``; its own words if it is another one."""
    text = " ".join(run.library.library.split())
    match = _MPI.search(text)
    if match:
        return f"{match[1]} {match[2]}"
    return printable(text, 24)


def taken(runs: Sequence[Run]) -> list[str]:
    """Say when runs were made, in UTC, as far as they say it: a time, or the first and last day."""
    dates = sorted({run.about.started for run in runs} - {""})
    if not dates:
        return []
    if len(dates) == 1:
        return [_moment(dates[0])]
    first, last = _moment(dates[0])[:10], _moment(dates[-1])[:10]
    return [first if first == last else f"{first} to {last}"]


def _moment(started: str) -> str:
    """Write a time of the header; another text as it is."""
    try:
        return f"{datetime.fromisoformat(started):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return printable(started, 24)


def warned(runs: Sequence[Run], width: float) -> list[HeadLine]:
    """Return a line with the first warning of runs, shortened to a width in inches; or none."""
    records = [record for run in runs for record in run.warnings]
    texts = [str(record.get("text") or record.get("code") or "a warning") for record in records]
    texts = list(dict.fromkeys(printable(" ".join(text.split())) for text in texts))
    if not texts:
        return []
    suffix = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return [HeadLine(shortened(f"Warning: {texts[0]}", CAPTION, width, suffix), INK)]


def map_title(run: Run, quantity: str, kind: str = "") -> str:
    """Name what is drawn of a map: ``Median round trip``, ``Levels: median round trip``."""
    title = check(quantity, run.pair_quantity)
    return kind + title[:1].lower() + title[1:] if kind else title


def map_facts(
    run: Run, quantity: str, nbytes: int | None, notes: Sequence[str], width: float
) -> list[HeadLine]:
    """Say of which measurement a map is, on lines of at most this width in inches."""
    size = run.message_sizes()[0] if nbytes is None else nbytes
    hosts = len(set(run.hosts) - {""})
    facts = [] if run.origin == "measured" else [str(run.origin)]
    facts += [
        f"{format_bytes(size)} messages",
        f"{run.size} ranks" + f" on {hosts} host{'s' if hosts > 1 else ''}" * bool(hosts),
    ]
    if run.pair_quantity == "round trip":
        facts.append("round trip" + " (half of it is one way)" * (quantity != "stddev"))
    facts += [] if run.complete else ["partial run"]
    return [*head_lines([*facts, *notes], width), *made(run, width)]
