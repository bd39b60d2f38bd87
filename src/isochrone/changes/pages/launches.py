"""Several launches of one measurement: typical times, and the interval of the next launch."""

from collections.abc import Iterator
from math import isfinite, isnan
from typing import Any

from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.changes.launches import Launches, OverLaunches
from isochrone.changes.pages.comparison import name_of
from isochrone.pages.page import Block, Row, Sentence, Table, columns_of
from isochrone.pages.words import between, plural

MAX_ROWS = 256
MAX_PAIRS = 20

FEW = 3
"""Fewer launches hardly show how much launches vary."""

_COLUMNS = columns_of(
    "", ">typical", ">95 % interval", ">next launch", ">spread", ">launches"
)  # fmt: skip


def blocks(found: Launches) -> Iterator[Block]:
    """Return the times over launches: levels of a map, points of anything else."""
    launches = f"{found.launches} launches"
    yield Sentence(printable(f"{found.experiment}: {launches}", 200), "strong")
    yield Sentence("  typical: geometric mean over launches, with its 95 % interval")
    yield Sentence(f"  next launch: 95 % prediction interval, from {launches}")
    if found.launches < FEW:
        yield Sentence(
            f"  intervals of {launches} are wide (Student's t is 12.7, of five launches 2.8): "
            "measure --launches 5", "bad",
        )  # fmt: skip
    for note in found.notes:
        yield Sentence(f"  {note}")
    for one in found.differences:
        yield Sentence(f"  differs: {one['what']}: {one['before']} | {one['after']}")
    if found.levels.keys:
        more = f"{plural(len(found.points.keys), 'pair')} of these levels: --json lists them"
        yield _table(found.levels, MAX_ROWS, more)
    else:
        yield _table(found.points, MAX_PAIRS if found.kind == "latency-map" else MAX_ROWS)


def _table(times: OverLaunches, most: int, more: str = "") -> Table:
    each = times.each()
    left_out = len(each) - most
    if left_out > 0:
        more = f"and {left_out:,} more (--json lists all)"
    rows = (
        Row((
            _name(one.key), format_seconds(one.seconds), _interval(one.low, one.high),
            _interval(one.next_low, one.next_high),
            "–" if isnan(one.spread) else f"{100 * one.spread:.1f} %", str(one.n),
        ))
        for one in each[:most]
    )  # fmt: skip
    return Table("", _COLUMNS, tuple(rows), more)


def _name(key: dict[str, Any]) -> str:
    if "level" not in key:
        return name_of(key)
    size = f", {format_bytes(key['bytes'])}" if "bytes" in key else ""
    return printable(f"{key['level']}{size}", 200)


def _interval(low: float, high: float) -> str:
    return between(low, high) if isfinite(low) and isfinite(high) else "–"
