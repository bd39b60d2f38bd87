"""Two measurements compared: what became slower or faster, and what differs around them."""

from __future__ import annotations

from typing import Final

from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.pages.page import Block, Column, Row, Sentence, Table
from isochrone.results.comparison import Change, Comparison

__all__ = ["blocks", "change", "name_of"]

MAX_ROWS: Final = 20


def blocks(found: Comparison) -> list[Block]:
    """Say what a comparison found: the points that changed most, or all if none did."""
    counts = found.to_json()["counts"]
    said: list[Block] = [Sentence(
        f"{found.experiment}: {len(found.points)} points, {counts['slower']} slower, "
        f"{counts['faster']} faster, {counts['same']} without a significant difference", "strong",
    )]  # fmt: skip
    said += [
        Sentence(f"  differs: {one['what']}: {one['before']} | {one['after']}")
        for one in found.differences
    ]
    return [*said, _table(found)]


def name_of(point: Change) -> str:
    """Name a point by what it is: ``op bcast, p 8, 1 KiB``."""
    words = [
        format_bytes(value) if name == "bytes" and isinstance(value, int) else f"{name} {value}"
        for name, value in point.key.items()
        if value is not None
    ]
    return printable(", ".join(words), 200)


def change(point: Change) -> float:
    """Return how much slower or faster a point became, as a part of the first time."""
    return abs(point.ratio - 1)


def _table(found: Comparison) -> Table:
    changed = [point for point in found.points if point.verdict != "same"] or found.points
    listed = sorted(changed, key=lambda point: -change(point))
    rows = [
        Row((
            point.verdict, f"{point.ratio:.3f} {_interval(point)}",
            f"{format_seconds(point.before)} -> {format_seconds(point.after)}", name_of(point),
        ))
        for point in listed[:MAX_ROWS]
    ]  # fmt: skip
    more = len(listed) - len(rows)
    columns = (Column(""), Column("ratio, 95 % interval", right=True),
               Column("median, A -> B", right=True), Column("point"))  # fmt: skip
    return Table("", columns, tuple(rows), f"and {more} more (--json lists all)" if more else "")


def _interval(point: Change) -> str:
    """Write the interval of the ratio; single values have none."""
    return f"[{point.low:.3f}, {point.high:.3f}]" if point.low < point.high else "[–]"
