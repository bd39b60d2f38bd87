"""The page of a run as data: sentences, tables, figures, warnings.

A page is made once, by the module in `kinds` of the run's subject. The terminal and the report only
render it. All texts are plain text; the renderer escapes those that come from a file (host names,
notes).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

from msgspec import field
from msgspec.structs import replace

from isochrone.base.record import Record
from isochrone.runfile.run import Run
from isochrone.views.view import Options

Tone = Literal["", "strong", "faint", "good", "bad"]
"""``good``: no problem; ``bad``: slow or wrong."""

Medium = Literal["", "terminal", "report"]
"""Where something is shown; empty: everywhere."""


class Sentence(Record):
    """One statement.

    Attributes
    ----------
    text
        A sentence, or a line.
    tone
        Good, bad, or a shade of emphasis.
    about
        Its subject, shown in front of it: ``node n3``.
    stress
        Passages that a report shows in bold, in their order.
    only
        Where it is shown.
    """

    text: str
    tone: Tone = ""
    about: str = ""
    stress: tuple[str, ...] = ()
    only: Medium = ""


class Listing(Record):
    """Statements below a title; ``more`` names what was left out."""

    title: str
    items: tuple[Sentence, ...]
    tone: Tone = ""
    more: str = ""
    only: Medium = ""


class Warnings(Record):
    """Data-quality warnings, one sentence each."""

    items: tuple[str, ...]
    only: ClassVar[Medium] = ""


class Column(Record):
    """A column of a table; numbers are aligned ``right``."""

    title: str
    right: bool = False
    only: Medium = ""


def columns_of(*titles: str) -> tuple[Column, ...]:
    """Return columns; a title that begins with ``>`` is of numbers, aligned right."""
    return tuple(Column(title.removeprefix(">"), right=title[:1] == ">") for title in titles)


class Row(Record):
    """Cells of a table; the tone is that of the whole row."""

    cells: tuple[str, ...]
    tone: Tone = ""


class Table(Record):
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
        visible = [k for k, column in enumerate(self.columns) if said(column, medium)]
        columns = tuple(self.columns[k] for k in visible)
        rows = tuple(Row(tuple(row.cells[k] for k in visible), row.tone) for row in self.rows)
        return replace(self, columns=columns, rows=rows)


class Tile(Record):
    """A key figure: its value, what it measures, and a note."""

    value: str
    of: str
    note: str


class Tiles(Record):
    """The key figures, side by side. For the report only."""

    items: tuple[Tile, ...]
    only: ClassVar[Medium] = "report"


class Picture(Record):
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
        Alternative text for screen readers; the title if empty.
    """

    view: str
    title: str
    caption: str
    runs: tuple[Run, ...]
    options: Options = field(default_factory=Options)
    alt: str = ""
    only: ClassVar[Medium] = "report"


MIN_RANKS = 3
"""Two ranks have one time only: no map, surface or hierarchy."""


class LiveMap(Record):
    """An interactive latency map. For the report only, whose script draws it from its data.

    Attributes
    ----------
    picture
        Shown without a script, and printed.
    data
        Returns the data as JSON of a map with this title; None if there is none, or too much.
    """

    picture: Picture
    data: Callable[[str], dict[str, object] | None]
    only: ClassVar[Medium] = "report"


class Later(Record):
    """Blocks that take a while to make, such as a fitted formula. For the report only."""

    make: Callable[[], Sequence[Block]]
    only: ClassVar[Medium] = "report"


class Facts(Record):
    """Names and values, such as the options of a measurement; a report folds them below a title."""

    title: str
    items: tuple[tuple[str, str], ...]
    only: Medium = ""


class Code(Record):
    """Pseudo-code, with the passages to stress. For the report only."""

    text: str
    stress: tuple[str, ...] = ()
    only: ClassVar[Medium] = "report"


Block = Sentence | Listing | Warnings | Table | Tiles | Picture | LiveMap | Later | Facts | Code


class Section(Record):
    """Blocks below a heading.

    Attributes
    ----------
    title
        Heading in the report, which puts sections of the same title together; a terminal has none
        and keeps their order.
    blocks
        Its contents.
    only
        Where it is shown: pictures, methods and long lists are for the report.
    alone
        Whether it is left out of a report that shows several runs of this kind together.
    """

    title: str
    blocks: tuple[Block, ...]
    only: Medium = ""
    alone: bool = False


def said(element: Section | Block | Column, medium: Medium) -> bool:
    """Whether a part of a page is for the terminal, or for the report."""
    return element.only in ("", medium)


class Page(Record):
    """The page of one run.

    Attributes
    ----------
    title
        What was measured, and where.
    line
        The same in keywords for a terminal: experiment, origin, ranks, MPI library.
    facts
        Date and MPI library, for the line below the title of a report.
    partial
        The note on an incomplete measurement; None if complete.
    sections
        In the order in which they are read; the first is the summary.
    """

    title: str
    line: tuple[str, ...]
    facts: tuple[str, ...]
    partial: Sentence | None
    sections: tuple[Section, ...]


class Asked(Record):
    """What the user asks for in addition to a run.

    Attributes
    ----------
    nbytes
        Message size; None: the default of the kind.
    least
        Threshold, a fraction of the time, from which on a component is slow; None: the default.
    models
        Models that predict emulated applications.
    """

    nbytes: int | None = None
    least: float | None = None
    models: tuple[Any, ...] = ()


AS_USUAL = Asked()
"""Nothing is asked for."""


class Kind(Record):
    """How one kind of result is shown.

    Attributes
    ----------
    title
        What was measured, on how many ranks and nodes: ``latency map of 8 ranks on 2 nodes``.
    holds
        Whether a run holds anything of this kind that can be read.
    sections
        The sections of a run, its warnings included.
    document
        The same for ``show --json``: an object whose keys follow from its class.
    together
        Sections about several runs of this kind in one report; often none.
    place
        Its position in a report of several kinds, from the machine itself (0) to programs.
    """

    title: Callable[[Run], str]
    holds: Callable[[Run], bool]
    sections: Callable[[Run, Asked], Sequence[Section]]
    document: Callable[[Run, Asked], object]
    together: Callable[[Sequence[Run]], Sequence[Section]] = lambda _: ()
    place: int = 99
