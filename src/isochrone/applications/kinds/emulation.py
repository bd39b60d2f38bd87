"""Emulated applications: how long they take, what slows them down, and what they do."""

import json
from collections.abc import Callable, Iterator, Sequence
from math import isnan
from typing import Any

import msgspec
from msgspec.structs import replace

from isochrone.applications.description import plain_data
from isochrone.applications.emulation.recorded import DESCRIPTION, KIND
from isochrone.applications.emulation.summary import Emulation, emulation
from isochrone.applications.emulation.timing import ENOUGH, MIN_REPEATS, Slowdown
from isochrone.base.documents import Inline, WarningList
from isochrone.base.inference import Estimate
from isochrone.base.units import format_amount, format_ratio, format_seconds
from isochrone.models.pages.model import predicted_by
from isochrone.pages.page import (
    Asked,
    Block,
    Code,
    Kind,
    Listing,
    Picture,
    Row,
    Section,
    Sentence,
    Table,
    Tile,
    Tiles,
    columns_of,
)
from isochrone.pages.words import (
    EVEN,
    between,
    on_ranks,
    plural,
    ranges,
    ratio_of,
    warnings_of,
)
from isochrone.runfile.header import Option
from isochrone.runfile.run import Run
from isochrone.views.view import Options

MAX_LISTED_RANKS = 8
MAX_COLUMNS = 6
"""A matrix with more columns is a list."""

MAX_EDGES = 16
MAX_EMULATION_ROWS = 400
MAX_SHOWN_DESCRIPTION = 20_000
"""Characters of a description that are shown."""

ALONE = "–"
CHANCE = "Where the true ratio is 1, one interval in 20 does not contain 1, by chance"

TIMELINE = (
    "The middle iteration of each application. A line is a rank. Computation is slate. "
    "Communication, including waiting for others, has the colour of its phase."
)
MATRIX = (
    "How many times as long the application of the row takes while that of the column runs, with "
    "the 95 % interval over the launches. Grey: not significantly different from 1."
)
PHASES = (
    "Time of an iteration in each phase, including waiting for others: mean over the ranks. "
    "The line at the end of a bar is the 95 % interval over the launches."
)


def _title(run: Run) -> str:
    table = run.tables.get("app")
    count = plural(len(table), "application") if table is not None else "applications"
    return f"{count} {on_ranks(run)}"


class _Edge:
    app: str
    from_: int
    to: int
    messages: int
    bytes: int


class _Shown(msgspec.Struct):
    """Emulated applications: times, slowdowns, phases, of each alone and with others."""

    options: dict[str, Option]
    warnings: WarningList
    found: Inline[Emulation]
    edges: list[_Edge]


def _document(run: Run, asked: Asked) -> _Shown:
    summary = emulation(run)
    doubts: WarningList = [{"code": "doubtful", "text": text} for text in summary.doubts()]
    edges: list[Any] = [
        {
            "app": summary.apps[edge.app].name,
            "from": edge.source,
            "to": edge.to,
            "messages": edge.messages,
            "bytes": edge.bytes,
        }
        for edge in summary.edges
    ]
    return _Shown(run.options, [*run.warnings, *doubts], summary, edges)


def _sections(run: Run, asked: Asked) -> list[Section]:
    summary = emulation(run)
    doubts = [{"text": text} for text in summary.doubts()]
    warnings = Section("Summary", (warnings_of([*run.warnings, *doubts]),))
    if not summary.walls:
        nothing = Sentence("  The run contains no complete launch")
        return [Section("Summary", (nothing,)), warnings]
    alt = "Bars of what each rank does in one iteration, by phase."
    timeline = Picture("timeline", "One iteration, rank by rank", TIMELINE, (run,), alt=alt)
    how = [
        Sentence(
            "Applications ran alone and concurrently, in random order, in each repeat. "
            "A launch is one observation: wall times are medians over the launches, and a slowdown "
            "is the median of the ratios of the repeats, with a 95 % interval that assumes no "
            "distribution.",
            stress=("A launch is one observation",),
        )
    ]
    if summary.repeats == MIN_REPEATS:
        how.append(
            Sentence(
                f"With {MIN_REPEATS} launches the interval is from the smallest to the largest, "
                "and contains the median with 94 %."
            )
        )
    return [
        Section("Summary", tuple(_about(summary))),
        Section("Slowdown", tuple(_slowdown(run, summary))),
        Section("One iteration", (timeline,) if run.tables.get("event") else (), only="report"),
        Section("Time", (_walls(summary), _iterations(summary))),
        Section("Phases", tuple(_phases(run, summary, asked))),
        Section("Messages", tuple(_edges(summary))),
        warnings,
        Section("How the times were taken", tuple(how), only="report"),
        Section("Description", tuple(_description(run)), only="report"),
    ]


# --- summary --------------------------------------------------------------------------------------


