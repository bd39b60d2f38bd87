"""Emulated applications: how long they take, what slows them down, and what they do."""

import json
from collections.abc import Callable, Iterator, Sequence
from math import isnan
from typing import Any

import msgspec

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
)  # fmt: skip
from isochrone.runfile.header import Option
from isochrone.runfile.run import Run
from isochrone.views.view import Options

MAX_NAMED = 8
MAX_COLUMNS = 6
"""A matrix with more columns is a list."""

MAX_EDGES = 16
MAX_ROWS = 400
LONGEST = 20_000
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
    found = emulation(run)
    doubts: WarningList = [{"code": "doubtful", "text": text} for text in found.doubts()]
    edges: list[Any] = [
        {"app": found.apps[one.app].name, "from": one.source, "to": one.to,
         "messages": one.messages, "bytes": one.bytes} for one in found.edges
    ]  # fmt: skip
    return _Shown(run.options, [*run.warnings, *doubts], found, edges)


def _sections(run: Run, asked: Asked) -> list[Section]:
    found = emulation(run)
    doubts = [{"text": text} for text in found.doubts()]
    warnings = Section("Summary", (warnings_of([*run.warnings, *doubts]),))
    if not found.walls:
        nothing = Sentence("  The run contains no complete launch")
        return [Section("Summary", (nothing,)), warnings]
    alt = "Bars of what each rank does in one iteration, by phase."
    timeline = Picture("timeline", "One iteration, rank by rank", TIMELINE, (run,), alt=alt)
    how = [Sentence(
        "Applications ran alone and concurrently, in random order, in each repeat. "
        "A launch is one observation: wall times are medians over the launches, and a slowdown "
        "is the median of the ratios of the repeats, with a 95 % interval that assumes no "
        "distribution.", stress=("A launch is one observation",),
    )]  # fmt: skip
    if found.repeats == MIN_REPEATS:
        how.append(Sentence(
            f"With {MIN_REPEATS} launches the interval is from the smallest to the largest, and "
            "contains the median with 94 %."
        ))  # fmt: skip
    return [
        Section("Summary", tuple(_about(found))),
        Section("Slowdown", tuple(_slowdown(run, found))),
        Section("One iteration", (timeline,) if run.tables.get("event") else (), only="report"),
        Section("Time", (_walls(found), _iterations(found))),
        Section("Phases", tuple(_phases(run, found, asked))),
        Section("Messages", tuple(_edges(found))),
        warnings,
        Section("How the times were taken", tuple(how), only="report"),
        Section("Description", tuple(_description(run)), only="report"),
    ]


# --- summary --------------------------------------------------------------------------------------


def _about(found: Emulation) -> Iterator[Block]:
    """Say who ran, and what slows what down."""
    clear = found.clear()
    tiles = []  # the largest slowdown, and the wall times alone of the first applications
    for most in clear[:1]:
        name, others = found.names(most)
        note = f"{name} with {others}; 95 % interval {_ends(most.wall)}"
        tiles.append(Tile(f"{format_ratio(most.wall.median)}×", "largest slowdown", note))
    for wall in [one for one in found.walls if not one.beside][: 4 - len(tiles)]:
        app = found.apps[wall.number]
        note = f"{plural(app.iterations, 'iteration')} on {plural(len(app.ranks), 'rank')}"
        tiles.append(Tile(format_seconds(wall.seconds.median), f"{app.name} alone", note))
    yield Tiles(tuple(tiles))
    for app in found.apps:
        background = ", in the background" if app.background else ""
        iterations = plural(app.iterations, "iteration")
        many = "s" if len(app.ranks) != 1 else ""
        yield Sentence(
            f"{iterations} of {', '.join(app.phases)} on rank{many} {ranges(app.ranks)}"
            f"{background}", about=app.name,
        )  # fmt: skip
    if not found.slowdowns:
        return
    if not any(one.wall.known for one in found.slowdowns):
        yield Sentence(
            f"Too few runs of each combination ({found.repeats}) for intervals and slowdowns: "
            f"emulate with --repeats {MIN_REPEATS} or more"
        )
    elif clear:
        items = []
        for one in clear[:MAX_NAMED]:
            name, others = found.names(one)
            ratio = f"{format_ratio(one.wall.median)} times"
            text = f"takes {ratio} as long with {others} ({_ends(one.wall)})"
            items.append(Sentence(text, about=name, stress=(ratio,)))
        more = len(clear) - MAX_NAMED
        left = f"and {plural(more, 'more ratio')} other than 1" if more > 0 else ""
        yield Listing("Slowed down or sped up", tuple(items), more=left)
    elif found.unbound:
        yield Sentence(
            "No slowdown is known: the simulation has no shared cores. Use a platform with as many "
            "hosts and cores as the ranks share"
        )
    else:
        yield Sentence("No significant slowdown: no ratio differs significantly from 1")


def _ends(ratio: Estimate) -> str:
    return f"{format_ratio(ratio.low)} … {format_ratio(ratio.high)}"


# --- slowdown -------------------------------------------------------------------------------------


def _slowdown(run: Run, found: Emulation) -> Iterator[Block]:
    """Yield the matrix as a picture and as tables; nothing without intervals."""
    if not any(one.wall.known for one in found.slowdowns):
        return
    alt = "Slowdowns: rows are applications, columns those that run concurrently."
    yield Picture("slowdown", "Slowdown", MATRIX, (run,), alt=alt)
    yield _ratios(found, "Wall time", lambda one: one.wall)
    if any(one.tail is not None and one.tail.known for one in found.slowdowns):
        yield _ratios(found, "99th percentile of the iterations,", lambda one: one.tail)
    yield Sentence(CHANCE, tone="faint")


