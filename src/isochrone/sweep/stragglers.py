"""Who is later than the others in a sweep, said only of those whose work should be alike.

In a broadcast, a reduction to one rank, a gather, a scatter or a scan the ranks have different
parts: a leaf of a healthy tree is done later than its root, and which tree a library uses is not
in the data. On a grid of ranks they have different parts, too. Ranks are therefore compared only
in operations of the library that ask the same of all of them, and pairs of a bisection only with
pairs that, like them, stay on one node or go from one to another.

Even there an algorithm may let some ranks wait: an allreduce by reduction and broadcast ends in a
tree, and recursive doubling on 2^k + r ranks lets r of them wait for one more step (Thakur,
Rabenseifner & Gropp 2005, *Optimization of collective communication operations in MPICH*). A rank
is named only if it is behind all others by more than they are apart, and by more than one step of
such an algorithm, 1/log2(p) of the time, takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.inference import median_interval
from isochrone.sweep.curves import Curve, Participant, participants

OPERATIONS: Final = ("barrier", "allreduce", "allgather", "alltoall", "reduce_scatter_block")
"""Operations that ask the same of all ranks, whatever the algorithm."""

CLEARLY: Final = 0.1
"""Of the median time of all: who is less behind is not worth a word."""

MIN_ALIKE: Final = 4
"""Of fewer alike, nobody can say which is the odd one."""

MIN_REPETITIONS: Final = 6
"""Of fewer, a median has no 95 % interval."""

Array = NDArray[np.float64]


def late(curve: Curve, hosts: Sequence[str] = ()) -> list[Participant]:
    """Return the ranks, or the pairs, that are clearly behind those that are like them.

    Parameters
    ----------
    curve
        Of any sweep; where the parts of its ranks differ, or their times are not known, nobody is
        late.
    hosts
        Of each rank, as far as they are known.

    Returns
    -------
    list of Participant
        The latest first; never half of those that are alike.
    """
    times = curve.times
    if times is None or len(times) < MIN_REPETITIONS:
        return []
    behind = {
        curve.who[column]
        for alike in _alike(curve, hosts)
        if len(alike) >= MIN_ALIKE
        for column in _behind(times[:, alike], alike, _step(curve))
    }
    return [part for part in participants(curve) if part.who in behind]


def _alike(curve: Curve, hosts: Sequence[str]) -> Iterator[list[int]]:
    """List the columns whose times may be compared with each other."""
    columns = list(range(len(curve.who)))
    if "pairs" in curve.key:
        known = [{hosts[rank] for rank in who if rank < len(hosts)} for who in curve.who]
        near = [k for k in columns if len(known[k]) == 1 and "" not in known[k]]  # on one host
        yield near
        yield [k for k in columns if k not in near]
    elif curve.key.get("op") in OPERATIONS and curve.key.get("grid", "library") == "library":
        yield columns


def _step(curve: Curve) -> float:
    """Return how far behind a healthy rank may be, as a part of the time of the others."""
    return 0.0 if "pairs" in curve.key else 1 / int(np.log2(max(2, curve.p)))


def _behind(times: Array, columns: Sequence[int], step: float) -> list[int]:
    """Return the columns beyond the widest gap among the later half, if the gap is wide enough."""
    middle = np.median(times, axis=1)
    relative = times / np.where(middle > 0, middle, np.nan)[:, None]
    if np.isnan(relative).all():
        return []
    ends = np.array([median_interval(one) for one in relative.T])
    order = np.argsort(ends[:, 0], kind="stable")
    low, high = ends[order].T
    # Intervals of medians, so that chance puts nobody behind: gaps are from the latest end of those
    # before to the earliest one of those behind.
    gaps = low[1:] - np.maximum.accumulate(high)[:-1]
    first = len(order) // 2 + 1  # those behind are fewer than half
    cut = first + int(np.argmax(gaps[first - 1 :]))
    apart = float(high[:cut].max() - low[:cut].min())
    wide = gaps[cut - 1] > max(CLEARLY, step, apart)
    return [columns[k] for k in order[cut:]] if wide else []