def _about(summary: Emulation) -> Iterator[Block]:
    """Say who ran, and what slows what down."""
    clear = summary.clear()
    tiles = []  # the largest slowdown, and the wall times alone of the first applications
    for largest in clear[:1]:
        name, others = summary.names(largest)
        note = f"{name} with {others}; 95 % interval {_ends(largest.wall)}"
        tiles.append(Tile(f"{format_ratio(largest.wall.median)}×", "largest slowdown", note))
    for wall in [wall for wall in summary.walls if not wall.beside][: 4 - len(tiles)]:
        app = summary.apps[wall.number]
        note = f"{plural(app.iterations, 'iteration')} on {plural(len(app.ranks), 'rank')}"
        tiles.append(Tile(format_seconds(wall.seconds.median), f"{app.name} alone", note))
    yield Tiles(tuple(tiles))
    for app in summary.apps:
        background = ", in the background" if app.background else ""
        iterations = plural(app.iterations, "iteration")
        ending = "s" if len(app.ranks) != 1 else ""
        yield Sentence(
            f"{iterations} of {', '.join(app.phases)} on rank{ending} {ranges(app.ranks)}"
            f"{background}",
            about=app.name,
        )
    if not summary.slowdowns:
        return
    if not any(slowdown.wall.known for slowdown in summary.slowdowns):
        yield Sentence(
            f"Too few runs of each combination ({summary.repeats}) for intervals and slowdowns: "
            f"emulate with --repeats {MIN_REPEATS} or more"
        )
    elif clear:
        items = []
        for slowdown in clear[:MAX_LISTED_RANKS]:
            name, others = summary.names(slowdown)
            ratio = f"{format_ratio(slowdown.wall.median)} times"
            text = f"takes {ratio} as long with {others} ({_ends(slowdown.wall)})"
            items.append(Sentence(text, about=name, stress=(ratio,)))
        further = len(clear) - MAX_LISTED_RANKS
        left = f"and {plural(further, 'more ratio')} other than 1" if further > 0 else ""
        yield Listing("Slowed down or sped up", tuple(items), more=left)
    elif summary.unbound:
        yield Sentence(
            "No slowdown is known: the simulation has no shared cores. Use a platform with as many "
            "hosts and cores as the ranks share"
        )
    else:
        yield Sentence("No significant slowdown: no ratio differs significantly from 1")


def _ends(ratio: Estimate) -> str:
    return f"{format_ratio(ratio.low)} … {format_ratio(ratio.high)}"


# --- slowdown -------------------------------------------------------------------------------------


def _slowdown(run: Run, summary: Emulation) -> Iterator[Block]:
    """Yield the matrix as a picture and as tables; nothing without intervals."""
    if not any(slowdown.wall.known for slowdown in summary.slowdowns):
        return
    alt = "Slowdowns: rows are applications, columns those that run concurrently."
    yield Picture("slowdown", "Slowdown", MATRIX, (run,), alt=alt)
    yield _ratios(summary, "Wall time", lambda slowdown: slowdown.wall)
    if any(slowdown.tail is not None and slowdown.tail.known for slowdown in summary.slowdowns):
        yield _ratios(summary, "99th percentile of the iterations,", lambda slowdown: slowdown.tail)
    yield Sentence(CHANCE, tone="faint")


def _ratios(summary: Emulation, quantity: str, of: Callable[[Slowdown], Estimate | None]) -> Table:
    """Return ratios as a matrix, or as a list if there are many columns."""
    names = summary.columns()
    cells = {
        (slowdown.app, summary.beside(slowdown.beside)): ratio_of(of(slowdown))
        for slowdown in summary.slowdowns
    }
    rows: list[tuple[str, ...]]
    fold = ""
    if len(names) > MAX_COLUMNS:
        rows = [(*whose, cell) for whose, cell in cells.items()]
        columns, fold = ["with", ">slowdown"], "All ratios"
    else:
        apps = dict.fromkeys(app for app, _ in cells)
        rows = [(app, *(cells.get((app, name), ALONE) for name in names)) for app in apps]
        columns = [f">with {name}" for name in names]
    title = (
        f"{quantity} concurrently with others / alone; 95 % interval; {EVEN}: not significantly "
        "different from 1"
    )
    return _table(title, ("application", *columns), rows, fold)


# --- times ----------------------------------------------------------------------------------------


