"""What there is to say about a run, as data: sentences, tables, figures, warnings.

A page is made once, by the module of the kind of a run in `kinds` of its subject. The terminal and
the report only render it: neither adds a word or a number. All texts are plain text; those that
come from a file (host names, notes) are escaped by whoever renders them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal

from isochrone.runfile.run import Run
from isochrone.views.view import Options

Tone = Literal["", "strong", "faint", "good", "bad"]
"""How a text is meant: ``good`` is all right, ``bad`` is slow or wrong."""

Medium = Literal["", "terminal", "report"]
"""Where something is said; empty: everywhere."""


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
    stress
        Parts of the text that matter most, in their order: a report shows them in bold.
    only
        Where it is said.
    """

    text: str
    tone: Tone = ""
    about: str = ""
    stress: tuple[str, ...] = ()
    only: Medium = ""


@dataclass(frozen=True)
class Listing:
    """Statements of one sort below a title; ``more`` says what was left out."""

    title: str
    items: tuple[Sentence, ...]
    tone: Tone = ""
    more: str = ""
    only: Medium = ""


@dataclass(frozen=True)
class Warnings:
    """What makes the numbers doubtful, one sentence each."""

    items: tuple[str, ...]
    only: ClassVar[Medium] = ""


@dataclass(frozen=True)
class Column:
    """A column of a table; numbers stand ``right``."""

    title: str
    right: bool = False
    only: Medium = ""


@dataclass(frozen=True)
class Row:
    """Cells of a table; the tone is that of the whole row."""

    cells: tuple[str, ...]
    tone: Tone = ""


@dataclass(frozen=True)
class Table:
    """Columns and rows below a title.

    Attributes
    ----------
    title
        What the table holds.
    columns, rows
        The first cell of a row names it.
    more
        What was left out.
    fold
        If given, a report folds a long table away below these words.
    only
        Where it is shown.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    more: str = ""
    fold: str = ""
    only: Medium = ""

    def on(self, medium: Medium) -> Table:
        """Return the table with only the columns that are shown there."""
        shown = [k for k, column in enumerate(self.columns) if said(column, medium)]
        columns = tuple(self.columns[k] for k in shown)
        rows = tuple(Row(tuple(row.cells[k] for k in shown), row.tone) for row in self.rows)
        return replace(self, columns=columns, rows=rows)


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
    only: ClassVar[Medium] = "report"


@dataclass(frozen=True)
class Picture:
    """A figure of `isochrone.views`, for the report only.

    Attributes
    ----------
    view
        Name of the figure.
    title, caption
        What it shows, and how it is read.
    runs, options
        What is drawn.
    alt
        What somebody is told who cannot see it; the title if empty.
    """

    view: str
    title: str
    caption: str
    runs: tuple[Run, ...]
    options: Options = field(default_factory=Options)
    alt: str = ""
    only: ClassVar[Medium] = "report"


MIN_RANKS: Final = 3
"""Of two ranks there is one time, and neither a map, a surface nor a hierarchy."""


@dataclass(frozen=True)
class LiveMap:
    """A latency map to look into. For the report only, whose script makes it from its data.

    Attributes
    ----------
    picture
        What is shown without a script, and printed.
    data
        Returns the data as JSON of a map with this title; None if there is nothing to look into, or
        too much.
    """

    picture: Picture
    data: Callable[[str], dict[str, Any] | None]
    only: ClassVar[Medium] = "report"


@dataclass(frozen=True)
class Later:
    """Blocks that take a while to make, such as a fitted formula. For the report only."""

    make: Callable[[], Sequence[Block]]
    only: ClassVar[Medium] = "report"


@dataclass(frozen=True)
class Facts:
    """Names and values, such as the options of a measurement; a report folds them below a title."""

    title: str
    items: tuple[tuple[str, str], ...]
    only: Medium = ""


@dataclass(frozen=True)
class Code:
    """Pseudo-code, line by line, with the parts that matter most. For the report only."""

    text: str
    stress: tuple[str, ...] = ()
    only: ClassVar[Medium] = "report"


Block = Sentence | Listing | Warnings | Table | Tiles | Picture | LiveMap | Later | Facts | Code


@dataclass(frozen=True)
class Section:
    """Blocks below a heading.

    Attributes
    ----------
    title
        Heading in the report, which puts sections of the same title together; a terminal has none
        and keeps their order.
    blocks
        What is said.
    only
        Where it is said: pictures, how it was measured and long lists are for the report.
    alone
        Whether it is left out of a report that shows several runs of this kind together.
    """

    title: str
    blocks: tuple[Block, ...]
    only: Medium = ""
    alone: bool = False


def said(part: Section | Block | Column, medium: Medium) -> bool:
    """Whether a part of a page is for the terminal, or for the report."""
    return part.only in ("", medium)


@dataclass(frozen=True)
class Page:
    """All there is to say about one run.

    Attributes
    ----------
    title
        What was measured, and where.
    line
        The same in keywords for a terminal: experiment, origin, ranks, MPI library.
    facts
        Date and MPI library, for the line below the title of a report.
    partial
        What is to be said if the measurement did not come to its end; else None.
    sections
        In the order in which they are read; the first is the summary.
    """

    title: str
    line: tuple[str, ...]
    facts: tuple[str, ...]
    partial: Sentence | None
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Asked:
    """What the user asks for besides a run.

    Attributes
    ----------
    nbytes
        Message size; None: what is usual for the kind.
    least
        Part of the time that something must add to be called slow; None: the usual one.
    models
        What emulated applications are predicted by.
    """

    nbytes: int | None = None
    least: float | None = None
    models: tuple[Any, ...] = ()


AS_USUAL: Final = Asked()
"""Nothing is asked for."""


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
        What is said of a run, its warnings included.
    document
        The same for ``show --json``: an object whose keys follow from its class.
    together
        Sections about several runs of this kind in one report; often none.
    place
        Where it stands in a report of several kinds, from the machine itself (0) to programs.
    """

    title: Callable[[Run], str]
    holds: Callable[[Run], bool]
    sections: Callable[[Run, Asked], Sequence[Section]]
    document: Callable[[Run, Asked], Any]
    together: Callable[[Sequence[Run]], Sequence[Section]] = lambda _: ()
    place: int = 99
