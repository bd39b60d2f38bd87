"""Accesses of a recorded program to its files, by kind and pattern, with the seconds they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.base.text import whole_number
from isochrone.collective_io.results import io_recording
from isochrone.collective_io.results.io_recording import RecordedCall, RecordedFile, RecordedPattern
from isochrone.collective_io.results.io_times import ALONE, TOGETHER, CallTime, call_times
from isochrone.runfile.run import Run

SMALL = 1 << 20
"""Bytes below which an access is small: ``THRESHOLD_SMALL_BYTES`` of Drishti, and the bins of
Darshan (J. L. Bez, H. Ather, S. Byna, Drishti: guiding end-users in the I/O optimization journey,
PDSW 2022)."""


class Access(NamedTuple):
    """Accesses of one kind to a file, by what they have in common.

    Attributes
    ----------
    alone
        Whether ranks make them independently.
    exchange, access
        Seconds of the mean rank, without waiting for late ranks.
    calls
        Of a rank.
    ranks, active
        That call; that have data.
    size, pieces
        Bytes, and contiguous pieces of the file, of an active rank in a call.
    span
        Bytes of the file from the first to the last of a call.
    slowest
        How many times the seconds of the mean rank the slowest one has; 1 if ranks do not access
        the file alone, and so wait for each other.
    misaligned
        Part of the pieces that begin within a stripe; 0 if its size is not known.
    """

    file: RecordedFile
    op: str
    alone: bool
    exchange: float
    access: float
    calls: float
    ranks: int
    active: float
    size: float
    pieces: float
    span: float
    slowest: float = 1.0
    misaligned: float = 0.0

    @property
    def piece(self) -> int:
        """Bytes of a piece."""
        return round(self.size / max(1.0, self.pieces))

    @property
    def small(self) -> bool:
        """Whether its pieces are."""
        return self.piece < SMALL

    @property
    def unseen(self) -> bool:
        """Whether it is not known how many pieces it has."""
        return self.pieces == 0 < self.size

    @property
    def strided(self) -> bool:
        """Whether a rank accesses several small pieces in a call."""
        return self.pieces > 1 and self.small

    @property
    def part(self) -> float:
        """Part of the ranks that have data."""
        return min(1.0, self.active / self.ranks)


class Recorded(Record):
    """What the rules look at.

    Attributes
    ----------
    size
        Ranks of the run.
    times
        Of each rank, file and call.
    accesses
        By file, direction and pattern.
    """

    size: int
    times: list[CallTime]
    accesses: list[Access]
    files: dict[int, RecordedFile]


def recorded_accesses(run: Run) -> Recorded:
    """Put together what ranks did alike."""
    files = {file.number: file for file in io_recording.files(run)}
    times = call_times(run)
    by_kind = grouped(
        ((row.file, row.op, row.call in ALONE), row)
        for row in times
        if row.call in (*TOGETHER, *ALONE)
    )
    patterns = grouped(((p.file, p.op), p) for p in io_recording.patterns(run))
    made = grouped((call.pattern, call) for call in io_recording.calls(run))
    accesses: list[Access] = []
    for (file, op, alone), rows in by_kind.items():
        whole = _summed(files[file], op, rows, run.size)
        listed = [] if alone else patterns.get((file, op), [])
        accesses += _by_pattern(whole, listed, made) or [whole]
    return Recorded(run.size, times, accesses, files)


def _summed(file: RecordedFile, op: str, rows: Sequence[CallTime], size: int) -> Access:
    """Put the ranks together."""
    calls = sum(row.calls for row in rows)
    full = max(1, calls - sum(row.empty for row in rows))
    alone = rows[0].call in ALONE
    left = sum(row.seconds - row.waiting for row in rows)
    access = sum(min(row.access, row.seconds - row.waiting) for row in rows)
    ranks = len({row.rank for row in rows})
    sums = np.array([(row.nbytes, row.pieces, row.span) for row in rows], float).sum(axis=0)
    seconds, made = ((left - access) / size, access / size), (calls / ranks, ranks)
    busy = Counter[int]()
    for row in rows:
        busy[row.rank] += row.seconds - row.waiting  # type: ignore[assignment]
    slowest = max(busy.values()) * size / left if alone and left > 0 else 1.0
    nbytes, pieces, span = (sums / full).tolist()
    active = ranks * full / calls
    return Access(file, op, alone, *seconds, *made, active, nbytes, pieces, span, slowest)


def _by_pattern(
    whole: Access,
    patterns: Sequence[RecordedPattern],
    made: Mapping[int, Sequence[RecordedCall]],
) -> list[Access]:
    """Divide the seconds of collective accesses by the times of the calls of each pattern."""
    seconds = {
        one.number: sum(max(0.0, c.seconds - (c.late or 0.0)) for c in made.get(one.number, []))
        for one in patterns
    }
    total = sum(seconds.values())
    found = []
    for one in patterns if total > 0 else []:
        share = seconds[one.number] / total
        nbytes = one.pieces["length"] * one.pieces["count"]
        active = len(np.unique(one.pieces["rank"][nbytes > 0])) or max(1, one.ranks)
        found.append(
            whole._replace(
                exchange=share * whole.exchange,
                access=share * whole.access,
                calls=one.calls,
                ranks=max(1, one.ranks),
                active=active,
                size=one.bytes / active,
                pieces=one.contiguous / active,
                misaligned=_misaligned(one, whole.file),
            )
        )
    return found


def _misaligned(pattern: RecordedPattern, file: RecordedFile) -> float:
    """Return the part of the pieces that begin within a stripe."""
    unit = whole_number(file.hints.get("striping_unit", "")) or 0
    count = pattern.pieces["count"]
    if not unit or not len(count):
        return 0.0
    begins, strides = pattern.pieces["offset"] % unit, pattern.pieces["stride"] % unit
    # where the stride is no multiple of the stripe, all but few begin within one
    within = (begins != 0) | ((strides != 0) & (count > 1))
    return float(np.sum(count * within) / np.sum(count))
