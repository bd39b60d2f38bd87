"""Which rounds of an exchange are alike, so that they need to be looked at once only.

The hot spot of a round counts, and that of an average of rounds is cooler than they are: so only
rounds are put together whose messages are the same, and about as large. Where that leaves too many,
those are that move about the same bytes between the same parts of the ranks and of the file.
"""

from __future__ import annotations

import heapq
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.collective_io.workload import Ints
from isochrone.collective_io.workload.access_pattern import Runs
from isochrone.collective_io.workload.file_domains import FileWindows

__all__ = ["alike"]

Floats = NDArray[np.float64]
Marks = NDArray[np.uint64]

STEPS: Final = (64, 16, 4)
"""Sizes are told apart by so many steps of the largest, from fine to coarse."""

OCTAVE: Final = 0.125
"""Steps of the largest itself, in octaves, for as many as the finest `STEPS`."""

PARTS: Final = 8
"""Parts of the ranks, and of the file domains, that are looked at where kinds are too many."""


def alike(
    windows: FileWindows, messages: tuple[Ints, Ints, Ints], data: Runs, ranks: int, most: int
) -> tuple[Ints, bool]:
    """Return the kind of each round, and whether rounds of a kind have the same messages.

    Parameters
    ----------
    windows
        Parts of the file by domain and round.
    messages
        Window, first rank and rank after the last of runs that send one message each.
    data
        What ranks have for windows.
    ranks
        Number of them.
    most
        Kinds that may be told apart.
    """
    window, first, last = messages
    who = _marks(windows, window, windows.domain[window], first, last)
    for steps in STEPS:
        kinds = np.unique(who + _sizes(windows, data, steps), return_inverse=True)[1]
        if kinds.max() < most:
            return kinds, True
    return _clustered(_moved(windows, data, ranks), most), False


def _marks(windows: FileWindows, window: Ints, *columns: Ints) -> Marks:
    """Return a hash of each round, of rows of whole numbers in any order."""
    marks = np.zeros(windows.rounds, np.uint64)
    np.add.at(marks, windows.round_index[window], _hash(*columns))
    return marks


def _hash(*columns: Ints) -> Marks:
    """Hash rows of whole numbers (the finaliser of SplitMix64, Steele et al. 2014)."""
    mark = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        mark = (mark + column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mark = (mark ^ (mark >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mark = (mark ^ (mark >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mark ^= mark >> np.uint64(31)
    return mark


def _sizes(windows: FileWindows, data: Runs, steps: int) -> Marks:
    """Return a hash of each round, of about how many bytes each rank has for each domain."""
    rounds = windows.round_index[data.window]
    largest = np.zeros(windows.rounds)
    np.maximum.at(largest, rounds, data.bytes)
    octave = np.log2(np.maximum(largest, 1)) / (OCTAVE * STEPS[0] / steps)
    part = np.rint(steps * data.bytes / largest[rounds]).astype(np.int64)
    some = part > 0  # what is small does not tell rounds apart
    rows = (windows.domain[data.window], data.first, data.last, part)
    marks = _marks(windows, data.window[some], *(column[some] for column in rows))
    return marks + _hash(np.rint(octave).astype(np.int64))


def _moved(windows: FileWindows, data: Runs, ranks: int) -> Floats:
    """Return the bytes of each round between parts of the ranks and parts of the file domains.

    Shape (rounds, PARTS * PARTS). What several neighbouring ranks have counts for the middle one.
    """
    of_rank = (data.first + data.last - 1) // 2 * PARTS // ranks
    of_domain = windows.domain[data.window] * PARTS // windows.domains
    at = (windows.round_index[data.window] * PARTS + of_rank) * PARTS + of_domain
    sizes = (data.bytes * (data.last - data.first)).astype(np.float64)
    moved = np.bincount(at, sizes, windows.rounds * PARTS * PARTS)
    return np.asarray(moved, np.float64).reshape(windows.rounds, -1)


def _clustered(points: Floats, most: int) -> Ints:
    """Cut points into clusters: the widest is halved along its widest axis, again and again."""
    kinds = np.zeros(len(points), np.int64)
    heap = [_cluster(np.arange(len(points)), points, 0)]
    for number in range(1, most):
        width, _, axis, members = heapq.heappop(heap)
        if width == 0:
            break
        order = members[np.argsort(points[members, axis], kind="stable")]
        lower, upper = order[: len(order) // 2], order[len(order) // 2 :]
        heapq.heappush(heap, _cluster(lower, points, 2 * number))
        heapq.heappush(heap, _cluster(upper, points, 2 * number + 1))
        kinds[upper] = number
    return kinds


def _cluster(members: Ints, points: Floats, key: int) -> tuple[float, int, int, Ints]:
    """Return minus how wide a cluster is, a key of its own, its widest axis, and its members."""
    spread = points[members].var(axis=0) * len(members)
    return -float(spread.sum()), key, int(np.argmax(spread)), members
