"""The measured pairs of a map: of ranks, and one time between each two nodes.

What a single rank costs beyond the others of its node is taken off before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.record import Record
from isochrone.base.stats import (
    INTERVAL_WIDTH,
    MAD_TO_SIGMA,
    MEDIAN_LOSS,
    MEDIAN_WIDENING,
    Q80_TO_SIGMA,
    Groups,
    distinct,
    known,
    median_of,
    quantile,
)
from isochrone.base.table import Table
from isochrone.latency_map.partitions import Partition, canonical
from isochrone.latency_map.thresholds import (
    MIN_COST,
    MIN_MEDIAN_VALUES,
    MIN_PART_ERRORS,
    MIN_PARTNERS,
    READABLE,
)
from isochrone.runfile.clocks import clock_errors
from isochrone.runfile.run import DIRECTIONS, Run
from isochrone.runfile.samples import MARKS, counting

AT_ONCE = 1 << 21
"""Pairs of which the ranks are compared at once: bounds the memory."""


STEPS, MULTIPLES, NEAR_STEP, MANY_STEPS = 8, 5, 0.08, 1e4
"""Different times, and multiples of a step among them, that show it; the part of the step by which
they may be off; and the most steps."""


class Times(Record):
    """The measured pairs of a map of units, each once.

    Attributes
    ----------
    units
        Number of units.
    i, j
        Ends of each pair, ``i < j``.
    seconds
        Round trip of each pair.
    error
        Standard error of each, in log time.
    root
        Groups beyond which nothing was measured; all units in one where everything was.
    place
        Place of each unit by name, where so few pairs were measured that names are hypotheses.
    """

    units: int
    i: Ints
    j: Ints
    seconds: Floats
    error: Floats
    root: Partition
    place: Ints | None = None

    @property
    def sparse(self) -> bool:
        """Whether so few pairs of a whole map were measured that it does not show its groups."""
        return len(self.i) < READABLE * self.units * (self.units - 1) / 2

    @cached_property
    def _by_unit(self) -> tuple[Ints, Ints]:
        """The pairs ordered by their ends, and where those of each unit begin."""
        ends = np.concatenate([self.i, self.j])
        order = np.argsort(ends, kind="stable")
        return order % max(len(self.i), 1), np.searchsorted(ends[order], np.arange(self.units + 1))

    def of_unit(self, unit: int) -> Ints:
        """Return the pairs of a unit, in their order."""
        order, edges = self._by_unit
        return np.sort(order[edges[unit] : edges[unit + 1]])

    def some(self, limit: int) -> Times:
        """Return the nearest partners of each unit and an even draw of the other pairs.

        Itself if it has no more than ``limit`` pairs.
        """
        if len(self.i) <= limit:
            return self
        ends = np.concatenate([self.i, self.j])
        order = np.lexsort((np.tile(self.seconds, 2), ends))
        position = np.arange(len(order)) - np.searchsorted(ends[order], ends[order])
        nearest = order[position < MIN_PARTNERS] % len(self.i)
        drawn = np.random.default_rng(1).permutation(len(self.i))[:limit]
        chosen = distinct(np.concatenate([nearest, drawn]))
        return replace(
            self,
            i=self.i[chosen],
            j=self.j[chosen],
            seconds=self.seconds[chosen],
            error=self.error[chosen],
        )

    @property
    def nearest(self) -> Floats:
        """The shortest time of each unit; infinite of one without a pair."""
        nearest = np.full(self.units, np.inf)
        for end in (self.i, self.j):
            np.minimum.at(nearest, end, self.seconds)
        return nearest


class RankPairs(Record):
    """The pairs of ranks of a map, each once.

    Attributes
    ----------
    ranks
        Number of ranks.
    i, j
        The two ranks, ``i < j``.
    seconds, first
        Round trip that counts, and as it was first measured.
    error
        Standard error of the round trip by its own interval, in log time; 0 where not known.
    retested
        Whether it was measured again alone.
    high
        Upper end of the 95 % interval of the round trip in seconds; the round trip where not known.
    forward, reverse
        Seconds of a message from i to j, and from j to i, as even as errors of the clocks can make
        them; NaN where not known, empty if never.
    """

    ranks: int
    i: Ints
    j: Ints
    seconds: Floats
    first: Floats
    error: Floats
    retested: Bools
    high: Floats
    forward: Floats
    reverse: Floats


def rank_pairs(run: Run, statistic: str, nbytes: int) -> RankPairs:
    """Read the pairs of one message size; seconds by a statistic: the median or the mean."""
    table = run.pairs()
    keys = {"i", "j", statistic, "low", "high", *DIRECTIONS, *MARKS} & table.columns.keys()
    every = Table({key: table[key] for key in keys})  # the columns that are used here
    of_size = table["bytes"] == nbytes
    counts = every.where(
        counting(table, ("i", "j", "bytes")) & of_size & np.isfinite(table[statistic])
    )
    # a time of 0, which a coarse clock makes, is the smallest one it could see
    times = counts[statistic].astype(np.float64)  # whole numbers, where each is written as 0
    smallest = float(np.min(times, where=times > 0, initial=np.inf))
    smallest = smallest if np.isfinite(smallest) else 1e-9
    key, index = np.unique(_code(counts, run.size), return_index=True)
    again = counts.flag("retest")[index]
    seconds = np.maximum(times[index], smallest)
    clock = clock_step(seconds) / (np.sqrt(12) * seconds)  # of a value rounded to a step
    errors = np.hypot(_errors(counts, smallest)[index], clock)
    high = np.fmax(seconds, counts["high"][index]) if "high" in counts else seconds
    forward, reverse = (counts[key][index] if key in counts else np.zeros(0) for key in DIRECTIONS)
    if "forward" in counts:
        ends = (counts["i"][index], counts["j"][index])
        forward, reverse = _beyond_clocks(ends, forward, reverse, clock_errors(run))
    del counts, times, index  # a map may have millions of pairs
    first = seconds
    if again.any():
        once = every.where(of_size)
        once = once.where(~once.flag("retest"))
        once = once.where(np.isin(_code(once, run.size), key[again]))
        code, index = np.unique(_code(once, run.size), return_index=True)
        first = seconds.copy()
        first[np.searchsorted(key, code)] = once[statistic][index]
    return RankPairs(
        run.size,
        (key // run.size).astype("i4"),
        (key % run.size).astype("i4"),
        seconds,
        first,
        errors,
        again,
        high,
        forward,
        reverse,
    )


def _beyond_clocks(
    ends: tuple[Ints, Ints], forward: Floats, reverse: Floats, errors: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Take from both directions what `clock_errors` explain; NaN of ranks with too few pairs.

    A clock that is off by c lengthens one direction of each pair of its rank by c, and shortens the
    other. So as far as it can be off, the median over these pairs is taken for it.
    """
    steady, drift = errors
    skew = (forward - reverse) / 2
    measured = np.isfinite(skew)
    if steady + drift == 0 or not measured.any():
        return forward, reverse
    ranks = Groups(np.concatenate([end[measured] for end in ends]))
    off = np.full(1 + max(end.max() for end in ends), np.nan)
    medians = ranks.medians(np.concatenate([skew[measured], -skew[measured]]))
    off[ranks.keys] = np.where(
        ranks.size >= MIN_MEDIAN_VALUES, np.clip(medians, -steady, steady), np.nan
    )
    skew = skew - off[ends[0]] + off[ends[1]]
    skew = np.sign(skew) * np.maximum(np.abs(skew) - drift, 0)
    half = (forward + reverse) / 2
    return half + skew, half - skew