def _ratios(found: Emulation, what: str, of: Callable[[Slowdown], Estimate | None]) -> Table:
    """Return ratios as a matrix, or as a list if there are many columns."""
    names = found.columns()
    cells = {(one.app, found.beside(one.beside)): ratio_of(of(one)) for one in found.slowdowns}
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
        f"{what} concurrently with others / alone; 95 % interval; {EVEN}: not significantly "
        "different from 1"
    )
    return _table(title, ("application", *columns), rows, fold)


# --- times ----------------------------------------------------------------------------------------


def _walls(found: Emulation) -> Table:
    """Return wall times, alone and beside others, with the parts of communication."""
    shares = {(one.app, one.beside): one for one in found.shares}
    rows = []
    for one in found.walls:
        share = shares.get((one.app, one.beside))
        parts = ["–"] * 4
        if share:
            of = share.communication
            parts = [f"{100 * part:.0f} %" for part in (of.mean, of.min, of.max)]
            parts.append("–" if isnan(share.delivered) else f"{100 * share.delivered:.1f} %")
        rows.append((
            *found.names(one), str(one.seconds.n), format_seconds(one.seconds.median),
            _interval(one.seconds), *parts, f"{100 * one.overlap:.0f} %" if one.beside else ALONE,
        ))  # fmt: skip
    columns = (
        "application", "with", ">n", ">wall time", ">95 % interval", ">communication", ">min",
        ">max", ">computation", ">overlap",
    )  # fmt: skip
    title = (
        "Wall time of the requested iterations; communication in it: mean, min and max over the "
        "ranks; computation: used / requested"
    )
    return _table(title, columns, rows, f"All {len(rows)} wall times")


def _interval(found: Estimate) -> str:
    return between(found.low, found.high) if found.known else "too few launches"


def _iterations(found: Emulation) -> Table:
    """Return percentiles of single iterations."""
    rows = [
        (
            *found.names(one), f"{one.n:,}",
            *(format_seconds(value) for value in one.percentiles.values()),
            format_seconds(one.max),
        ) for one in found.iterations
    ]  # fmt: skip
    least = ", ".join(f"{count:,} for {name}" for name, count in ENOUGH.items() if count > 100)
    few = any(isnan(value) for one in found.iterations for value in one.percentiles.values())
    return _table(
        "Time of an iteration on its slowest rank, over all launches",
        ("application", "with", ">n", *(f">{name}" for name in ENOUGH), ">max"), rows,
        f"All {len(rows)} rows of percentiles",
        f"–: too few iterations (needed: {least})" if few else "",
    )  # fmt: skip


def _phases(run: Run, found: Emulation, asked: Asked) -> Iterator[Block]:
    """Yield the time of each phase alone."""
    rows = [
        (
            one.app, one.name, format_seconds(one.mean.median), _interval(one.mean),
            format_seconds(one.max),
        ) for one in found.phases if not one.beside
    ]  # fmt: skip
    if not rows:
        return
    if asked.models:
        yield predicted_by(*asked.models)
    alt = "Bars of the time of an iteration in each phase."
    options = Options(models=asked.models)
    yield Picture("phases", "Phases of an iteration", PHASES, (run,), options, alt=alt)
    yield _table(
        "Phases when the application runs alone: time per iteration, including waiting for others",
        ("application", "phase", ">mean of ranks", ">95 % interval", ">slowest rank"), rows,
        f"All {len(rows)} phases",
    )  # fmt: skip


# --- messages -------------------------------------------------------------------------------------


def _edges(found: Emulation) -> Iterator[Block]:
    """Yield who sends how much to whom."""
    for app in found.apps:
        own = [one for one in found.edges if one.app == app.number]
        if own:
            messages, size = sum(one.messages for one in own), sum(one.bytes for one in own)
            yield Sentence(
                f"{plural(messages, 'message')}, {format_amount(size)} between "
                f"{plural(len(own), 'pair')} of ranks in {plural(app.iterations, 'iteration')}",
                about=f"messages of {app.name}", tone="faint",
            )  # fmt: skip
    rows = tuple(
        Row((
            found.apps[one.app].name, str(one.source), str(one.to), f"{one.messages:,}",
            format_amount(one.bytes),
            format_amount(round(one.bytes / one.messages)) if one.messages else "–",
        )) for one in sorted(found.edges, key=lambda one: -one.bytes)[:MAX_EDGES]
    )  # fmt: skip
    columns = columns_of(
        "application", ">from rank", ">to rank", ">messages", ">bytes", ">bytes a message"
    )
    left = len(found.edges) - len(rows)
    more = f"and {plural(left, 'more pair')} with fewer bytes (--json lists all)" if left else ""
    title = "Pairs of ranks with most bytes; ranks of the application"
    fold = f"{plural(len(rows), 'pair')} of ranks"
    if rows:
        yield Table(title, columns, rows, more, fold=fold, only="report")


def _table(
    title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]], fold: str, more: str = ""
) -> Table:
    """Return a table of the first rows, which says what is left out, or ``more``."""
    left = len(rows) - MAX_ROWS
    if left > 0:
        more = f"and {left:,} more (--json lists all)"
    shown = tuple(map(Row, rows[:MAX_ROWS]))
    return Table(title, columns_of(*columns), shown, more, fold=fold)


# --- how ------------------------------------------------------------------------------------------


def _description(run: Run) -> list[Code]:
    """Return the description as it was written, as far as the run holds one that can be read."""
    try:
        document = json.loads(run.notes.get(DESCRIPTION, ""))
        return [Code(plain_data.text(document)[:LONGEST])]
    except (ValueError, RecursionError):
        return []


PAGE = Kind(
    title=_title, holds=lambda run: run.kind == KIND, sections=_sections, document=_document,
    place=6,
)  # fmt: skip
