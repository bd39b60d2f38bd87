"""Pairs against their levels: which level each is on, medians by message size, the slowest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.latency_map.partitions import Partition, level_matrix
from isochrone.latency_map.topology import Level, Topology
from isochrone.runfile.run import Run


@dataclass(frozen=True)
class Pair:
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


def level_of_pairs(levels: Sequence[Level], size: int) -> NDArray[np.int8]:
    """Return the number of the level of every pair of ``size`` ranks, shape (size, size)."""
    return level_matrix([partition_of(level, size) for level in levels])


def partition_of(level: Level, size: int) -> Partition:
    """Give each rank the number of its group; a rank in none is a group of its own."""
    partition = np.arange(size) + len(level.groups)
    for k, group in enumerate(level.groups):
        partition[group] = k
    return partition


def medians(run: Run, what: str, nbytes: int, found: Topology) -> list[float]:
    """Return the median round trip of each level at another message size; NaN without a pair."""
    matrix = run.matrix(what, nbytes)
    level = np.where(np.triu(np.isfinite(matrix), 1), level_of_pairs(found.levels, run.size), -1)
    members = (matrix[level == k] for k in range(len(found.levels)))
    return [float(np.median(values)) if values.size else float("nan") for values in members]


def slowest(run: Run, what: str, found: Topology, most: int) -> list[Pair]:
    """Return the pairs that are slowest for their level, the worst first."""
    nbytes, table = found.nbytes, run.pairs()
    level = level_of_pairs(found.levels, run.size)
    first = run.matrix(what, nbytes, retested=False)
    final = run.matrix(what, nbytes)
    base = np.array([one.median for one in found.levels])
    ratio = np.triu(final / base[level], 1)
    ratio[~np.isfinite(ratio)] = 0.0
    least = np.partition(ratio, -min(most, ratio.size), axis=None)[-min(most, ratio.size)]
    worst = np.flatnonzero(ratio >= max(least, np.finfo(np.float64).tiny))
    worst = worst[np.argsort(-ratio.flat[worst], kind="stable")][:most]
    interval = "low" in table and "high" in table
    low, high = (run.matrix(key, nbytes) if interval else None for key in ("low", "high"))
    chosen = table.flag("retest") & (table["bytes"] == nbytes)
    again = set(zip(table["i"][chosen].tolist(), table["j"][chosen].tolist(), strict=True))
    return [
        Pair(
            i, j, int(level[i, j]), float(ratio[i, j]), float(final[i, j]),
            float(low[i, j]) if low is not None else None,
            float(high[i, j]) if high is not None else None,
            float(first[i, j]), (i, j) in again,
        )
        for i, j in np.transpose(np.unravel_index(worst, ratio.shape)).tolist()
        if ratio[i, j] > 0
    ]  # fmt: skip
