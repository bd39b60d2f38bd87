"""Collective I/O of tiles, summarised: its phases, who accessed the file, messages of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from isochrone.base.documents import IfKnown, Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.collective_io.results.call_parts import NAMES
from isochrone.runfile.columns import numbers, seconds, texts
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times, counted, identity, times_of

__all__ = [
    "KIND", "PARTS", "Phase", "aggregators", "file_io", "hints", "nodes", "phases",
]  # fmt: skip

KIND: Final = "tile-io"

PARTS: Final = ("open", "seconds", *NAMES, "close", "total")
"""What is timed of an access, by the keys of the run file; ``seconds`` is the access itself, and
its own parts follow where they were seen."""


@dataclass(frozen=True)
class Rates:
    """Bytes a second of an access, and their 95 % interval; None where they are not known."""

    bandwidth: float | None = None
    bandwidth_low: float | None = None
    bandwidth_high: float | None = None


@dataclass(frozen=True)
class Phase:
    """Repetitions of one operation on the file, or of its exchange alone.

    Attributes
    ----------
    op
        ``write`` or ``read``.
    phase
        ``file`` or ``exchange``.
    p
        Number of ranks.
    bytes
        Of the whole file.
    rounds
        Rounds of the exchange; None where they were not seen.
    times
        By the names of `PARTS`, as far as they were measured.
    """

    op: str
    phase: str
    p: int
    bytes: int
    rounds: IfKnown[int]
    times: dict[str, Times]

    @property
    @shown
    def n(self) -> int:
        """Repetitions."""
        return self.times["seconds"].n

    @property
    @shown
    def rates(self) -> Inline[Rates]:
        """The bandwidth with its interval."""
        return Rates(*self.bandwidth or ())

    @property
    def bandwidth(self) -> tuple[float, float | None, float | None] | None:
        """Bytes per second of the access and its 95 % interval, as far as they are known.

        None in a clock too coarse.
        """
        access = self.times["seconds"]
        if access.median <= 0 or access.low <= 0:
            return None
        if not access.has_interval:
            return self.bytes / access.median, None, None
        return self.bytes / access.median, self.bytes / access.high, self.bytes / access.low


def phases(run: Run) -> list[Phase]:
    """Summarise what was timed: the file before the exchange alone, in the order of the run.

    Raises
    ------
    InputError
        If the run is of something else, or damaged.
    """
    where = run.where
    if run.kind != KIND:
        raise InputError(
            f"this run is of '{run.experiment}'", where=where,
            hint="tiles are what 'isochrone measure tile-io' measures",
        )  # fmt: skip
    table = run.tables.get("sample")
    if table is None or not len(table):
        return []
    table = counted(table, identity(table))
    columns = [texts(table, key, where) for key in ("phase", "op")]
    sizes = [numbers(table, key, where).tolist() for key in ("p", "bytes")]
    times = {part: seconds(table, part, where) for part in PARTS if part in table}
    if np.isnan(times.get("seconds", np.array([np.nan]))).any():
        raise InputError("a 'sample' record without 'seconds'", where=where)
    rows: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(zip(*columns, *sizes, strict=True)):
        rows.setdefault(key, []).append(row)
    found = []
    for (phase, op, p, size), mine in rows.items():
        own = {part: column[mine] for part, column in times.items()}
        known = {part: column[~np.isnan(column)] for part, column in own.items()}
        found.append(Phase(
            op, phase, p, size, _rounds(table, mine),
            {part: times_of(column) for part, column in known.items() if len(column)},
        ))  # fmt: skip
    return sorted(found, key=lambda one: one.phase == "exchange")


def _rounds(table: Table, rows: list[int]) -> int | None:
    """Return the number of rounds if all repetitions had as many."""
    if "rounds" not in table or table["rounds"].dtype.kind not in "if":
        return None
    values = set(table["rounds"][rows].tolist())
    value = values.pop() if len(values) == 1 else float("nan")
    return int(value) if 0 <= value < 2**53 else None


def aggregators(run: Run) -> list[Any]:
    """List who serves which part of the file, in the order of the parts."""
    found = _records(run, "aggregator", ("domain", "rank", "node"), ("source",))
    return sorted(found, key=lambda one: int(one["domain"]))


def file_io(run: Run) -> list[Any]:
    """List the ranks whose process really read or wrote the file, and about how many bytes."""
    return _records(run, "file-io", ("rank", "node", "bytes"), ("op",))


def nodes(run: Run) -> list[Any]:
    """List the messages of each node when writing; ``hot`` where most go to and from others."""
    found = _records(run, "node", ("node", "intra", "in", "out"), ())
    most = max((one["in"] + one["out"] for one in found), default=0)
    for one in found:
        one["hot"] = most > 0 and one["in"] + one["out"] == most
    return found


def hints(run: Run) -> dict[str, str]:
    """Return the hints that the library reported for the open file."""
    table = run.tables.get("hint")
    if table is None or not len(table):
        return {}
    where = run.where
    return dict(zip(texts(table, "key", where, "hint"), _long(table, where), strict=True))


def _long(table: Table, where: str) -> list[str]:
    """Return the values of hints, which may be long lists of hosts, whole."""
    values = table["value"].tolist() if "value" in table else [None]
    if not all(isinstance(value, str) for value in values):
        raise InputError("a 'hint' record without 'value'", where=where)
    return [str(value) for value in values]


def _records(run: Run, record: str, whole: tuple[str, ...], words: tuple[str, ...]) -> list[Any]:
    """Return records with these keys, checked, and the host of their rank or node."""
    table = run.tables.get(record)
    if table is None or not len(table):
        return []
    where = run.where
    columns = {key: numbers(table, key, where, record).tolist() for key in whole}
    columns |= {key: texts(table, key, where, record) for key in words}
    hosts = {rank.node: rank.host for rank in run.ranks}
    return [
        {**row, "host": hosts.get(row["node"], "")}
        for values in zip(*columns.values(), strict=True)
        for row in [dict(zip(columns, values, strict=True))]
    ]
