"""Which cores and pairs of cores of one node are slow: those unlike their peers.

    log t_ij = time of the level + effect of the group + effects of both cores + the pair's own

The effects are medians: of cores, in turn until they settle (median polish: Tukey 1977,
*Exploratory data analysis*, chapter 11), then of groups. A core is compared with the cores of its
kind, a pair with the pairs of its level: it is slow if it is beyond what the scatter among these
explains, by chance.
"""

from functools import cached_property

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.record import Record
from isochrone.base.stats import Groups, distinct, median_of, outlier_limit, row_medians
from isochrone.latency_map.cores import (
    CoreHierarchies,
    Fit,
    alike,
    few,
    middle_of_kind,
    scatter,
    scatter_freedom,
)
from isochrone.latency_map.explained_map import Half
from isochrone.latency_map.explanation import LEAVING, Explanation, Part
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import level_of
from isochrone.latency_map.thresholds import (
    CORE_LEAST,
    FALSE_NAMING_RATE,
    MAX_FIT_STEPS,
    MIN_EFFECT_RATIO,
    MIN_MEDIAN_VALUES,
    MIN_PEERS,
    MIN_SLOWDOWN,
    PAIR_LEAST,
    PAIRS_OFF,
    USUAL_FREEDOM,
)


class CoreEffects(Record):
    """What the cores of one node, and their pairs, take beyond their levels.

    Attributes
    ----------
    slow, ratios, certainty
        The slow cores; how many times as long each takes; in standard deviations of its peers.
    expected
        Time of each pair by levels, groups and cores, in seconds.
    slow_pairs
        Pairs that are slow by themselves.
    unexplained
        Whether each pair is far off although nothing is named there.
    spread
        Standard deviation of the pairs' own effects, in log time.
    """

    slow: Ints
    ratios: Floats
    certainty: Floats
    expected: Floats
    slow_pairs: Ints
    unexplained: Bools
    spread: float


def core_effects(times: Times, fit: Fit) -> CoreEffects:
    """Return which cores and pairs are slow, given their hierarchy.

    Parameters
    ----------
    times
        The pairs of one node.
    fit
        What `cores.CoreHierarchies` finds.
    """
    level = level_of(fit.chain, times.i, times.j)
    log = np.log(times.seconds)
    cells = Groups(alike(times, fit.chain))
    excess = log - cells.of_each(cells.medians(log))
    matrix = np.full((times.units, times.units), np.nan)
    matrix[times.i, times.j] = matrix[times.j, times.i] = excess
    effect = np.zeros(times.units)
    for step in range(MAX_FIT_STEPS):
        middles = row_medians(matrix - effect)
        middles = np.nan_to_num(middles - median_of(middles))
        effect = (effect + middles) / 2 if step else middles
    off = effect - middle_of_kind(effect, fit.chain[0])
    group, odd = _of_groups(times, excess - effect[times.i] - effect[times.j], fit, level)
    is_slow = _beyond_peers(off)
    slow = np.flatnonzero(is_slow)
    residual = _own(times, excess - group, level, effect, np.where(is_slow, off, 0.0))
    expected = times.seconds / np.exp(residual)
    free = ~(np.isin(times.i, slow) | np.isin(times.j, slow))
    pairs, unexplained = _pairs_off(times, residual, level, free)
    # the middle pairs of a level are not slow, however fast their cores are else
    pairs = pairs[excess[pairs] > np.log1p(MIN_SLOWDOWN)]
    pairs = pairs[_longer_than_others(times, times.seconds - expected, pairs)]
    return CoreEffects(
        slow,
        np.exp(off[slow]),
        off[slow] / scatter(off),
        expected,
        pairs,
        unexplained | odd,
        scatter(residual),
    )


def _own(times: Times, excess: Floats, level: Ints, effect: Floats, slow: Floats) -> Floats:
    """Return the log time of each pair beyond its level, its group, and its cores.

    The place of a core on the chip matters to far pairs, and often not to near ones, such as
    siblings. So on each level, the effects of healthy cores count if they make it scatter less.
    """
    excess = excess - slow[times.i] - slow[times.j]
    healthy = effect - slow
    residual = excess - healthy[times.i] - healthy[times.j]
    for k in distinct(level):
        on_level = level == k
        spread, without = (
            scatter(beyond[on_level] - median_of(beyond[on_level])) for beyond in (residual, excess)
        )
        if without < spread:
            residual[on_level] = excess[on_level]
    return residual


