"""Report of collective operations on grids: fastest algorithm, phases, disturbances."""

from collections.abc import Iterator, Sequence
from math import inf, isnan, log, log10
from typing import NamedTuple

from isochrone.base.record import Members
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collectives.grid_collectives import NAMES
from isochrone.collectives.results.grid_collectives import (
    LIBRARY,
    MIN_GRID_GAIN,
    TOTAL,
    Disturbance,
    Gain,
    GridPoint,
    Parts,
    best,
    disturbances,
    gains,
    parts,
    points,
)
from isochrone.pages.page import (
    Block,
    Listing,
    Row,
    Section,
    Sentence,
    Table,
    Tone,
    columns_of,
)
from isochrone.pages.words import left_out, plural, warnings_of
from isochrone.runfile.run import Run
from isochrone.sweep.curves import no_such_size
from isochrone.sweep.special import SpecialSweep

MAX_GRID_ROWS = 256
MAX_SWEEP_SENTENCES = 12

MIN_DISTURBANCE = 1.1
"""Factor from which a disturbance between groups is reported."""

HOW = (
    "A grid of p1 x p2 ranks does an operation in two of the library: on its columns, with one "
    "rank of each row, and on its rows. A separate phase starts like the whole operation, on all "
    "ranks; then the row or column of rank 0 works alone, while the others sleep, or all work at "
    "once. Intervals of ratios combine those of two medians. Of several grids the one with the "
    "shortest median is compared, a slight bias in its favour."
)


class GridRun(NamedTuple):
    """Contents of a report of a run with grids: all sizes, or the selected one."""

    points: list[GridPoint]
    gains: list[Gain]
    best: list[Gain]
    parts: list[Parts]
    disturbances: list[Disturbance]

    @property
    def operations(self) -> list[tuple[str, int]]:
        """Operations and their numbers of ranks, in the order of the run."""
        return list(dict.fromkeys((point.op, point.ranks) for point in self.points))


def read(run: Run, nbytes: int | None) -> GridRun:
    """Read a run with grids.

    Raises
    ------
    InputError
        If its samples are damaged, or nothing was measured with this size.
    """
    every = points(run)
    selected = [point for point in every if nbytes in (None, point.bytes)]
    if nbytes is not None and not selected:
        raise no_such_size(nbytes, (point.bytes for point in every), run.where)
    return GridRun(
        selected, gains(selected), best(selected), parts(selected), disturbances(run, selected)
    )


def _document(run: Run, nbytes: int | None) -> Members:
    grid_run = read(run, nbytes)
    return {
        "points": grid_run.points,
        "gains": [gain.document() for gain in grid_run.gains],
        "best": [gain.document() for gain in grid_run.best],
        "phases": [comparison.document() for comparison in grid_run.parts],
        "disturbances": grid_run.disturbances,
    }


def _sections(
    run: Run, nbytes: int | None, about: Sequence[Block], pictures: Sequence[Block]
) -> list[Section]:
    """Report the fastest algorithms."""
    grid_run = read(run, nbytes)
    return [
        Section("Summary", tuple(about)),
        Section("Summary", tuple(overview(grid_run))),
        Section("Pictures", tuple(pictures), only="report"),
        Section("Numbers", tuple(numbers(grid_run))),
        Section("How the times were taken", (Sentence(HOW),), only="report"),
        Section("Summary", (warnings_of(run.warnings),)),
    ]


# --- summary --------------------------------------------------------------------------------------


def overview(read: GridRun) -> list[Block]:
    """Summarise where a grid is faster, and unusual phases."""
    blocks: list[Block] = [_sentence(read, op, ranks) for op, ranks in read.operations]
    blocks += _listed("Columns or rows that slow each other down", _disturbed(read), "")
    blocks += _listed("Phases that do not add up to the whole operation", _not_added(read), "bad")
    return blocks


