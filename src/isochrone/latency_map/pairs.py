"""Pairs against their levels: which level each is on, medians by message size, the slowest."""

import numpy as np

from isochrone.base.record import Record
from isochrone.base.stats import median_of
from isochrone.latency_map.topology import Topology
from isochrone.latency_map.units import rank_pairs
from isochrone.runfile.run import Run
from isochrone.runfile.samples import counting


class Pair(Record):
    """One pair of ranks, compared with its level.

    Attributes
    ----------
    i, j
        The two ranks.
    level
        Number of its level.
    ratio
        Its round trip over the median of the level.
    seconds
        The round trip that counts.
    low, high
        Its 95 % interval in seconds; None where it is not known.
    first
        The round trip as first measured, in seconds.
    retested
        Whether the pair was measured again alone.
    """

    i: int
    j: int
    level: int
    ratio: float
    seconds: float
    low: float | None
    high: float | None
    first: float
    retested: bool


def medians(run: Run, what: str, nbytes: int, found: Topology) -> list[float]:
    """Return the median round trip of each level at another message size; NaN without a pair."""
    pairs = rank_pairs(run, what, nbytes)
    level = found.level_of(pairs.i, pairs.j)
    members = (pairs.seconds[level == k] for k in range(len(found.levels)))
    return [median_of(values) for values in members]


def slowest(run: Run, what: str, found: Topology, most: int) -> list[Pair]:
    """Return the pairs that are slowest for their level, the worst first."""
    pairs = found.pairs if what == run.statistic() else rank_pairs(run, what, found.nbytes)
    level = found.level_of(pairs.i, pairs.j)
    base = np.array([one.median for one in found.levels])
    ratio = np.nan_to_num(pairs.seconds / base[level])
    least = np.partition(ratio, -min(most, ratio.size))[-min(most, ratio.size)]
    worst = np.flatnonzero(ratio >= max(least, np.finfo(np.float64).tiny))
    worst = worst[np.argsort(-ratio[worst], kind="stable")][:most]
    table = run.pairs()
    ends: dict[tuple[int, int], tuple[float, float]] = {}
    if "low" in table and "high" in table:
        some = np.isin(table["i"], pairs.i[worst]) & np.isin(table["j"], pairs.j[worst])
        own = table.where(some & (table["bytes"] == found.nbytes))
        own = own.where(counting(own, ("i", "j", "bytes")))
        each = zip(*(own[key].tolist() for key in ("i", "j", "low", "high")), strict=True)
        ends = {(i, j): (low, high) for i, j, low, high in each}
    columns = (pairs.i, pairs.j, level, ratio, pairs.seconds, pairs.first, pairs.retested)
    rows = zip(*(column[worst].tolist() for column in columns), strict=True)
    return [
        Pair(i, j, own, over, seconds, low, high, first, again)
        for i, j, own, over, seconds, first, again in rows
        for low, high in [ends.get((i, j), (None, None))]
    ]
