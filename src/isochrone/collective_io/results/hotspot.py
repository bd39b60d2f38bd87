"""Summary of hot spots: points of the grid, participants, unreachable points."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from isochrone.base.documents import Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.record import Members, Record
from isochrone.base.table import Table, grouped
from isochrone.base.text import printable
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times, counted, identity, times_of

KIND = "hotspot"

STAR = "star"
"""Shape of points with one hot node; the default of runs without this field."""


class GridPoint(Record):
    """One point of the grid: the messages of the hot node, and their times.

    Attributes
    ----------
    intra, into, out
        Messages within the hot node, into it and out of it, over all its hot processes.
    order
        Posting order: ``intra-first`` or ``inter-first``.
    hot
        Number of hot processes.
    bytes
        Of a message.
    times
        Until the slowest participating rank is done.
    shape
        ``star``: one node is hot; ``ring``: all nodes are as busy.
    busy
        Mean over all nodes of their busier direction, as a fraction of the hot node's; None if
        unknown.
    """

    intra: int
    into: Annotated[int, "as in"]
    out: int
    order: str
    hot: int
    bytes: int
    times: Inline[Times]
    shape: str = STAR
    busy: float | None = None

    @property
    @shown
    def pa(self) -> float:
        """Pairs of messages within the node (cFireworks, table II)."""
        return self.intra / 2

    @property
    @shown
    def pe(self) -> float:
        """Pairs of messages with other nodes (cFireworks, table II)."""
        return (self.into + self.out) / 2


def points(runs: Sequence[Run]) -> list[GridPoint]:
    """Summarise the points of one or several runs; repetitions of the same point are merged.

    Returns
    -------
    list
        By order, hot processes, size and shape as they come in the files, then by messages. Empty
        if no point was measured.

    Raises
    ------
    InputError
        If a run is not of hot spots, or damaged.
    """
    rows: list[Members] = []
    for run in runs:
        if run.kind != KIND:
            raise InputError(
                f"this is a run of '{run.experiment}'",
                where=run.where,
                hint="hot spots are what 'isochrone measure hotspot' measures",
            )
        if table := run.tables.get("sample"):
            rows += counted(table, identity(table)).rows()
    # points of one order, number of hot processes, size and shape stay together
    alike = grouped(
        ((printable(row["order"], 80), row["hot"], row["bytes"], _shape(row)), row) for row in rows
    )
    listed = []
    for (order, hot, size, shape), mine in alike.items():
        same = grouped(((row["intra"], row["in"] + row["out"], row["in"]), row) for row in mine)
        for (intra, both, into), repeats in sorted(same.items()):
            times = times_of(np.array([float(row["seconds"]) for row in repeats]))
            busy = next((row["busy"] for row in reversed(repeats) if "busy" in row), None)
            point = GridPoint(intra, into, both - into, order, hot, size, times, shape, busy)
            listed.append(point)
    return listed


def _shape(row: Members) -> str:
    return printable(row.get("shape", STAR), 80)


class Role(Record):
    """A participant: hot process or partner, its group, and its number in it."""

    rank: int
    role: str
    group: int
    index: int
    host: str


class Unreachable(Record):
    """Points that could not be reached, and why."""

    why: str
    points: int


def roles(run: Run) -> list[Role]:
    """List who took part: rank, role, star, number of the partner, and host."""
    hosts = run.hosts
    return [
        Role(
            row["rank"], printable(row["role"], 80), row["group"], row["index"], hosts[row["rank"]]
        )
        for row in run.tables.get("role", Table()).rows()
    ]


def unreachable(run: Run) -> list[Unreachable]:
    """Count the points of the grid that could not be reached, by reason."""
    rows = run.tables.get("unreachable", Table()).rows()
    reasons = Counter(printable(row["why"], 80) for row in rows)
    return [Unreachable(why, count) for why, count in reasons.items()]
