"""Computation that was seen, as a description writes it: a time or a distribution, and who differs.

Which distribution it is, is decided by Akaike's criterion over the decade tenths in which gaps
were counted; where none of those tried comes near, the tenths themselves are the distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from isochrone.applications.traces.trace import Gap

FEW: Final = 20
"""Fewer gaps than these say nothing of a distribution."""

NARROW: Final = 1.25
"""Where the largest gap is not this many times the smallest one, they are a constant: a tenth of a
decade is as wide."""

ALIKE: Final = 0.05
"""Ranks whose means differ by less, relative, are not told apart."""

CHANCE: Final = 3.0
"""Standard errors by which a mean may be off by chance."""

FAR: Final = 0.08
"""Largest distance of the distribution functions of what was seen and what is written."""

Floats = NDArray[np.float64]


@dataclass
class Spent:
    """Computation of one rank at one place of each iteration: its gaps, and their mean together.

    The first gap gives the form; the mean of all of them the scale.
    """

    gaps: list[Gap]
    mean: float

    @classmethod
    def of(cls, gaps: Sequence[Gap]) -> Spent:
        """Put together gaps that follow each other."""
        found = sorted((g for g in gaps if g.count), key=lambda g: -g.mean)
        return cls(found[:1], sum(g.mean for g in found))

    def may_be(self, mean: float) -> bool:
        """Whether its mean may be this one: within `ALIKE`, or what chance explains."""
        count = sum(gap.count for gap in self.gaps)
        error = max(map(_deviation, self.gaps), default=0.0) / math.sqrt(max(count, 1))
        return abs(self.mean - mean) <= max(ALIKE * mean, CHANCE * error)

    def __add__(self, other: Spent) -> Spent:
        first, second = sorted((self, other), key=lambda spent: -spent.mean)
        return Spent(first.gaps, first.mean + second.mean)


def computation(spent: Mapping[int, Spent], ranks: int) -> dict[str, Any]:
    """Return the value of a key ``compute``: that of these ranks; the others compute nothing.

    Parameters
    ----------
    spent
        By rank; not empty.
    ranks
        Of the application.
    """
    means = {rank: one.mean for rank, one in spent.items()}
    base = _base(spent)
    pooled = Gap()
    scales: dict[int, float] = {}
    for one in spent.values():
        for gap in one.gaps:
            if one.may_be(base) and gap.mean > 0:
                pooled.add(gap)
    for rank, one in spent.items():
        if not one.may_be(base):
            scales[rank] = float(f"{means[rank] / base:.3g}")
    scales |= {rank: 0.0 for rank in range(ranks) if rank not in spent}
    found: dict[str, Any] = {"time": _distribution(pooled, base)}
    if scales:
        found["imbalance"] = {str(rank): scales[rank] for rank in sorted(scales)}
    return found


def seconds(value: float) -> str:
    """Write a time with its unit, to four digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.4g}{unit}"
    return f"{value / 1e-9:.4g}ns"


def _base(spent: Mapping[int, Spent]) -> float:
    """Return the mean of the largest group of ranks that are alike."""
    best, members = 0.0, 0.0
    for one in spent.values():
        group = [other for other in spent.values() if other.may_be(one.mean)]
        if one.mean > 0 and len(group) > members:
            best, members = sum(other.mean for other in group) / len(group), len(group)
    return best


def _deviation(gap: Gap) -> float:
    middles, counts = _middles(gap)
    return float(np.sqrt(np.average((middles - gap.mean) ** 2, weights=counts)))


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
    narrow = len(gap.tenths) == 1 or gap.most <= NARROW * gap.least
    if gap.count < FEW or narrow or gap.mean <= 0:
        return seconds(mean)
    tenths, counts = _counted(gap)
    ends = np.append(10 ** (tenths / 10), 10 ** ((tenths + 1) / 10))
    best = min((_fit(f, gap, ends, counts) for f in _FAMILIES), key=lambda fit: fit[0])
    _, family, parameters = best
    far = _distance(family.cumulative, parameters, tenths, counts)
    if far <= FAR + 1 / math.sqrt(gap.count):
        return family.write(parameters, mean / family.mean(parameters))
    middles, counts = _middles(gap)
    scale = mean / gap.mean
    return {"empirical": {seconds(m * scale): int(c) for m, c in zip(middles, counts, strict=True)}}


