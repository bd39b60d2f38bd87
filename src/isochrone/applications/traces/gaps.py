"""Computation that was seen, as a description writes it: a time or a distribution, and who differs.

Gaps are counted in tenths of decades. Where a lognormal distribution of their mean and deviation
comes near, that is written; elsewhere the tenths themselves are the distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log1p, sqrt
from typing import Any

import numpy as np
from scipy import special

from isochrone.applications.traces.trace import Event, Gap
from isochrone.base.arrays import Floats

FEW = 20
"""Fewer gaps than these say nothing of a distribution."""

NARROW = 1.25
"""Where the largest gap is not this many times the smallest one, they are a constant: a tenth of a
decade is as wide."""

STEADY = 0.05
"""Standard deviation, relative, below which gaps are a constant."""

ALIKE = 0.01
"""Ranks whose means differ by less, relative, are not distinguished."""

VARIES = 0.02
"""Visits that differ by less, relative, have no schedule."""

LONGEST = 256
"""Factors of a schedule that are written down."""

SAME = 0.45
"""Largest distance of the distributions of ranks that compute in common, times the square root of
the number of gaps; of those that draw for themselves it is 0.8 in the mean (Kolmogorov)."""

CHANCE = 3.0
"""Standard errors by which a mean may be off by chance."""

FAR = 0.04
"""Largest distance of the distribution functions of what was seen and what is written."""


@dataclass
class Spent:
    """Computation of one rank at one place: its mean, and the gaps that give its form.

    Attributes
    ----------
    gap
        Of several gaps that follow each other, the longest one.
    mean
        Seconds of all of them together.
    each
        If it is of several visits: the mean of each.
    """

    gap: Gap
    mean: float
    each: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, events: Sequence[Event]) -> Spent:
        """Put together what was computed before calls that follow each other."""
        longest = max(events, key=lambda event: event.gap, default=None)
        gap = Gap()
        if longest is not None and longest.seen is not None:
            gap = longest.seen
        elif longest is not None:
            gap.note(longest.gap)
        return cls(gap, sum(event.gap for event in events))

    @classmethod
    def pooled(cls, visits: Sequence[Spent]) -> Spent:
        """Take visits of the same place together."""
        counts = Counter(id(visit.gap) for visit in visits)
        gaps = {id(visit.gap): visit.gap for visit in visits}
        whole = Gap()
        for key, gap in gaps.items():
            if gap.count:
                whole.add(gap, counts[key] / gap.count)
        each = [visit.mean for visit in visits]
        return cls(whole, sum(each) / max(len(each), 1), each)

    def error(self, known: float = 0.0) -> float:
        """Return the standard error of its mean; `known` is a relative variance of no chance."""
        count = self.gap.count
        if count <= 1:
            return 0.0
        return sqrt(max(_deviation(self.gap) ** 2 - known * self.mean**2, 0.0) / count)

    def may_be(self, mean: float, known: float = 0.0) -> bool:
        """Whether its mean may be this one: within `ALIKE`, or what chance explains."""
        return abs(self.mean - mean) <= max(ALIKE * mean, CHANCE * self.error(known))

    def scaled(self, factor: float) -> Spent:
        """Return so many times as much."""
        return Spent(self.gap, self.mean * factor, [factor * one for one in self.each])

    def every(self, first: int, count: int, turns: int) -> Spent:
        """Return its visits from `first` on, `count` in a row of each `turns` times as many."""
        if not self.each or len(self.each) % (turns * count):
            return self
        of = np.array(self.each).reshape(-1, turns * count)[:, first : first + count]
        return Spent(self.gap, float(of.mean()), of.ravel().tolist())

    def __add__(self, other: Spent) -> Spent:
        first, second = sorted((self, other), key=lambda spent: -spent.mean)
        if len(self.each) == len(other.each):
            each = [a + b for a, b in zip(self.each, other.each, strict=True)]
        else:
            each = [one + second.mean for one in first.each]
        return Spent(first.gap, first.mean + second.mean, each)


NOTHING = Spent(Gap(), 0.0)


def noise(recordings: Sequence[Mapping[int, Spent]]) -> float:
    """Return the largest relative standard error of the mean over ranks of several recordings.

    In what visits differ in the mean over recordings is no chance. Ranks whose means differ by less
    than their own errors say vary in common; those that differ by more are a sample of ranks.
    """
    all_ranks = [[one for one in spent.values() if one.mean > 0] for spent in recordings]
    known = 0.0
    visits = {len(one.each) for ranks in all_ranks for one in ranks}
    if len(visits) == 1 and all(visits) and all(all_ranks):
        shares = np.array([np.mean([one.each for one in ranks], axis=0) for ranks in all_ranks])
        known = float(np.var((shares / shares.mean(axis=1, keepdims=True)).mean(axis=0)))
    found = [0.0]
    for ranks in filter(None, all_ranks):
        means = [one.mean for one in ranks]
        squared = np.mean([one.error(known) ** 2 for one in ranks])
        spread = np.var(means)
        squared = max(squared - spread, max(squared, spread) / len(ranks))
        found.append(float(np.sqrt(squared) / np.mean(means)))
    return max(found)


def computation(spent: Mapping[int, Spent], ranks: int, period: int = 1) -> dict[str, Any]:
    """Return the value of a key ``compute``: that of these ranks; the others compute nothing.

    Parameters
    ----------
    spent
        By rank; not empty.
    ranks
        Of the application.
    period
        Visits after which it may repeat: turns of the loop around it. 0: it has no schedule.
    """
    schedule = _schedule(list(spent.values()), period) if period else []
    known = float(np.var(schedule or [1.0]))
    base = _base(spent, known)
    alike = [one for one in spent.values() if one.may_be(base, known) and one.gap.mean > 0]
    scales = {
        rank: float(f"{one.mean / base:.4g}")
        for rank, one in spent.items() if not one.may_be(base, known)
    }  # fmt: skip
    scales |= {rank: 0.0 for rank in range(ranks) if rank not in spent}
    if period and not schedule:
        schedule = _in_common(alike)
    pooled = Gap()
    for one in alike:
        pooled.add(one.gap)
    found = {"time": seconds(base) if schedule else _distribution(pooled, base)}
    if schedule:
        found["schedule"] = [float(f"{factor:.4g}") for factor in schedule]
    if scales:
        found["imbalance"] = {str(rank): scales[rank] for rank in sorted(scales)}
    return found


def _schedule(spent: Sequence[Spent], period: int) -> list[float]:
    """Return factors of visits in turn, in which all ranks are longer or shorter together.

    Empty if visits are alike, or nothing is known of the single ones.
    """
    visits = {len(one.each) for one in spent if one.mean > 0}
    if len(visits) != 1 or max(visits) < 2:
        return []
    (count,) = visits
    means = np.array([one.each for one in spent if one.mean > 0])
    common = means.sum(axis=0) / means.sum() * count
    for length in sorted({*range(2, 13), period, count}):
        if 1 < length <= LONGEST and count % length == 0:
            turns = common.reshape(-1, length)
            found = turns.mean(axis=0)
            if np.std(found) > VARIES and np.abs(turns - found).max() <= np.ptp(found) / 2:
                away = means / np.maximum(means.mean(axis=1, keepdims=True), 1e-12)
                noise = float(np.std(away - np.tile(found, count // length)))
                if np.std(found) > noise:
                    return [float(value) for value in found / found.mean()]
    return []


def _in_common(spent: Sequence[Spent]) -> list[float]:
    """Return factors that all ranks have in common, if their gaps are more alike than by chance.

    What each rank draws for itself differs in how many gaps fall in each tenth, by the square root
    of their number. Ranks that compute the same longer or shorter at the same time do not. When
    each comes is not known: the factors are spread evenly.
    """
    gaps = [one.gap for one in spent]
    if len(gaps) < 2 or min(gap.count for gap in gaps) < FEW:
        return []
    tenths = sorted(set().union(*(gap.tenths for gap in gaps)))
    if any(_narrow(gap) for gap in gaps):
        return []
    counts = np.array([[gap.tenths.get(tenth, 0) for tenth in tenths] for gap in gaps])
    # A gap near the end of a tenth falls on either side: sums up to each tenth are compared.
    reached = np.cumsum(counts, axis=1) / counts.sum(axis=1, keepdims=True)
    away = np.abs(reached - reached.mean(axis=0)).max()
    if away > SAME / sqrt(counts.sum(axis=1).min()):
        return []
    whole = Gap()
    for gap in gaps:
        whole.add(gap)
    middles, shares = _middles(whole)
    reached = np.cumsum(shares) / shares.sum()
    spread = _deviation(whole)
    for number in range(2, MOST_IN_COMMON + 1):
        places = (np.arange(number) + 0.5) / number
        found = middles[np.minimum(np.searchsorted(reached, places), len(middles) - 1)]
        mean_off = abs(found.mean() - whole.mean) / whole.mean
        if mean_off < VARIES / 10 and abs(np.std(found) - spread) < 5 * VARIES * spread:
            break
    order = np.argsort(np.arange(number) * _GOLDEN % 1.0)
    mixed = np.empty(number)
    mixed[order] = found
    return [float(value) for value in mixed / mixed.mean()]


MOST_IN_COMMON = 64
"""Factors of a schedule whose order is not known."""

_GOLDEN = (sqrt(5) - 1) / 2


def seconds(value: float) -> str:
    """Write a time with its unit, to four digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.4g}{unit}"
    return f"{value / 1e-9:.4g}ns"