def _longer_than_others(times: Times, extra: Floats, pairs: Ints) -> Bools:
    """Return which pairs take more extra seconds than all other pairs of either of their cores.

    Interrupts add time, and no factor. They are seen best where round trips are short: as a slow
    pair of the boot core with its sibling.
    """
    others = np.delete(np.arange(len(extra)), pairs)
    max_extra = np.zeros(times.units)
    for ends in (times.i, times.j):
        np.maximum.at(max_extra, ends[others], extra[others])
    return np.asarray(
        extra[pairs] > np.maximum(max_extra[times.i[pairs]], max_extra[times.j[pairs]])
    )


def _beyond_peers(off: Floats) -> Bools:
    """Return which effects are beyond those of their peers; none if they are another kind."""
    freedom = USUAL_FREEDOM + scatter_freedom(len(off))
    limit = max(outlier_limit(len(off), freedom, FALSE_NAMING_RATE) * scatter(off), CORE_LEAST)
    return few((off > limit) | _apart(off, CORE_LEAST))


def _apart(off: Floats, least: float, most: int = 1) -> Bools:
    """Return which, and at most how many, are far off all others.

    Places on a chip are no tail of a normal distribution, but bounded, and protocols of caches make
    long tails. So what is beyond them is found by the gap to the next.
    """
    order = np.argsort(-off)
    for count in range(min(most, len(off) - MIN_PEERS + 1), 0, -1):
        last, other = off[order[count - 1 : count + 1]]
        if last > max(MIN_EFFECT_RATIO * other, least):
            return np.asarray(off >= last)
    return np.zeros(len(off), dtype=bool)


def _of_groups(times: Times, residual: Floats, fit: Fit, level: Ints) -> tuple[Floats, Bools]:
    """Return the effect of the group of each pair, and whether it is beyond groups of its size."""
    effect, odd = np.zeros(len(residual)), np.zeros(len(residual), dtype=bool)
    for k, partition in enumerate(fit.chain[:-1]):
        on_level = np.flatnonzero(level == k)
        inside = Groups(partition[times.i[on_level]])
        middles = np.where(
            inside.size >= MIN_MEDIAN_VALUES, inside.medians(residual[on_level]), 0.0
        )
        effect[on_level] = inside.of_each(middles)
        size = np.bincount(partition)[inside.keys]
        for group_size in distinct(size):
            peers = np.flatnonzero(size == group_size)
            if len(peers) >= MIN_PEERS:
                slow = peers[_beyond_peers(middles[peers] - median_of(middles[peers]))]
                odd[on_level[np.isin(partition[times.i[on_level]], inside.keys[slow])]] = True
    return effect, odd


def _pairs_off(times: Times, residual: Floats, level: Ints, free: Bools) -> tuple[Ints, Bools]:
    """Return the pairs that are slow by themselves, and whether others are far off, too."""
    slow, unexplained = np.zeros((2, len(residual)), dtype=bool)
    # the effects of the cores were fitted to the same pairs
    left = max(1 - times.units / len(residual), 1 / len(residual))
    for k in distinct(level[free]):
        candidates = np.flatnonzero((level == k) & free)
        off = residual[candidates]
        slow[candidates] = _apart(off, PAIR_LEAST, PAIRS_OFF)
        freedom = USUAL_FREEDOM + scatter_freedom(len(candidates)) * left
        sigma = np.hypot(scatter(off / np.sqrt(left)), times.error[candidates])
        limit = outlier_limit(len(residual), freedom, FALSE_NAMING_RATE) * sigma
        unexplained[candidates] = off > np.maximum(limit, PAIR_LEAST)
    return np.flatnonzero(slow), unexplained & ~slow


class CoreHalf(Half):
    """The pairs of ranks of one node, explained by levels of cores and by the effect of each."""

    few = 0.0  # only pairs that are far off are unexplained
    part_errors = 0.0  # cores are judged by how their peers scatter already

    @cached_property
    def _cores(self) -> tuple[Fit, CoreEffects]:
        fit = CoreHierarchies(self.times, self._recorded).shortest()
        return fit, core_effects(self.times, fit)

    @cached_property
    def fit(self) -> Explanation:
        """The explanation: a slow core takes longer by a factor, near and far."""
        fit, effects = self._cores
        farthest = float(np.nanmax(fit.base))
        added = (effects.ratios - 1) * farthest
        slow = tuple(Part(LEAVING, (k,), scaled=True) for k in effects.slow.tolist())
        return Explanation(
            fit.chain,
            fit.base,
            slow,
            added,
            effects.expected,
            effects.spread,
            fit.length,
            np.nan_to_num(fit.base / farthest),
            np.ones(len(slow)),
            added / effects.certainty,
        )

    @property
    def unexplained(self) -> Bools:
        """Whether each pair is far off its level and cores, and not named for that."""
        return self._cores[1].unexplained

    def standing_out(self) -> Ints:
        """Return the pairs that are slow by themselves."""
        return self._cores[1].slow_pairs
