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

from isochrone.applications.thresholds import (
    EQUAL_MEANS,
    MAX_CONSTANT_RATIO,
    MAX_DISTRIBUTION_DISTANCE,
    MAX_MEAN_ERRORS,
    MIN_GAPS,
    STEADY,
    VARIES,
)
from isochrone.applications.traces.trace import Event, Gap
from isochrone.base.arrays import Floats

MAX_SCHEDULE = 256
"""Factors of a schedule that are written down."""


Written = dict[str, Any]
"""Part of a description, as plain data."""

Number = int | str
"""A number of a description: a whole one, or an expression."""


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
        total = Gap()
        for key, gap in gaps.items():
            if gap.count:
                total.add(gap, counts[key] / gap.count)
        means = [visit.mean for visit in visits]
        return cls(total, sum(means) / max(len(means), 1), means)

    def error(self, common: float = 0.0) -> float:
        """Return the standard error of its mean; `common` is a relative variance of no chance."""
        count = self.gap.count
        if count <= 1:
            return 0.0
        return sqrt(max(_deviation(self.gap) ** 2 - common * self.mean**2, 0.0) / count)

    def may_be(self, mean: float, common: float = 0.0) -> bool:
        """Whether its mean may be this one: within `EQUAL_MEANS`, or what chance explains."""
        return abs(self.mean - mean) <= max(
            EQUAL_MEANS * mean, MAX_MEAN_ERRORS * self.error(common)
        )

    def scaled(self, factor: float) -> Spent:
        """Return so many times as much."""
        return Spent(self.gap, self.mean * factor, [factor * mean for mean in self.each])

    def every(self, first: int, count: int, turns: int) -> Spent:
        """Return its visits from `first` on, `count` in a row of each `turns` times as many."""
        if not self.each or len(self.each) % (turns * count):
            return self
        of = np.array(self.each).reshape(-1, turns * count)[:, first : first + count]
        return Spent(self.gap, float(of.mean()), of.ravel().tolist())

    def __add__(self, other: Spent) -> Spent:
        first, second = sorted((self, other), key=lambda spent: -spent.mean)
        if len(self.each) == len(other.each):
            means = [a + b for a, b in zip(self.each, other.each, strict=True)]
        else:
            means = [mean + second.mean for mean in first.each]
        return Spent(first.gap, first.mean + second.mean, means)


NOTHING = Spent(Gap(), 0.0)


def in_turn(spent: Mapping[int, Spent]) -> dict[int, Spent]:
    """Let all ranks compute as long as the one whose turn it is; nothing if none takes turns.

    Before an operation of all ranks the others wait for it, as for the owner of a block in the
    factorisation of a matrix. All ranks must have their turn, at equal distances.
    """
    visits = {len(of_rank.each) for of_rank in spent.values()}
    if len(spent) < 2 or len(visits) > 1 or max(visits) <= len(spent):
        return {}
    means = np.array([of_rank.each for of_rank in spent.values()])
    steps = {*(np.diff(means.argmax(axis=0)) % len(spent)).tolist()}
    if len(steps) > 1 or 0 in steps:
        return {}
    longest, gap = means.max(axis=0), Gap()
    for seconds_of_turn in longest.tolist():
        gap.note(seconds_of_turn)
    return dict.fromkeys(spent, Spent(gap, gap.mean, longest.tolist()))


def noise(recordings: Sequence[Mapping[int, Spent]]) -> float:
    """Return the largest relative standard error of the mean over ranks of several recordings.

    In what visits differ in the mean over recordings is no chance. Ranks whose means differ by less
    than their own errors say vary in common; those that differ by more are a sample of ranks.
    """
    all_ranks = [
        [of_rank for of_rank in spent.values() if of_rank.mean > 0] for spent in recordings
    ]
    common = 0.0
    visits = {len(of_rank.each) for ranks in all_ranks for of_rank in ranks}
    if len(visits) == 1 and all(visits) and all(all_ranks):
        shares = np.array(
            [np.mean([of_rank.each for of_rank in ranks], axis=0) for ranks in all_ranks]
        )
        common = float(np.var((shares / shares.mean(axis=1, keepdims=True)).mean(axis=0)))
    errors = [0.0]
    for ranks in filter(None, all_ranks):
        means = [of_rank.mean for of_rank in ranks]
        squared = np.mean([of_rank.error(common) ** 2 for of_rank in ranks])
        spread = np.var(means)
        squared = max(squared - spread, max(squared, spread) / len(ranks))
        errors.append(float(np.sqrt(squared) / np.mean(means)))
    return max(errors)