def _code(table: Table, size: int) -> Ints:
    """Return a number for each pair of ranks i < j."""
    return table["i"].astype(np.int64) * size + table["j"]


def _errors(table: Table, smallest: float) -> Floats:
    if "low" not in table or "high" not in table:
        return np.zeros(len(table))
    low, high = (np.asarray(table[name], dtype=np.float64) for name in ("low", "high"))
    width = np.log(np.maximum(np.maximum(high, low), smallest) / np.maximum(low, smallest))
    return np.nan_to_num(width) / INTERVAL_WIDTH


def clock_step(seconds: Floats) -> float:
    """Return the largest step of which all times are multiples, or nearly; 0 if there is none.

    That of the clock, or of the last digit that a program printed. By chance, `STEPS` times are as
    near to multiples of a step once in a million maps.
    """
    values = distinct(seconds)
    apart = np.diff(values)
    apart = apart[apart > NEAR_STEP * values[-1] / MANY_STEPS]
    if len(values) < STEPS or not len(apart):
        return 0.0
    for gap in (*np.sort(apart)[: -STEPS - 1 : -1], apart.min()):
        count = np.rint(values / gap)
        step = float(values @ count / (count @ count))
        near = np.abs(values / step - count).max() < NEAR_STEP
        if near and len(distinct(count)) >= MULTIPLES and count[-1] < MANY_STEPS:
            return step
    return 0.0