def _base(spent: Mapping[int, Spent], known: float) -> float:
    """Return the mean of the largest group of ranks that are alike."""
    best, members = 0.0, 0.0
    for one in spent.values():
        group = [other for other in spent.values() if other.may_be(one.mean, known)]
        if one.mean > 0 and len(group) > members:
            best, members = sum(other.mean for other in group) / len(group), len(group)
    return best


def _deviation(gap: Gap) -> float:
    middles, counts = _middles(gap)
    return float(np.sqrt(np.average((middles - gap.mean) ** 2, weights=counts)))


def _narrow(gap: Gap) -> bool:
    """Whether gaps are as good as constant."""
    alike = len(gap.tenths) <= 1 or gap.most <= NARROW * gap.least
    return alike or _deviation(gap) < STEADY * gap.mean


def _counted(gap: Gap) -> tuple[Floats, Floats]:
    """Return the tenths that hold gaps, and how many each holds."""
    tenths, counts = np.array(sorted(gap.tenths.items()), dtype=float).T
    return tenths, counts


def _middles(gap: Gap) -> tuple[Floats, Floats]:
    """Return the values that stand for the tenths, and how many gaps each holds."""
    tenths, counts = _counted(gap)
    low = np.maximum(10 ** (tenths / 10), gap.least)
    high = np.minimum(10 ** ((tenths + 1) / 10), gap.most)
    middles = np.sqrt(np.maximum(low, 1e-12) * np.maximum(high, 1e-12))
    return middles * (gap.total / max(float(middles @ counts), 1e-30)), counts


def _distribution(gap: Gap, mean: float) -> Any:
    """Return a time, or a mapping that names a distribution, with this mean."""
    if gap.count < FEW or gap.mean <= 0 or _narrow(gap):
        return seconds(mean)
    tenths, counts = _counted(gap)
    variance = log1p((_deviation(gap) / gap.mean) ** 2)
    ends = np.log(10 ** ((tenths + 1) / 10) / gap.mean)
    expected = special.ndtr((ends + variance / 2) / sqrt(variance))
    if np.abs(expected - np.cumsum(counts) / counts.sum()).max() <= FAR + 1 / sqrt(gap.count):
        sigma = float(f"{sqrt(variance):.4g}")
        return {"lognormal": {"median": seconds(mean * exp(-variance / 2)), "sigma": sigma}}
    middles, counts = _middles(gap)
    scale = mean / gap.mean
    return {"empirical": {seconds(m * scale): int(c) for m, c in zip(middles, counts, strict=True)}}