def _sentence(read: GridRun, op: str, ranks: int) -> Sentence:
    """Sentence on the sizes at which a grid is faster than the library."""
    op_gains = [gain for gain in read.best if (gain.on_grid.op, gain.on_grid.ranks) == (op, ranks)]
    name = f"{_name(op)}, {plural(ranks, 'rank')}"
    if not op_gains:
        return Sentence(f"{name}: no message size was measured both with and without grids.")
    faster = [gain for gain in op_gains if gain.verdict == "faster"]
    if not faster:
        return Sentence(f"{name}: no grid is faster than the library.", stress=(name,))
    best_gain = max(faster, key=lambda gain: gain.ratio)
    where = f"{len(faster)} of {plural(len(op_gains), 'size')}"
    return Sentence(
        f"{name}: a grid is faster than the library at {where}; most at "
        f"{format_bytes(best_gain.on_grid.bytes)}, where {verdict(best_gain)}.",
        stress=(name,),
    )


def verdict(gain: Gain) -> str:
    """Verdict on a grid: ``4x4 is 1.32x faster (1.28 to 1.37)``."""
    name = _name(gain.on_grid.grid)
    if gain.verdict == "faster":
        return f"{name} is {_times(gain.ratio)} faster{_ends(gain.low, gain.high)}"
    if gain.verdict == "slower":
        return f"{name} is {_times(1 / gain.ratio)} slower{_ends(1 / gain.high, 1 / gain.low)}"
    if gain.low <= 1 <= gain.high and gain.low < gain.high:
        return f"{name} is within the noise"
    return f"{name} is as fast, within {100 * MIN_GRID_GAIN:g} %"


def _times(ratio: float) -> str:
    return f"{_digits(ratio)}x"


def _digits(ratio: float) -> str:
    """Write a ratio with the digits that mean something: ``1.32``, ``12.3``, ``240``."""
    return f"{ratio:.{max(0, 2 - max(0, int(log10(ratio))))}f}" if ratio > 0 else "0"


def _ends(low: float, high: float) -> str:
    if isnan(low) or isnan(high):
        return ""
    return f" ({_digits(low)} to {_digits(high)})"


def _disturbed(read: GridRun) -> Iterator[Sentence]:
    """Name of each phase of a grid the size at which its groups disturb each other most."""
    worst: dict[tuple[str, int, str, str], Disturbance] = {}
    for disturbance in read.disturbances:
        key = disturbance.op, disturbance.ranks, disturbance.grid, disturbance.phase
        low = disturbance.factor if isnan(disturbance.low) else disturbance.low
        worse = key not in worst or disturbance.factor > worst[key].factor
        if low > 1 and disturbance.factor >= MIN_DISTURBANCE and worse:
            worst[key] = disturbance
    for disturbance in sorted(worst.values(), key=lambda disturbance: -disturbance.factor):
        yield Sentence(
            f"{disturbance.groups} {NAMES[disturbance.phase]} at once take "
            f"{_times(disturbance.factor)} the time of one"
            f"{_ends(disturbance.low, disturbance.high)}",
            about=f"{_name(disturbance.op)}, {_name(disturbance.grid)}, "
            f"{format_bytes(disturbance.bytes)}",
        )


def _not_added(read: GridRun) -> Iterator[Sentence]:
    """Name of each grid the size at which its phases explain the whole operation least."""
    worst: dict[tuple[str, int, str], Parts] = {}
    for comparison in read.parts:
        key = comparison.total.op, comparison.total.ranks, comparison.total.grid
        worse = key not in worst or _off(comparison) > _off(worst[key])
        if not comparison.adds_up and worse:
            worst[key] = comparison
    for comparison in sorted(worst.values(), key=lambda comparison: -_off(comparison)):
        total = comparison.total
        yield Sentence(
            f"columns and rows separately take {_times(comparison.ratio)} the time of the whole "
            "operation"
            f"{_ends(comparison.low, comparison.high)}",
            about=f"{_name(total.op)}, {_name(total.grid)}, {format_bytes(total.bytes)}",
        )


def _off(comparison: Parts) -> float:
    return abs(log(comparison.ratio)) if comparison.ratio > 0 else inf


def _listed(title: str, items: Iterator[Sentence], tone: Tone) -> list[Block]:
    sentences = list(items)
    omitted = len(sentences) - MAX_SWEEP_SENTENCES
    if not sentences:
        return []
    note = f"and {omitted} more (--json lists all)" if omitted > 0 else ""
    return [Listing(title, tuple(sentences[:MAX_SWEEP_SENTENCES]), tone, note)]


