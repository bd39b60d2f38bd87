"""Report of matching: the time of a receive by the entries of its queue, and what an entry adds."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from isochrone.base.record import Members, Record
from isochrone.base.units import format_bytes, format_seconds
from isochrone.pages.page import Block, Row, Section, Sentence, Table, columns_of
from isochrone.pages.words import between, warnings_of
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Point, curves, of_size
from isochrone.sweep.special import SpecialSweep

HOW = (
    "An entry adds the difference from the shortest queue, divided by the number of entries more. "
    "It is shown where the 95 % intervals of the two medians do not overlap."
)


class Length(Record):
    """A queue of one length.

    Attributes
    ----------
    queue
        What is in it: ``posted``, ``wildcard`` or ``unexpected``.
    bytes
        Size of the message that is received.
    entries
        That do not match.
    median, low, high
        Time of the receive with its 95 % interval, seconds.
    each
        Seconds that an entry adds, from the shortest queue on; None where none is seen.
    """

    queue: str
    bytes: int
    entries: int
    median: float
    low: float | None
    high: float | None
    each: float | None


def lengths(run: Run, nbytes: int | None) -> list[Length]:
    """Return the queues of a run by kind, message size and length."""
    points = [
        (str(curve.key["op"]), point.bytes, int(curve.key["entries"]), point)
        for curve in of_size(curves(run), nbytes, run.where)
        for point in curve.points
    ]
    order = list(dict.fromkeys(queue for queue, *_ in points))
    points.sort(key=lambda row: (order.index(row[0]), *row[1:3]))
    rows = []
    for _, members in groupby(points, key=lambda row: row[:2]):
        (_, _, fewest, shortest), *_ = listed = list(members)
        rows += [_length(*row, fewest, shortest) for row in listed]
    return rows


def _length(
    queue: str, nbytes: int, entries: int, point: Point, fewest: int, shortest: Point
) -> Length:
    low, high = point.interval or (None, None)
    seen = low is not None and shortest.has_interval and low > shortest.high
    each = (point.median - shortest.median) / (entries - fewest) if seen else None
    return Length(queue, nbytes, entries, point.median, low, high, each)


def _document(run: Run, nbytes: int | None) -> Members:
    return {"queues": lengths(run, nbytes)}


def _sections(
    run: Run, nbytes: int | None, about: Sequence[Block], pictures: Sequence[Block]
) -> list[Section]:
    del pictures  # of message sizes, of which there is one as a rule
    return [
        Section("Summary", tuple(about)),
        Section("Numbers", tuple(_tables(lengths(run, nbytes)))),
        Section("How the times were taken", (Sentence(HOW),), only="report"),
        Section("Summary", (warnings_of(run.warnings),)),
    ]


def _tables(rows: Sequence[Length]) -> Iterator[Table]:
    for (queue, nbytes), members in groupby(rows, key=lambda row: (row.queue, row.bytes)):
        cells = [
            (
                str(row.entries),
                format_seconds(row.median),
                "–" if row.low is None or row.high is None else between(row.low, row.high),
                "–" if row.each is None else format_seconds(row.each),
            )
            for row in members
        ]
        yield Table(
            f"{queue}, {format_bytes(nbytes)}",
            columns_of(">entries", ">median", ">95 % interval", ">each adds"),
            tuple(Row(row) for row in cells),
        )


SWEEP = SpecialSweep("matching", _document, _sections)