def slow_ranks(pairs: RankPairs, node: Partition) -> tuple[Floats, Floats]:
    """Return what each rank costs beyond the others of its node, and the standard error of that.

    Two ranks of a node meet a rank elsewhere over the same way, whatever is slow on it. So the
    difference of their times is that of their own costs: the median over all others. The cheapest
    ranks of a node cost nothing; what all of them cost is the node's.

    Parameters
    ----------
    pairs
        The map.
    node
        Node of each rank.
    """
    first_node, second_node = node[pairs.i], node[pairs.j]
    outer = first_node != second_node
    cost, error = np.zeros(pairs.ranks), np.full(pairs.ranks, np.inf)
    if not outer.any() or np.bincount(node).max() < 2:
        return cost, error
    middle, spread = np.full(pairs.ranks, np.nan), np.full(pairs.ranks, np.nan)
    count = int(node.max()) + 1
    step = max(1, int(count * AT_ONCE / (2 * len(pairs.i))))
    for low in range(0, count, step):  # some nodes after the other: less memory
        left = np.flatnonzero(outer & (first_node >= low) & (first_node < low + step))
        right = np.flatnonzero(outer & (second_node >= low) & (second_node < low + step))
        rank = np.concatenate([pairs.i[left], pairs.j[right]])
        partner = np.concatenate([pairs.j[left], pairs.i[right]])
        seconds = pairs.seconds[np.concatenate([left, right])]
        ways, by_rank = Groups(node[rank] * pairs.ranks + partner), Groups(rank)
        excess = seconds - ways.of_each(ways.medians(seconds))
        middle[by_rank.keys] = by_rank.medians(excess)
        scatter = MAD_TO_SIGMA * by_rank.medians(np.abs(excess - middle[rank]))
        spread[by_rank.keys] = MEDIAN_LOSS * scatter / np.sqrt(by_rank.size)
    typical = median_of(pairs.seconds[outer])
    median_spread = median_of(known(spread))
    for host in range(count):
        ranks = np.flatnonzero((node == host) & ~np.isnan(middle))
        if len(ranks) < 2:
            continue
        # a scatter of few values may be zero by luck: at least what is usual; and of two ranks one
        # is as far above their middle as the other is below, so their difference errs twice as much
        uncertain = 2 * np.maximum(spread[ranks], median_spread)
        sure = MIN_PART_ERRORS * uncertain
        cheap = middle[ranks] <= middle[ranks].min() + sure
        beyond = middle[ranks] - median_of(middle[ranks][cheap])
        slow = ~cheap & (beyond > MIN_COST * typical)
        cost[ranks[slow]] = beyond[slow]
        error[ranks] = uncertain
    return cost, error


def between_nodes(
    pairs: RankPairs, node: Partition, cost: Floats
) -> tuple[Times, float, Bools, Ints]:
    """Return one time between each two nodes: the median of their ranks', without these' costs.

    Parameters
    ----------
    pairs
        The map.
    node
        Node of each rank.
    cost
        What each rank costs by itself, in seconds.

    Returns
    -------
    times
        The pairs of nodes.
    spread
        Relative standard deviation of the pairs of ranks of two nodes; 0 where each has one.
    outer, position
        Which pairs of ranks are between nodes, and the position of each in ``times``.
    """
    outer = node[pairs.i] != node[pairs.j]
    count = int(node.max()) + 1
    ends = node[pairs.i[outer]], node[pairs.j[outer]]
    ways = Groups(np.minimum(*ends) * count + np.maximum(*ends))
    seconds = pairs.seconds[outer]
    added = cost[pairs.i[outer]] + cost[pairs.j[outer]]
    seconds = np.maximum(seconds - added, 0.1 * seconds)
    del ends, added
    node_pairs, times, together = ways.keys, ways.size, ways.medians(seconds)
    position = ways.of_each(np.arange(len(node_pairs)))
    # values lie nearer to the median of few than to the true one; two are as far from their mean
    widened = np.where(times == 2, np.sqrt(2), 1 + MEDIAN_WIDENING / times)
    deviation = np.abs(np.log(seconds / together[position])) * widened[position]
    deviation = deviation[times[position] > 1]
    spread = Q80_TO_SIGMA * quantile(deviation, 0.8) if deviation.size else 0.0
    pair_error = ways.medians(pairs.error[outer])
    several = np.where(times > 1, MEDIAN_LOSS, 1.0) / np.sqrt(times)
    error = np.hypot(spread, pair_error) * several
    root = np.zeros(count, dtype=np.int64)
    between = Times(count, node_pairs // count, node_pairs % count, together, error, root)
    return between, spread, outer, position


def within_nodes(pairs: RankPairs, node: Partition) -> Times:
    """Return the pairs of ranks that share a node."""
    inner = node[pairs.i] == node[pairs.j]
    i, j = (end[inner].astype(np.int64) for end in (pairs.i, pairs.j))
    return Times(pairs.ranks, i, j, pairs.seconds[inner], pairs.error[inner], node)


def nodes_of(hosts: Sequence[str]) -> Partition:
    """Return the node of each rank; each rank is one by itself where the hosts do not tell."""
    if not hosts_known(hosts):
        return np.arange(len(hosts))
    return canonical(np.unique(np.array(hosts), return_inverse=True)[1])


def hosts_known(hosts: Sequence[str]) -> bool:
    """Whether the recorded hosts distinguish the ranks: all have a name and not all the same."""
    return all(hosts) and len(set(hosts)) > 1
