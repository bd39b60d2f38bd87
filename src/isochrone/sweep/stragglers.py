"""Straggler detection among ranks (or pairs) with equal work.

In rooted operations, scans and grids the ranks have different work: in a broadcast a leaf finishes
later than the root, and the data do not show which tree a library uses. Ranks are therefore
compared only in the symmetric operations of the library, and pairs of a bisection only with pairs
of the same sort, within a node or between nodes.

Even symmetric operations may let some ranks wait: an allreduce by reduction and broadcast ends in a
tree, and recursive doubling on 2^k + r ranks gives r of them one more step (Thakur, Rabenseifner &
Gropp 2005, *Optimization of collective communication operations in MPICH*). A rank is a straggler
only if its delay exceeds the spread of all others, and one step of such an algorithm, 1/log2(p) of
the time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.inference import median_interval
from isochrone.base.operations import EQUAL_WORK
from isochrone.sweep.curves import Curve

CLEARLY = 0.1
"""Fraction of the median time: smaller delays are not reported."""

MIN_PEERS = 4
"""Among fewer peers none is an outlier."""

MIN_REPETITIONS = 6
"""Fewer do not give a 95 % interval of a median."""


@dataclass(frozen=True)
class Participant:
    """A rank of a collective, or a pair of a bisection, compared with the others of its curve.

    Attributes
    ----------
    who
        The rank, or the two ranks of the pair.
    last
        Fraction of the repetitions in which it finished last.
    ratio
        Median over the repetitions of its time over the median time of all parts.
    """

    who: Annotated[tuple[int, ...], "as ranks"]
    last: float
    ratio: float


def late(curve: Curve, hosts: Sequence[str] = ()) -> list[Participant]:
    """Return the stragglers among the ranks, or the pairs, of a curve.

    Parameters
    ----------
    curve
        Of any sweep; there are none where work differs by rank, or times are not known.
    hosts
        Of each rank; empty where not known.

    Returns
    -------
    list of Participant
        The latest first; always fewer than half of the peers.
    """
    times = curve.times
    if times is None or len(times) < MIN_REPETITIONS:
        return []
    # the delay of a healthy rank, as a fraction of the time of the others
    step = 0.0 if "pairs" in curve.key else 1 / int(np.log2(max(2, curve.p)))
    behind = {
        curve.who[column]
        for peers in _peers(curve, hosts)
        if len(peers) >= MIN_PEERS
        for column in _behind(times[:, peers], peers, step)
    }
    return [participant for participant in participants(curve) if participant.who in behind]


def participants(curve: Curve) -> list[Participant]:
    """Compare the ranks (or pairs) of a curve over all its repetitions, the slowest first.

    Empty where the samples do not hold the time of each.
    """
    times = curve.times
    if times is None or times.shape[1] < 2:
        return []
    middle = np.median(times, axis=1)
    ratio = np.median(times / np.where(middle > 0, middle, np.nan)[:, None], axis=0)
    last = np.bincount(times.argmax(axis=1), minlength=times.shape[1]) / len(times)
    order = np.argsort(-np.nan_to_num(ratio), kind="stable")
    return [Participant(curve.who[k], float(last[k]), float(ratio[k])) for k in order]


def _peers(curve: Curve, hosts: Sequence[str]) -> Iterator[list[int]]:
    """Yield groups of columns whose times may be compared with each other."""
    columns = list(range(len(curve.who)))
    if "threads" in curve.key:
        return  # those of a rank share the library, and wait for each other
    if "pairs" in curve.key:
        pair_hosts = [{hosts[rank] for rank in pair if rank < len(hosts)} for pair in curve.who]
        on_one_host = [
            k for k in columns if len(pair_hosts[k]) == 1 and "" not in pair_hosts[k]
        ]  # on one host
        yield on_one_host
        yield [k for k in columns if k not in on_one_host]
    elif curve.key.get("op") in EQUAL_WORK and curve.key.get("grid", "library") == "library":
        yield columns


def _behind(times: Floats, columns: Sequence[int], step: float) -> list[int]:
    """Return the columns beyond the widest gap in the later half, if it is wide enough."""
    middle = np.median(times, axis=1)
    relative = times / np.where(middle > 0, middle, np.nan)[:, None]
    if np.isnan(relative).all():
        return []
    ends = np.array([median_interval(column) for column in relative.T])
    order = np.argsort(ends[:, 0], kind="stable")
    low, high = ends[order].T
    # gaps between the intervals of medians, so that they are not chance
    gaps = low[1:] - np.maximum.accumulate(high)[:-1]
    first = len(order) // 2 + 1
    cut = first + int(np.argmax(gaps[first - 1 :]))
    spread = float(high[:cut].max() - low[:cut].min())
    wide = gaps[cut - 1] > max(CLEARLY, step, spread)
    return [columns[k] for k in order[cut:]] if wide else []