def _walls(summary: Emulation) -> Table:
    """Return wall times, alone and beside others, with the parts of communication."""
    shares = {(share.app, share.beside): share for share in summary.shares}
    rows = []
    for row in summary.walls:
        share = shares.get((row.app, row.beside))
        texts = ["–"] * 4
        if share:
            of = share.communication
            texts = [f"{100 * fraction:.0f} %" for fraction in (of.mean, of.min, of.max)]
            texts.append("–" if isnan(share.delivered) else f"{100 * share.delivered:.1f} %")
        rows.append(
            (
                *summary.names(row),
                str(row.seconds.n),
                format_seconds(row.seconds.median),
                _interval(row.seconds),
                *texts,
                f"{100 * row.overlap:.0f} %" if row.beside else ALONE,
            )
        )
    columns = (
        "application",
        "with",
        ">n",
        ">wall time",
        ">95 % interval",
        ">communication",
        ">min",
        ">max",
        ">computation",
        ">overlap",
    )
    title = (
        "Wall time of the requested iterations; communication in it: mean, min and max over the "
        "ranks; computation: used / requested"
    )
    return _table(title, columns, rows, f"All {len(rows)} wall times")


def _interval(estimate: Estimate) -> str:
    return between(estimate.low, estimate.high) if estimate.known else "too few launches"


def _iterations(summary: Emulation) -> Table:
    """Return percentiles of single iterations."""
    rows = [
        (
            *summary.names(row),
            f"{row.n:,}",
            *(format_seconds(value) for value in row.percentiles.values()),
            format_seconds(row.max),
        )
        for row in summary.iterations
    ]
    needed = ", ".join(f"{count:,} for {name}" for name, count in ENOUGH.items() if count > 100)
    incomplete = any(
        isnan(value) for row in summary.iterations for value in row.percentiles.values()
    )
    return _table(
        "Time of an iteration on its slowest rank, over all launches",
        ("application", "with", ">n", *(f">{name}" for name in ENOUGH), ">max"),
        rows,
        f"All {len(rows)} rows of percentiles",
        f"–: too few iterations (needed: {needed})" if incomplete else "",
    )


def _phases(run: Run, summary: Emulation, asked: Asked) -> Iterator[Block]:
    """Yield the time of each phase alone."""
    rows = [
        (
            phase.app,
            phase.name,
            format_seconds(phase.mean.median),
            _interval(phase.mean),
            format_seconds(phase.max),
        )
        for phase in summary.phases
        if not phase.beside
    ]
    if not rows:
        return
    if asked.models:
        yield predicted_by(*asked.models)
    alt = "Bars of the time of an iteration in each phase."
    options = Options(models=asked.models)
    yield Picture("phases", "Phases of an iteration", PHASES, (run,), options, alt=alt)
    yield _table(
        "Phases when the application runs alone: time per iteration, including waiting for others",
        ("application", "phase", ">mean of ranks", ">95 % interval", ">slowest rank"),
        rows,
        f"All {len(rows)} phases",
    )


# --- messages -------------------------------------------------------------------------------------


def _edges(summary: Emulation) -> Iterator[Block]:
    """Yield who sends how much to whom."""
    for app in summary.apps:
        pairs = [edge for edge in summary.edges if edge.app == app.number]
        if pairs:
            messages, size = sum(edge.messages for edge in pairs), sum(edge.bytes for edge in pairs)
            yield Sentence(
                f"{plural(messages, 'message')}, {format_amount(size)} between "
                f"{plural(len(pairs), 'pair')} of ranks in {plural(app.iterations, 'iteration')}",
                about=f"messages of {app.name}",
                tone="faint",
            )
    rows = [
        (
            summary.apps[edge.app].name,
            str(edge.source),
            str(edge.to),
            f"{edge.messages:,}",
            format_amount(edge.bytes),
            format_amount(round(edge.bytes / edge.messages)) if edge.messages else "–",
        )
        for edge in sorted(summary.edges, key=lambda edge: -edge.bytes)[:MAX_EDGES]
    ]
    columns = ("application", ">from rank", ">to rank", ">messages", ">bytes", ">bytes a message")
    left = len(summary.edges) - len(rows)
    further = f"and {plural(left, 'more pair')} with fewer bytes (--json lists all)" if left else ""
    title = "Pairs of ranks with most bytes; ranks of the application"
    if rows:
        table = _table(title, columns, rows, f"{plural(len(rows), 'pair')} of ranks", further)
        yield replace(table, only="report")


def _table(
    title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]], fold: str, more: str = ""
) -> Table:
    """Return a table of the first rows, which says what is left out, or ``more``."""
    left = len(rows) - MAX_EMULATION_ROWS
    if left > 0:
        more = f"and {left:,} more (--json lists all)"
    first_rows = tuple(map(Row, rows[:MAX_EMULATION_ROWS]))
    return Table(title, columns_of(*columns), first_rows, more, fold=fold)


# --- how ------------------------------------------------------------------------------------------


def _description(run: Run) -> list[Code]:
    """Return the description as it was written, as far as the run holds one that can be read."""
    try:
        document = json.loads(run.notes.get(DESCRIPTION, ""))
        return [Code(plain_data.text(document)[:MAX_SHOWN_DESCRIPTION])]
    except (ValueError, RecursionError):
        return []


PAGE = Kind(
    title=_title,
    holds=lambda run: run.kind == KIND,
    sections=_sections,
    document=_document,
    place=6,
)