@dataclass(frozen=True)
class _Family:
    """A family of distributions: its function, where to begin, its mean, how it is written."""

    cumulative: Callable[[Floats, Floats], Floats]
    mean: Callable[[Floats], float]
    begin: Callable[[float, float], list[float]]
    write: Callable[[Floats, float], Any]


def _normal_mean(of: Floats) -> float:
    mean, deviation = (float(v) for v in np.exp(of))
    z = -mean / deviation
    return mean + deviation * math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) / float(
        special.ndtr(-z)
    )


def _normal(x: Floats, of: Floats) -> Floats:
    """Cut at 0, as descriptions have it."""
    mean, deviation = np.exp(of)
    below = special.ndtr(-mean / deviation)
    return np.asarray((special.ndtr((x - mean) / deviation) - below) / (1 - below))


def _exponential(x: Floats, of: Floats) -> Floats:
    return np.asarray(-np.expm1(-x / np.exp(of[0])))


def _lognormal(x: Floats, of: Floats) -> Floats:
    return np.asarray(special.ndtr((np.log(x) - of[0]) / np.exp(of[1])))


def _gamma(x: Floats, of: Floats) -> Floats:
    return np.asarray(special.gammainc(np.exp(of[0]), x / np.exp(of[1])))


_FAMILIES: Final = (
    _Family(
        _normal, _normal_mean, lambda mean, dev: [math.log(mean), math.log(dev)],
        lambda of, scale: {"normal": {
            "mean": seconds(math.exp(of[0]) * scale), "stddev": seconds(math.exp(of[1]) * scale)}},
    ),
    _Family(
        _exponential, lambda of: math.exp(of[0]), lambda mean, dev: [math.log(mean)],
        lambda of, scale: {"exponential": {"mean": seconds(math.exp(of[0]) * scale)}},
    ),
    _Family(
        _lognormal, lambda of: math.exp(of[0] + math.exp(2 * of[1]) / 2),
        lambda mean, dev: [
            math.log(mean) - math.log1p((dev / mean) ** 2) / 2,
            math.log(math.log1p((dev / mean) ** 2)) / 2,
        ],
        lambda of, scale: {"lognormal": {
            "median": seconds(math.exp(of[0]) * scale), "sigma": float(f"{math.exp(of[1]):.4g}")}},
    ),
    _Family(
        _gamma, lambda of: math.exp(of[0] + of[1]),
        lambda mean, dev: [math.log((mean / dev) ** 2), math.log(dev**2 / mean)],
        lambda of, scale: {"gamma": {
            "shape": float(f"{math.exp(of[0]):.4g}"), "scale": seconds(math.exp(of[1]) * scale)}},
    ),
)  # fmt: skip


def _fit(
    family: _Family, gap: Gap, ends: Floats, counts: Floats
) -> tuple[float, _Family, Floats]:  # fmt: skip
    """Return Akaike's criterion, the family and its most likely parameters."""
    begin = np.array(family.begin(gap.mean, max(_deviation(gap), 1e-3 * gap.mean)))
    half = len(counts)

    def surprise(of: Floats) -> float:
        with np.errstate(all="ignore"):
            share = family.cumulative(ends[half:], of) - family.cumulative(ends[:half], of)
            found = -float(counts @ np.log(np.maximum(share, 1e-12)))
        return found if math.isfinite(found) else 1e300

    found = optimize.minimize(surprise, begin, method="Nelder-Mead", options={"maxiter": 200})
    return 2 * float(found.fun) + 2 * len(begin), family, found.x


def _distance(
    cumulative: Callable[[Floats, Floats], Floats], of: Floats, tenths: Floats, counts: Floats
) -> float:
    """Return how far two distribution functions are apart at the ends of the tenths."""
    seen = np.cumsum(counts) / counts.sum()
    return float(np.abs(cumulative(10 ** ((tenths + 1) / 10), of) - seen).max())
