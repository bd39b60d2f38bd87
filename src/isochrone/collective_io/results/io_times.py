"""Seconds of every MPI-IO call of a recorded program, by rank and file, and how they divide."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from isochrone.base.arrays import Array
from isochrone.base.record import Record
from isochrone.base.table import Table
from isochrone.collective_io.results.io_recording import KIND
from isochrone.runfile.run import Run

METADATA = ("open", "close", "set-view", "set-size")
"""Calls that access no data."""

TOGETHER = ("collective", "nonblocking-collective")
"""Accesses that all ranks of a file make in one call."""

ALONE = ("independent", "nonblocking")

SHARED = ("shared", "ordered")
"""Accesses at the pointer that all ranks share."""


class CallTime(Record):
    """Calls of one kind to one file by one rank.

    Attributes
    ----------
    rank, file
        Their numbers in the run.
    call
        ``open``, ``close``, ``set-view``, ``set-size`` (and preallocate), ``sync``,
        ``collective``, ``nonblocking-collective``, ``ordered``, ``independent``, ``nonblocking`` or
        ``shared``.
    op
        ``write``, ``read``, or empty.
    calls, bytes
        Their number; bytes of this rank.
    pieces, span
        Contiguous pieces of the file, and bytes of the file from the first to the last of a call,
        summed over calls; by the file view.
    empty
        Calls without data of this rank.
    seconds
        In these calls; of nonblocking ones in the start, in waiting and in testing.
    waiting
        Seconds until the last rank entered, of calls that this rank left later.
    access
        Seconds of the others in which this rank, or a rank that it waits for, accesses the file.
    last, late
        Calls that this rank entered last; seconds after the mean of the other ranks in these.
    """

    rank: int
    file: int
    call: str
    op: str
    calls: int
    nbytes: int
    pieces: int
    span: int
    empty: int
    seconds: float
    waiting: float
    access: float
    last: int
    late: float


class Part(Record):
    """What MPI-IO needs time for.

    Attributes
    ----------
    part
        ``waiting`` for ranks that enter a call later, ``exchange`` (communication and copies in the
        library), ``access`` to files, ``metadata`` (open, close, view, size), ``sync``.
    most, total
        Seconds of the rank with most, and of all ranks.
    share
        Part of the seconds that all ranks spend in MPI-IO; all parts add up to 1.
    """

    part: str
    most: float
    total: Annotated[float, "as sum"]
    share: float


class Account(Record):
    """All seconds in MPI-IO.

    Attributes
    ----------
    seconds
        Of the rank with most.
    busy
        Of the rank with most, without waiting for late ranks.
    mean
        Of a rank, on average.
    whole
        Seconds of the program.
    parts
        Longest first.
    """

    seconds: float
    busy: float
    mean: float
    whole: float
    parts: list[Part]


def call_times(run: Run) -> list[CallTime]:
    """List the times; none of a recording of an earlier version."""
    listed = []
    for row in table(run).rows():
        of = row["rank"], row["file"], row["call"], row.get("op", ""), row["calls"]
        size, pieces, span, empty = (
            int(row.get(key, 0)) for key in ("bytes", "pieces", "span", "empty")
        )
        waiting = min(row["waiting"], row["seconds"])
        seconds = float(row["seconds"]), float(waiting), float(row["access"])
        last, late = row["last"], float(row["late"])
        listed.append(CallTime(*of, size, pieces, span, empty, *seconds, last, late))
    return listed


def table(run: Run) -> Table:
    """Return the times as columns."""
    return run.tables.get("time", Table()) if run.kind == KIND else Table()


def transferred(run: Run) -> int:
    """Return the bytes of all accesses."""
    return sum(row.nbytes for row in call_times(run))


def parts_of(times: Table) -> dict[str, Array]:
    """Divide the seconds of each row of the times; the parts of a row add up to its seconds."""
    calls = times["call"].astype(str)
    waiting = np.minimum(times["waiting"], times["seconds"])
    left = times["seconds"] - waiting
    metadata, sync = np.isin(calls, METADATA), calls == "sync"
    data = ~metadata & ~sync
    access = np.where(data, np.minimum(times["access"], left), 0.0)
    return {
        "waiting": waiting,
        "exchange": np.where(data, left - access, 0.0),
        "access": access,
        "metadata": np.where(metadata, left, 0.0),
        "sync": np.where(sync, left, 0.0),
    }


def account(run: Run) -> Account | None:
    """Add up the times; None if there are none."""
    times = table(run)
    if not len(times):
        return None

    def by_rank(values: Array) -> Array:
        return np.bincount(times["rank"], values, run.size)

    each = {name: by_rank(values) for name, values in parts_of(times).items()}
    seconds = by_rank(times["seconds"])
    total = float(seconds.sum()) or 1.0
    parts = [
        Part(name, float(values.max()), float(values.sum()), float(values.sum()) / total)
        for name, values in each.items()
    ]
    whole = float((run.end or {}).get("seconds", 0.0))
    return Account(
        float(seconds.max()),
        float((seconds - each["waiting"]).max()),
        float(seconds.mean()),
        whole,
        sorted(parts, key=lambda part: -part.total),
    )
