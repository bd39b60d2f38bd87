"""Hot spots, summarised: the points of the grid, who took part, what could not be reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypedDict

import numpy as np

from isochrone.base.documents import Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.runfile.columns import numbers, seconds, texts
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times, counted, identity, times_of

__all__ = [
    "KIND", "STAR", "GridPoint", "Role", "Unreachable", "points", "roles", "unreachable",
]  # fmt: skip

KIND: Final = "hotspot"

STAR: Final = "star"
"""The shape of points at which one node is hot; of runs that do not say, all are."""

_COUNTS: Final = ("intra", "in", "out", "hot", "bytes")


@dataclass(frozen=True)
class GridPoint:
    """One point of the grid: the messages of the hot node, and how long they take.

    Attributes
    ----------
    intra, into, out
        Messages within the hot node, into it and out of it, over all its hot processes.
    order
        What is posted first: ``intra-first`` or ``inter-first``.
    hot
        Number of hot processes.
    bytes
        Of a message.
    times
        Until the slowest participating rank is done.
    shape
        ``star``: one node is hot; ``ring``: all nodes are as busy.
    busy
        Mean over all nodes of their busier direction, as a part of the hot node's; None if the run
        does not say.
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
    """Summarise the points of one or several runs; repetitions of the same point are put together.

    Returns
    -------
    list
        By order, hot processes, size and shape as they come in the files, then by messages. Empty
        if no point was measured.

    Raises
    ------
    InputError
        If a run is none of hot spots, or damaged.
    """
    found: dict[tuple[Any, ...], list[float]] = {}
    busy: dict[tuple[Any, ...], float] = {}
    for run in runs:
        where = run.where
        if run.kind != KIND:
            raise InputError(
                f"this run is of '{run.experiment}'", where=where,
                hint="hot spots are what 'isochrone measure hotspot' measures",
            )  # fmt: skip
        table = run.tables.get("sample")
        if table is None or not len(table):
            continue
        table = counted(table, identity(table))
        counts = [numbers(table, key, where).tolist() for key in _COUNTS]
        _check_counts(counts, run.size, where)
        times = seconds(table, "seconds", where)
        if np.isnan(times).any():
            raise InputError("a 'sample' record without 'seconds'", where=where)
        shapes = texts(table, "shape", where) if "shape" in table else [STAR] * len(table)
        keys = list(zip(texts(table, "order", where), *counts, shapes, strict=True))
        for key, time in zip(keys, times.tolist(), strict=True):
            found.setdefault(key, []).append(time)
        if "busy" in table:
            busy |= dict(zip(keys, _parts(table, "busy", where), strict=True))
    kinds = {kind: k for k, kind in enumerate(dict.fromkeys(_kind(key) for key in found))}
    places = sorted(found, key=lambda key: (kinds[_kind(key)], key[1], key[2] + key[3], key[2]))
    return [
        GridPoint(
            intra, into, out, order, hot, size, times_of(np.array(found[key])), shape, busy.get(key)
        )
        for key in places
        for order, intra, into, out, hot, size, shape in [key]
    ]


def _check_counts(counts: list[list[int]], ranks: int, where: str) -> None:
    """Refuse more messages than one each way between each hot process and each rank."""
    *messages, hot, _ = counts
    if max(hot) > ranks:
        raise InputError("'hot' of a 'sample' record is beyond all ranks", where=where)
    for name, column in zip(_COUNTS, messages, strict=False):
        if any(count > 2 * ranks * centres for count, centres in zip(column, hot, strict=True)):
            raise InputError(f"'{name}' of a 'sample' record is beyond all ranks", where=where)


def _parts(table: Table, key: str, where: str) -> list[float]:
    """Return a column of parts of one."""
    values = table[key]
    if values.dtype.kind not in "iuf" or not np.all((values >= 0) & (values <= 1)):
        raise InputError(f"a 'sample' record whose '{key}' is not from 0 to 1", where=where)
    return [float(value) for value in values]


def _kind(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what keeps points of the same messages apart: order, hot processes, size, shape."""
    return (key[0], key[4], key[5], key[6])


class Role(TypedDict):
    """Who took part: hot process or partner, its group, and its number in it."""

    rank: int
    role: str
    group: int
    index: int
    host: str


class Unreachable(TypedDict):
    """Points that could not be reached, and why."""

    why: str
    points: int


def roles(run: Run) -> list[Role]:
    """List who took part: rank, role, star, number of the partner, and host.

    Raises
    ------
    InputError
        If the records are damaged.
    """
    table = run.tables.get("role")
    if table is None or not len(table):
        return []
    where = run.where
    rank, group, index = (
        numbers(table, key, where, "role").tolist() for key in ("rank", "group", "index")
    )
    hosts = run.hosts
    return [
        {"rank": r, "role": role, "group": g, "index": i, "host": hosts[r] if r < run.size else ""}
        for r, role, g, i in zip(
            rank, texts(table, "role", where, "role"), group, index, strict=True
        )
    ]


def unreachable(run: Run) -> list[Unreachable]:
    """Count the points of the grid that could not be reached, by reason.

    Raises
    ------
    InputError
        If the records are damaged.
    """
    table = run.tables.get("unreachable")
    if table is None or not len(table):
        return []
    reasons: dict[str, int] = {}
    for why in texts(table, "why", run.where, "unreachable"):
        reasons[why] = reasons.get(why, 0) + 1
    return [{"why": why, "points": count} for why, count in reasons.items()]
