"""What is slower in one direction than in the other: links, and nodes that send or receive.

The log ratio of both directions of a link is antisymmetric. What a node adds to it as a sender or a
receiver is the median over its links; a link is off if it differs from what its two ends add. Both
are compared with their peers: clocks that disagree a little shift all links of a node, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.record import Record
from isochrone.base.stats import (
    MAD_EFFICIENCY,
    MEDIAN_LOSS,
    Q80_TO_SIGMA,
    Groups,
    mad,
    median_of,
    outlier_limit,
    quantile,
)
from isochrone.latency_map.explained_map import MIN_PEERS, PAIR_RATE
from isochrone.latency_map.fitting import MIN_SPREAD
from isochrone.latency_map.pairs import RankPairs
from isochrone.latency_map.partitions import Partition


class Direction(Record):
    """Something that is slow in one direction.

    Attributes
    ----------
    kind
        ``sender``, ``receiver`` or ``direction``, which is a link from one node to another.
    units
        The node, or the sending and the receiving one.
    pairs
        Which pairs of ranks it concerns.
    seconds, expected
        Medians of these pairs in seconds, in this direction and in the other.
    ratio, error
        Time of this direction over that of the other, beyond what its peers show; and the standard
        error of its logarithm.
    """

    kind: str
    units: tuple[int, ...]
    pairs: Bools
    seconds: float
    expected: float
    ratio: float
    error: float


class _Links(Record):
    """The links of which both directions were measured: ends, and log ratio of the directions."""

    i: Ints
    j: Ints
    skew: Floats

    def of_units(self, count: int) -> tuple[Floats, Ints]:
        """Return the median skew of the links of each unit, as a sender, and their number."""
        ends = Groups(np.concatenate([self.i, self.j]))
        middle, links = np.zeros(count), np.zeros(count, dtype=np.int64)
        middle[ends.keys] = ends.medians(np.concatenate([self.skew, -self.skew]))
        links[ends.keys] = ends.size
        return middle, links


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
    ways = Groups((low * count + high)[both])
    links = _Links(ways.keys // count, ways.keys % count, ways.medians(skew[both]))
    middle, partners = links.of_units(count)
    rest = links.skew - middle[links.i] + middle[links.j]
    spread = max(mad(rest), MIN_SPREAD)

    errors = np.hypot(mad(middle), MEDIAN_LOSS * spread / np.sqrt(np.maximum(partners, 1)))
    limit = outlier_limit(count, MAD_EFFICIENCY * count, PAIR_RATE) * errors
    for unit in np.flatnonzero((np.abs(middle) > limit) & (partners >= MIN_PEERS - 1)):
        kind = "sender" if middle[unit] > 0 else "receiver"
        mask = both & ((a == unit) | (b == unit))
        yield _direction(
            pairs,
            kind,
            (int(unit),),
            mask,
            (a == unit) == (kind == "sender"),
            float(abs(middle[unit])),
            float(errors[unit]),
        )
    usual = max(spread, Q80_TO_SIGMA * quantile(np.abs(rest), 0.8))
    freedom = MAD_EFFICIENCY * max(len(rest) - count, 1)
    off = np.abs(rest) > outlier_limit(len(rest), freedom, PAIR_RATE) * usual
    for k in np.flatnonzero(off):
        sender, receiver = (links.i[k], links.j[k])[:: 1 if rest[k] > 0 else -1]
        mask = both & (low == links.i[k]) & (high == links.j[k])
        yield _direction(
            pairs,
            "direction",
            (int(sender), int(receiver)),
            mask,
            a == sender,
            float(abs(rest[k])),
            usual,
        )


def _direction(
    pairs: RankPairs,
    kind: str,
    units: tuple[int, ...],
    mask: Bools,
    forward: Bools,
    skew: float,
    error: float,
) -> Direction:
    """Describe a slow direction, that of ``forward`` where this is true, else of ``reverse``."""
    there = np.where(forward, pairs.forward, pairs.reverse)[mask]
    back = np.where(forward, pairs.reverse, pairs.forward)[mask]
    return Direction(
        kind, units, mask, median_of(there), median_of(back), float(np.exp(skew)), error
    )
