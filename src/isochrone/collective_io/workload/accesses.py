"""Arbitrary accesses: pieces of a file, single or strided, and their ranks."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from isochrone.base.arrays import Bools
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.collective_io.workload import Ints, Runs, expanded

MAX_RANKS = 2**24
MAX_OFFSET = 2**62

PORTION = 2_000_000
"""Meetings of pieces with windows that are worked out at once."""

MAX_MEETINGS = 300_000_000
"""More of them would take minutes."""


class Accesses(Record):
    """Pieces of a file and the ranks that touch them, in any order.

    A row is ``count`` pieces of ``length`` bytes, ``stride`` bytes from the start of one to the
    start of the next. They are never listed one by one. A row of no length is the offset of a rank
    without data: ROMIO's file domains begin there if nothing is before it.

    Attributes
    ----------
    rank, offset, length, count, stride
        One number each for a row; bytes. As `made` returns them.
    ranks
        Number of ranks of the job; some may have no row.
    members
        Ranks that opened the file, in the order of its communicator; None: all.
    """

    rank: Ints
    offset: Ints
    length: Ints
    count: Ints
    stride: Ints
    ranks: int
    members: tuple[int, ...] | None = None

    @cached_property
    def _reach(self) -> Ints:
        """Byte after the last of each row."""
        return self.offset + (self.count - 1) * self.stride + self.length

    @property
    def extent(self) -> tuple[int, int]:
        """First byte, and byte after the last."""
        return int(self.offset.min()), int(self._reach.max())

    @property
    def interleaved(self) -> bool:
        """Whether a rank begins before the last byte of the rank before it, as ROMIO asks.

        Only neighbours in the file's communicator are compared, and a rank without data is between
        none (MPICH, ``ad_write_coll.c``).
        """
        start, last = np.zeros(self.ranks, np.int64), np.full(self.ranks, -1)
        start[self.rank] = MAX_OFFSET
        np.minimum.at(start, self.rank, self.offset)
        np.maximum.at(last, self.rank, self._reach - 1)
        if self.members is not None:
            start, last = start[list(self.members)], last[list(self.members)]
        between = (start[1:] < last[:-1]) & (start[1:] <= last[1:])
        return bool(between.any())

    def touches(self, starts: Ints, ends: Ints) -> Runs:
        """Ranks that access each window; windows do not overlap."""
        runs = [Runs(*np.empty((5, 0), np.int64))]
        for row, window, done, begun, data in self._meetings(starts, ends):
            runs.append(_joined(window, self.rank[row], data, begun - done, self.ranks))
        return Runs(*(np.concatenate(column) for column in zip(*runs, strict=True)))

    def touched(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Return the first byte touched in each window, and the one after the last."""
        first, last = ends.copy(), starts.copy()
        for row, window, done, begun, _ in self._meetings(starts, ends):
            offset, stride = self.offset[row], self.stride[row]
            np.minimum.at(first, window, np.maximum(offset + done * stride, starts[window]))
            end = offset + (begun - 1) * stride + self.length[row]
            np.maximum.at(last, window, np.minimum(end, ends[window]))
        return np.minimum(first, last), last

    def _meetings(self, starts: Ints, ends: Ints) -> Iterator[Iterator[Ints]]:
        """Yield rows and the windows they have bytes in, in portions.

        With each: how many pieces end before the window, how many begin before its end, and the
        bytes within it.
        """
        if not len(starts):
            return
        order = np.argsort(starts, kind="stable")
        low = np.searchsorted(ends[order], self.offset, side="right")
        high = np.searchsorted(starts[order], self._reach, side="left")
        for first, last in _portions(low, np.maximum(high, low), len(order)):
            rows = np.flatnonzero((low < last) & (high > first))
            begins, stops = np.maximum(low[rows], first), np.minimum(high[rows], last)
            window_counts = np.maximum(stops - begins, 0)
            pick, index = expanded(begins, window_counts)
            row, window = rows[pick], order[index]
            bytes_before, (_, done) = self._upto(row, starts[window])
            upto, (begun, _) = self._upto(row, ends[window])
            within = (begun > done) & (self.length[row] > 0)
            yield (column[within] for column in (row, window, done, begun, upto - bytes_before))

    def _upto(self, row: Ints, edge: Ints) -> tuple[Ints, tuple[Ints, Ints]]:
        """Return the bytes of each row before an edge, and how many pieces begin and end there."""
        offset, length, count, stride = (
            column[row] for column in (self.offset, self.length, self.count, self.stride)
        )
        beyond = edge - offset
        begun = np.clip(-(-beyond // stride), 0, count)
        done = np.clip((beyond - length) // stride + 1, 0, count)
        cut = begun - done
        # of the pieces that the edge cuts, from the first to the last: an arithmetic series
        cut_bytes = cut * (beyond - done * stride) - stride * (cut * (cut - 1) // 2)
        return done * length + cut_bytes, (begun, done)


def made(
    rank: Ints,
    offset: Ints,
    length: Ints,
    count: Ints | None = None,
    stride: Ints | None = None,
    *,
    ranks: int = 0,
    members: tuple[int, ...] | None = None,
) -> Accesses:
    """Return accesses in their simplest form: neighbouring pieces of a row are one.

    Parameters
    ----------
    rank, offset, length, count, stride
        As of `Accesses`; without the last two, one piece a row. A stride counts only where there
        are several pieces.
    ranks
        Of the job; at least as many as are named.
    members
        As of `Accesses`.

    Raises
    ------
    InputError
        If no row has any bytes, or pieces are repeated at no distance.
    """
    if not len(rank) or not np.any(length):
        raise InputError("the table has no accesses", hint="write rank,offset,length")
    count = np.ones_like(rank) if count is None else count
    count = np.where(length > 0, count, 1)
    stride = np.zeros_like(rank) if stride is None else stride
    if np.any((count < 1) | ((count > 1) & (stride < 1))):
        raise InputError("the stride of pieces is 0", hint="a stride is at least 1")
    contiguous = (count > 1) & (stride == length)
    length = np.where(contiguous, length * count, length)
    count = np.where(contiguous, 1, count)
    stride = np.where(count > 1, stride, np.maximum(length, 1))
    ranks = max(ranks, int(rank.max()) + 1, max(members or (0,)) + 1)
    return Accesses(rank, offset, length, count, stride, ranks, members)


def _portions(low: Ints, high: Ints, windows: int) -> Iterator[tuple[int, int]]:
    """Divide windows ``0 … windows - 1`` into portions that about `PORTION` rows overlap.

    Row k overlaps the windows ``low[k] … high[k] - 1``.
    """
    change = np.bincount(low, minlength=windows + 1) - np.bincount(high, minlength=windows + 1)
    meetings = np.cumsum(np.cumsum(change)[:windows])
    if meetings[-1] > MAX_MEETINGS:
        raise InputError(
            f"the table accesses too many parts of the file: {meetings[-1]}",
            hint="give a larger buffer or stripe",
        )
    first = 0
    while first < windows:
        done = int(meetings[first - 1]) if first else 0
        last = int(np.searchsorted(meetings, done + PORTION, side="right"))
        last = max(last, first + 1)
        yield first, last
        first = last


def _joined(window: Ints, rank: Ints, data: Ints, pieces: Ints, ranks: int) -> Runs:
    """Sum up what a rank has in a window, and join neighbouring ranks that have the same."""
    if not len(window):
        return Runs(*np.empty((5, 0), np.int64))
    key = window * ranks + rank
    order = np.argsort(key, kind="stable")
    key = key[order]
    at = np.flatnonzero(np.append(True, np.diff(key) > 0))
    sums = (np.add.reduceat(column[order], at) for column in (data, pieces))
    window, rank, (data, pieces) = key[at] // ranks, key[at] % ranks, sums
    same: Bools = np.diff(rank) == 1
    for column in (window, data, pieces):
        same &= np.diff(column) == 0
    head = np.flatnonzero(np.append(True, ~same))
    tail = np.append(head[1:], len(at)) - 1
    return Runs(window[head], rank[head], rank[tail] + 1, data[head], pieces[head])