# --- numbers --------------------------------------------------------------------------------------


def numbers(read: GridRun) -> list[Block]:
    """Tabulate each operation: the realisations, and the phases of each grid."""
    tables: list[Block] = []
    folded = len(read.operations) > 2
    for op, ranks in read.operations:
        tables.append(_realisations(read, op, ranks, folded=folded))
        phases = _phases(read, op, ranks)
        if phases.rows:
            tables.append(phases)
    return tables


def _realisations(read: GridRun, op: str, ranks: int, *, folded: bool) -> Table:
    """Tabulate the time of each realisation by size, and which is best."""
    totals = [p for p in read.points if (p.op, p.ranks, p.phase) == (op, ranks, TOTAL)]
    times = {(point.grid, point.bytes): point.seconds for point in totals}
    grids = list(dict.fromkeys([LIBRARY, *(point.grid for point in totals)]))
    chosen = {
        gain.on_grid.bytes: gain
        for gain in read.best
        if (gain.on_grid.op, gain.on_grid.ranks) == (op, ranks)
    }
    sizes = sorted({point.bytes for point in totals})
    rows = []
    for nbytes in sizes[:MAX_GRID_ROWS]:
        cells = [format_bytes(nbytes)]
        cells += [_seconds(times.get((grid, nbytes))) for grid in grids]
        gain = chosen.get(nbytes)
        faster = gain is not None and gain.verdict == "faster"
        rows.append(Row((*cells, verdict(gain) if gain else ""), "strong" if faster else ""))
    titles = (f">{name}" for name in ("size", *map(_name, grids)))
    title = f"{_name(op)}, {plural(ranks, 'rank')}"
    return Table(
        title,
        columns_of(*titles, "best grid"),
        tuple(rows),
        left_out(len(sizes), MAX_GRID_ROWS, "more row"),
        title if folded else "",
    )


def _phases(read: GridRun, op: str, ranks: int) -> Table:
    """Tabulate the phases of each grid, all groups at work, and what they do to each other."""
    comparisons = [
        comparison
        for comparison in read.parts
        if (comparison.total.op, comparison.total.ranks) == (op, ranks)
    ]
    factors = {
        (disturbance.grid, disturbance.bytes, disturbance.phase): disturbance
        for disturbance in read.disturbances
        if (disturbance.op, disturbance.ranks) == (op, ranks)
    }
    order = list(dict.fromkeys(comparison.total.grid for comparison in comparisons))
    comparisons.sort(
        key=lambda comparison: (order.index(comparison.total.grid), comparison.total.bytes)
    )
    rows = []
    for comparison in comparisons[:MAX_GRID_ROWS]:
        at = comparison.total.grid, comparison.total.bytes
        cells = [_name(at[0]), format_bytes(at[1])]
        for phase in comparison.phases:
            cells += [_seconds(phase.seconds), _factor(factors.get((*at, phase.phase)))]
        cells += [_seconds(comparison.total.seconds), _digits(comparison.ratio)]
        rows.append(Row(tuple(cells), "" if comparison.adds_up else "bad"))
    columns = columns_of(
        "grid", ">size", ">columns", ">slowdown", ">rows", ">slowdown", ">whole", ">sum/whole"
    )
    title = f"Phases of {_name(op)}, {plural(ranks, 'rank')}, all columns or rows at once"
    return Table(
        title,
        columns,
        tuple(rows),
        left_out(len(comparisons), MAX_GRID_ROWS, "more row"),
        title,
    )


def _factor(disturbance: Disturbance | None) -> str:
    """Format a disturbance: ``2.1x (8 rows)``; empty for one group."""
    return (
        f"{_times(disturbance.factor)} ({disturbance.groups} {NAMES[disturbance.phase]})"
        if disturbance
        else "–"
    )


def _seconds(value: float | None) -> str:
    return "–" if value is None else format_seconds(value)


def _name(text: str) -> str:
    """Write a name of the run file, which comes from elsewhere."""
    return printable(text, 40)


SWEEP = SpecialSweep("grids", _document, _sections)
