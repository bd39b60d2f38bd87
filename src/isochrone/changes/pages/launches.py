"""Several launches of one measurement: typical times, and the interval of the next launch."""

from collections.abc import Iterator
from math import isfinite, isnan

from isochrone.base.record import Members
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.changes.launches import Launches, OverLaunches
from isochrone.changes.pages.comparison import name_of
from isochrone.changes.thresholds import MIN_LAUNCHES
from isochrone.pages.page import Block, Row, Sentence, Table, columns_of
from isochrone.pages.words import between, plural

MAX_LAUNCH_ROWS = 256
MAX_PAIRS = 20


_COLUMNS = columns_of("", ">typical", ">95 % interval", ">next launch", ">spread", ">launches")


def blocks(analysis: Launches) -> Iterator[Block]:
    """Return the times over launches: levels of a map, points of anything else."""
    launches = f"{analysis.launches} launches"
    yield Sentence(printable(f"{analysis.experiment}: {launches}", 200), "strong")
    yield Sentence("  typical: geometric mean over launches, with its 95 % interval")
    yield Sentence(f"  next launch: 95 % prediction interval, from {launches}")
    if analysis.launches < MIN_LAUNCHES:
        yield Sentence(
            f"  intervals of {launches} are wide (Student's t is 12.7, of five launches 2.8): "
            "measure --launches 5",
            "bad",
        )
    for note in analysis.notes:
        yield Sentence(f"  {note}")
    for difference in analysis.differences:
        yield Sentence(
            f"  differs: {difference['what']}: {difference['before']} | {difference['after']}"
        )
    if analysis.levels.keys:
        pairs_note = (
            f"{plural(len(analysis.points.keys), 'pair')} of these levels: --json lists them"
        )
        yield _table(analysis.levels, MAX_LAUNCH_ROWS, pairs_note)
    else:
        yield _table(
            analysis.points, MAX_PAIRS if analysis.kind == "latency-map" else MAX_LAUNCH_ROWS
        )


def _table(times: OverLaunches, max_rows: int, note: str = "") -> Table:
    entries = times.each()
    left_out = len(entries) - max_rows
    if left_out > 0:
        note = f"and {left_out:,} more (--json lists all)"
    rows = (
        Row(
            (
                _name(entry.key),
                format_seconds(entry.seconds),
                _interval(entry.low, entry.high),
                _interval(entry.next_low, entry.next_high),
                "–" if isnan(entry.spread) else f"{100 * entry.spread:.1f} %",
                str(entry.n),
            )
        )
        for entry in entries[:max_rows]
    )
    return Table("", _COLUMNS, tuple(rows), note)


def _name(key: Members) -> str:
    if "level" not in key:
        return name_of(key)
    size = f", {format_bytes(key['bytes'])}" if "bytes" in key else ""
    return printable(f"{key['level']}{size}", 200)


def _interval(low: float, high: float) -> str:
    return between(low, high) if isfinite(low) and isfinite(high) else "–"