def computation(spent: Mapping[int, Spent], ranks: int, period: int = 1) -> Written:
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
    common = float(np.var(schedule or [1.0]))
    base = _base(spent, common)
    alike = [
        of_rank
        for of_rank in spent.values()
        if of_rank.may_be(base, common) and of_rank.gap.mean > 0
    ]
    scales = {
        rank: float(f"{of_rank.mean / base:.4g}")
        for rank, of_rank in spent.items()
        if not of_rank.may_be(base, common)
    }
    scales |= {rank: 0.0 for rank in range(ranks) if rank not in spent}
    pooled = Gap()
    for of_rank in alike:
        pooled.add(of_rank.gap)
    written: Written = {"time": seconds(base) if schedule else _distribution(pooled, base)}
    if schedule:
        written["schedule"] = [float(f"{factor:.4g}") for factor in schedule]
    if scales:
        written["imbalance"] = {str(rank): scales[rank] for rank in sorted(scales)}
    return written


def plain(value: Written) -> str | Written:
    """Return a time alone, where nothing else is said."""
    return value["time"] if value.keys() == {"time"} and isinstance(value["time"], str) else value


def _schedule(spent: Sequence[Spent], period: int) -> list[float]:
    """Return factors of visits in turn, in which all ranks are longer or shorter together.

    Empty if visits are alike, or nothing is known of the single ones.
    """
    visits = {len(of_rank.each) for of_rank in spent if of_rank.mean > 0}
    if len(visits) != 1 or max(visits) < 2:
        return []
    (count,) = visits
    means = np.array([of_rank.each for of_rank in spent if of_rank.mean > 0])
    common = means.sum(axis=0) / means.sum() * count
    for length in sorted({*range(2, 13), period, count}):
        if 1 < length <= MAX_SCHEDULE and count % length == 0:
            turns = common.reshape(-1, length)
            factors = turns.mean(axis=0)
            if np.std(factors) > VARIES and np.abs(turns - factors).max() <= np.ptp(factors) / 2:
                away = means / np.maximum(means.mean(axis=1, keepdims=True), 1e-12)
                noise = float(np.std(away - np.tile(factors, count // length)))
                if np.std(factors) > noise:
                    return [float(value) for value in factors / factors.mean()]
    return []


def seconds(value: float) -> str:
    """Write a time with its unit, to four digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.4g}{unit}"
    return f"{value / 1e-9:.4g}ns"


def _base(spent: Mapping[int, Spent], common: float) -> float:
    """Return the mean of the largest group of ranks that are alike."""
    best, members = 0.0, 0.0
    for of_rank in spent.values():
        group = [member for member in spent.values() if member.may_be(of_rank.mean, common)]
        if of_rank.mean > 0 and len(group) > members:
            best, members = sum(member.mean for member in group) / len(group), len(group)
    return best


def _deviation(gap: Gap) -> float:
    middles, counts = _middles(gap)
    return float(np.sqrt(np.average((middles - gap.mean) ** 2, weights=counts)))


def _narrow(gap: Gap) -> bool:
    """Whether gaps are as good as constant."""
    alike = len(gap.tenths) <= 1 or gap.most <= MAX_CONSTANT_RATIO * gap.least
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


def _distribution(gap: Gap, mean: float) -> str | Written:
    """Return a time, or a mapping that names a distribution, with this mean."""
    if gap.count < MIN_GAPS or gap.mean <= 0 or _narrow(gap):
        return seconds(mean)
    tenths, counts = _counted(gap)
    variance = log1p((_deviation(gap) / gap.mean) ** 2)
    ends = np.log(10 ** ((tenths + 1) / 10) / gap.mean)
    expected = special.ndtr((ends + variance / 2) / sqrt(variance))
    if np.abs(
        expected - np.cumsum(counts) / counts.sum()
    ).max() <= MAX_DISTRIBUTION_DISTANCE + 1 / sqrt(gap.count):
        sigma = float(f"{sqrt(variance):.4g}")
        return {"lognormal": {"median": seconds(mean * exp(-variance / 2)), "sigma": sigma}}
    middles, counts = _middles(gap)
    scale = mean / gap.mean
    return {"empirical": {seconds(m * scale): int(c) for m, c in zip(middles, counts, strict=True)}}
