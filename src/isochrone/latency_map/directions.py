"""What is slower in one direction than in the other: links, and nodes that send or receive.

The log ratio of both directions of a link is antisymmetric. What a node adds to it as a sender or a
receiver is the median over its links; a link is off if it differs from what its two ends add. Both
are compared with their peers: clocks that disagree a little shift all links of a node, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from isochrone.base.arrays import Bools
from isochrone.base.stats import (
    MAD_EFFICIENCY,
    MEDIAN_LOSS,
    Q80_TO_SIGMA,
    Groups,
    mad,
    outlier_limit,
    quantile,
)
from isochrone.latency_map.pairs import RankPairs
from isochrone.latency_map.partitions import Partition
from isochrone.latency_map.thresholds import FALSE_NAMING_RATE, MIN_PEERS, MIN_SPREAD


class Direction(NamedTuple):
    """Something that is slow in one direction.

    ``kind`` is ``sender``, ``receiver`` or ``direction``: that is a link, from the first of its
    ``units`` to the second. ``pairs`` are the pairs of ranks that it concerns, ``forward`` whether
    the slow messages of each are those from i to j. ``skew`` is the log ratio of both directions
    beyond what its peers show, and ``error`` the standard error of that.
    """

    kind: str
    units: tuple[int, ...]
    pairs: Bools
    forward: Bools
    skew: float
    error: float


def slow_directions(pairs: RankPairs, node: Partition) -> Iterator[Direction]:
    """Yield what is slow in one direction; nothing of fewer than `MIN_PEERS` nodes.

    Parameters
    ----------
    pairs
        The map.
    node
        Node of each rank; links of ranks of one node are left out.
    """
    a, b = node[pairs.i], node[pairs.j]
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.log(pairs.forward / pairs.reverse) * np.where(a < b, 1, -1)
    both = np.isfinite(skew) & (a != b)
    count = int(node.max()) + 1
    if count < MIN_PEERS or not both.any():
        return
    low, high = np.minimum(a, b), np.maximum(a, b)
    links = Groups((low * count + high)[both])
    link_skew, (first, second) = links.medians(skew[both]), np.divmod(links.keys, count)
    ends = Groups(np.concatenate([first, second]))
    middle, partners = np.zeros(count), np.zeros(count, dtype=np.int64)
    middle[ends.keys] = ends.medians(np.concatenate([link_skew, -link_skew]))
    partners[ends.keys] = ends.size
    rest = link_skew - middle[first] + middle[second]
    spread = max(mad(rest), MIN_SPREAD)

    errors = np.hypot(mad(middle), MEDIAN_LOSS * spread / np.sqrt(np.maximum(partners, 1)))
    limit = outlier_limit(count, MAD_EFFICIENCY * count, FALSE_NAMING_RATE) * errors
    for unit in np.flatnonzero((np.abs(middle) > limit) & (partners >= MIN_PEERS - 1)).tolist():
        sends = bool(middle[unit] > 0)
        mask, forward = both & ((a == unit) | (b == unit)), (a == unit) == sends
        kind = "sender" if sends else "receiver"
        yield Direction(kind, (unit,), mask, forward, abs(middle[unit]), errors[unit])
    usual = max(spread, Q80_TO_SIGMA * quantile(np.abs(rest), 0.8))
    freedom = MAD_EFFICIENCY * max(len(rest) - count, 1)
    off = np.abs(rest) > outlier_limit(len(rest), freedom, FALSE_NAMING_RATE) * usual
    for k in np.flatnonzero(off):
        sender, receiver = (int(first[k]), int(second[k]))[:: 1 if rest[k] > 0 else -1]
        mask = both & (low == first[k]) & (high == second[k])
        yield Direction("direction", (sender, receiver), mask, a == sender, abs(rest[k]), usual)
