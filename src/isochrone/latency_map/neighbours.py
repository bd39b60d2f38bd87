"""Hierarchies next to one that explains a map: a grouping less, another, split or merged."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.stats import distinct
from isochrone.latency_map.blocks import Blocks
from isochrone.latency_map.explanation import LEAVING, Explanation
from isochrone.latency_map.groupings import (
    cuts_of,
    cuts_within,
    dense,
    fitting_best,
    merged_within,
    split_or_merged,
)
from isochrone.latency_map.neighbouring_hierarchies import moved
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import Partition, canonical, is_grouping, nested

MOVED = 1500
"""Units of a map of which single ones are moved; more are ranks within nodes, which the machine has
recorded."""


def neighbours(
    fit: Explanation, times: Times, some: Times, noise: float, known: Iterable[Partition]
) -> Iterator[list[Partition]]:
    """Propose hierarchies, without the root, that differ in little from that of an explanation.

    Parameters
    ----------
    fit
        The explanation.
    times, some
        The map, and the pairs of it that hierarchies are compared on.
    noise
        Relative spread of the times.
    known
        Groupings that are proposed whatever the explanation.
    """
    chain = list(fit.chain[:-1])
    for k in range(len(chain)):
        yield chain[:k] + chain[k + 1 :]
    for k, (finer, coarser) in enumerate(pairwise(fit.chain)):
        for merged in merged_within(finer, coarser):
            yield [*chain[:k], merged, *chain[k + 1 :]]
            yield [*chain[:k], merged, *chain[k + 2 :]]
    if some.units <= MOVED:
        yield from moved(fit, some)
    groupings = {p.tobytes(): p for p in (*known, *_groupings(fit, times, noise))}
    for partition in groupings.values():
        if is_grouping(partition) and not any(np.array_equal(partition, p) for p in fit.chain):
            yield from with_grouping(chain, partition)
            yield from _alone(fit, partition)


def without_parts(fit: Explanation, times: Times) -> Iterator[Floats]:
    """Yield the times without what the parts add, and without what single units add."""
    if fit.parts:
        yield dense(times, fit.healthy(times))
    if any(map(fit.is_group, fit.parts)):
        yield dense(times, fit.healthy(times, units=True))


def _groupings(fit: Explanation, times: Times, noise: float) -> Iterator[Partition]:
    """Propose groupings from the times as they are, and without the parts."""
    if times.root.any():
        yield from cuts_within(times, fit.healthy(times))
        return
    if times.units < 4 or times.sparse:
        return
    for cleaned, matrix in enumerate([dense(times, times.seconds), *without_parts(fit, times)]):
        if cleaned:
            for cuts in cuts_of(matrix):
                yield from cuts
        for partition in fit.chain[:-1]:
            yield from split_or_merged(matrix, partition)
            yield fitting_best(matrix, Blocks(matrix, partition, noise))


def with_grouping(chain: Sequence[Partition], partition: Partition) -> Iterator[list[Partition]]:
    """Add a grouping to those it is nested with, and put it in the place of each of these."""
    keep = [p for p in chain if nested(p, partition)]
    yield _in_order([*keep, partition])
    for k in range(len(keep)):
        yield _in_order([*keep[:k], *keep[k + 1 :], partition])


def _alone(fit: Explanation, partition: Partition) -> Iterator[list[Partition]]:
    """Let a group with a slow way to it, which this grouping splits, be alone on a level.

    A slow way to one group and a level that only this group does not share look the same.
    """
    for part in fit.parts:
        if part.pattern == LEAVING and len(part.members) > 1:
            members = list(part.members)
            level = canonical(np.isin(np.arange(len(partition)), members).astype(np.int64))
            if len(distinct(partition[members])) > 1 and nested(partition, level):
                yield [partition, level]


def _in_order(partitions: Sequence[Partition]) -> list[Partition]:
    """Sort partitions, finest first."""
    return sorted(partitions, key=lambda p: -int(p.max()))
