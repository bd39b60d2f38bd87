"""What there is to say about a run, as data: sentences, tables, figures, warnings.

A page is made once, by the module of the run's kind in `isochrone.pages.kinds`. The terminal and
the report only render it: neither adds a word or a number. All texts are plain text; those that
come from a file (host names, notes) are escaped by whoever renders them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from isochrone.runfile.run import Run
from isochrone.views.view import Options

__all__ = [
    "Block", "Code", "Column", "Facts", "Fit", "Kind", "Listing", "Page", "Picture", "Row",
    "Section", "Sentence", "Table", "Tile", "Tiles", "Tone",
]  # fmt: skip

Tone = Literal["", "strong", "faint", "good", "bad"]
"""How a text is meant: ``good`` is all right, ``bad`` is slow or wrong."""


@dataclass(frozen=True)
class Sentence:
    """One statement.

    Attributes
    ----------
    text
        A sentence, or a line.
    tone
        How it is meant.
    about
        What it is about, if that is worth showing in front: ``node n3``.
    """

    text: str
    tone: Tone = ""
    about: str = ""


@dataclass(frozen=True)
class Listing:
    """Statements of one sort below a title; ``more`` says what was left out."""

    title: str
    items: tuple[Sentence, ...]
    tone: Tone = ""
    more: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table; numbers stand ``right``."""

    title: str
    right: bool = False


@dataclass(frozen=True)
class Row:
    """Cells of a table; the tone is that of the whole row."""

    cells: tuple[str, ...]
    tone: Tone = ""


@dataclass(frozen=True)
class Table:
    """Columns and rows below a title; ``more`` says what was left out."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    more: str = ""


@dataclass(frozen=True)
class Tile:
    """A number to be seen first: its value, what it is of, and a note."""

    value: str
    of: str
    note: str


@dataclass(frozen=True)
class Tiles:
    """The numbers to be seen first, side by side. For the report only."""

    items: tuple[Tile, ...]


@dataclass(frozen=True)
class Picture:
    """A figure of `isochrone.views`, its title and how it is read. For the report only."""

    view: str
    title: str
    caption: str
    runs: tuple[Run, ...]
    options: Options = field(default_factory=Options)


@dataclass(frozen=True)
class Fit:
    """A formula for the times of a run. For the report only, which fits it: that takes a while.

    `isochrone.pages.model.blocks` turns it into what there is to say.

    Attributes
    ----------
    run
        Holds the times.
    family
        Family of models, or ``auto`` for the one that predicts best.
    picture
        The times and the formula; the fitted model is added to its options.
    without
        What is drawn if no formula can be fitted.
    """

    run: Run
    family: str
    picture: Picture
    without: Picture | None = None


@dataclass(frozen=True)
class Facts:
    """Names and values, such as the options of a measurement."""

    title: str
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Code:
    """Pseudo-code, line by line."""

    text: str


Block = Sentence | Listing | Table | Tiles | Picture | Fit | Facts | Code


@dataclass(frozen=True)
class Section:
    """Blocks below a heading.

    Attributes
    ----------
    title
        Heading in the report; a terminal has none.
    blocks
        What is said.
    report_only
        Whether a terminal leaves it out: pictures, how it was measured, long lists.
    """

    title: str
    blocks: tuple[Block, ...]
    report_only: bool = False


@dataclass(frozen=True)
class Page:
    """All there is to say about one run.

    Attributes
    ----------
    title
        What was measured, and where.
    facts
        Date, MPI library and the like, for the line below the title.
    complete
        Whether the measurement came to its end.
    sections
        In the order in which they are read; the first is the summary.
    warnings
        What makes the numbers doubtful, one sentence each.
    """

    title: str
    facts: tuple[str, ...]
    complete: bool
    sections: tuple[Section, ...]
    warnings: tuple[str, ...] = ()


def _nothing(runs: Sequence[Run]) -> list[Section]:
    return []


@dataclass(frozen=True)
class Kind:
    """How one kind of result is said.

    Attributes
    ----------
    title
        What was measured, on how many ranks and nodes: ``latency map of 8 ranks on 2 nodes``.
    holds
        Whether a run holds anything of this kind that can be read.
    sections
        What is said of a run; the second argument is the message size the user asked for, or None.
    document
        The same for ``show --json``: the results as JSON.
    warnings
        Those of the run, and those of its reading; texts.
    together
        Sections about several runs of this kind in one report; often none.
    """

    title: Callable[[Run], str]
    holds: Callable[[Run], bool]
    sections: Callable[[Run, int | None], Sequence[Section]]
    document: Callable[[Run, int | None], dict[str, Any]]
    warnings: Callable[[Run, int | None], Sequence[str]]
    together: Callable[[Sequence[Run]], Sequence[Section]] = _nothing
