"""The explanation of a map: a time for each level, and what the slow parts add.

t_ij = base[level(i, j)] + the sum over the parts of x_k · w_k(i, j)

Explanations compete by their description length (Rissanen 1978, *Modeling by shortest data
description*, Automatica 14, 465–471): the nats it takes to write down the times, given what is
expected, and to write down the explanation itself. Every number costs the logarithm of its range
over its precision, and every part the logarithm of the choices there were. So "one more level" and
"one slow node" compete on equal terms, and a part that explains the same with fewer numbers wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.stats import middles_by
from isochrone.results.latency_map.partitions import Partition, level_of
from isochrone.results.latency_map.times import Times

__all__ = [
    "ENDS", "INSIDE", "LEAVING", "MIN_SPREAD", "PATTERNS", "TOUCHING", "Explanation", "Fitter",
    "Part", "densities",
]  # fmt: skip

Vector = NDArray[np.float64]

STRAY: Final = 0.05
"""Part of the pairs that may take any time at all, for no reason that could be named."""

RANGE: Final = 6.0
"""Range of such a time, in log time: a factor of 400."""

NUMBER_RANGE: Final = 2.0
"""Range of every fitted number, relative to the time of its pairs."""

MIN_SPREAD: Final = 2e-3
"""Relative spread that even a simulator's exact times are credited with."""

ROUNDS: Final = 12
"""Steps of a fit, at most."""

SETTLED: Final = 1e-4
"""Numbers that change by less than this part of the largest have been found."""

LEAVING, INSIDE, TOUCHING, ENDS = "leaving", "inside", "touching", "ends"
PATTERNS: Final = (TOUCHING, LEAVING, INSIDE, ENDS)


@dataclass(frozen=True)
class Part:
    """Something that may be slow: a unit, or a group of units.

    Attributes
    ----------
    pattern
        Pairs that pay for it: those that are ``leaving`` the group, ``inside`` it, ``touching`` it
        (either), or all its ``ends``: twice for a pair inside, as if each unit were slow.
    members
        Its units.
    scaled
        Whether it adds a part of the time of each level, and not the same time to all.
    """

    pattern: str
    members: tuple[int, ...]
    scaled: bool = False

    def weight(self, times: Times) -> Vector:
        """Return how often each pair pays for it."""
        member = np.zeros(times.units, dtype=np.int64)
        member[list(self.members)] = 1
        ends = member[times.i] + member[times.j]
        if self.pattern == LEAVING:
            return np.asarray(ends == 1, dtype=float)
        if self.pattern == INSIDE:
            return np.asarray(ends == 2, dtype=float)
        return np.asarray(ends if self.pattern == ENDS else ends > 0, dtype=float)


@dataclass(frozen=True)
class Explanation:
    """One explanation.

    Attributes
    ----------
    chain
        Groups of each level, the closest first; the last is the roof.
    base
        Time of each level in seconds; NaN where it has no pair.
    parts, seconds
        The slow parts, and what each adds to a pair that pays once.
    expected
        What is expected of each pair, in seconds.
    spread
        Standard deviation of log(measured / expected) but for the pairs' own errors and strays.
    length
        Description length in nats; infinite where a part takes time off, or a level is not farther
        than the one before.
    scale
        Time of each level over that of the slowest, by which scaled parts add.
    errors
        Standard error of what each part adds, in seconds; empty until the search has ended.
    """

    chain: tuple[Partition, ...]
    base: Vector
    parts: tuple[Part, ...]
    seconds: Vector
    expected: Vector
    spread: float
    length: float
    scale: Vector
    errors: Vector = field(default_factory=lambda: np.zeros(0))

    def base_of(self, times: Times) -> Vector:
        """Return the time of the level of each pair, in seconds."""
        return np.asarray(self.base[level_of(self.chain, times.i, times.j)])

    def added(self, part: Part, seconds: float, times: Times) -> Vector:
        """Return what a part adds to each pair, in seconds."""
        weight = seconds * part.weight(times)
        if part.scaled:
            weight *= self.scale[level_of(self.chain, times.i, times.j)]
        return weight

    def healthy(self, times: Times, most: int | None = None) -> Vector:
        """Return the times of the pairs without what the parts add, in seconds.

        Parameters
        ----------
        times
            The map, or some pairs of it.
        most
            Only parts of at most so many units; None: all.
        """
        extra = np.zeros(len(times.i))
        for part, seconds in zip(self.parts, self.seconds, strict=True):
            if most is None or len(part.members) <= most:
                extra += self.added(part, seconds, times)
        least = np.minimum(times.seconds, 0.3 * self.base_of(times))
        return np.asarray(np.maximum(times.seconds - extra, least))


class Fitter:
    """Fits the times of the levels of one hierarchy, and of the parts that it is told.

    Parameters
    ----------
    times
        The map.
    chain
        Groups of each level, the closest first; the last is the roof.
    spread
        About how large the noise is, relative.
    code
        Nats that it takes to write the groups down.
    cache
        What each pair pays for each part; shared by all hierarchies of a map.
    """

    def __init__(
        self,
        times: Times,
        chain: Sequence[Partition],
        spread: float,
        code: float,
        cache: dict[Part, Vector],
    ) -> None:
        self.times, self.chain, self.spread = times, tuple(chain), spread
        self.cache = cache
        self.own = float(np.abs(times.error).max()) > 0
        self.code = code
        self.level = level_of(chain, times.i, times.j)
        self.levels = len(chain)
        self.used = np.unique(self.level)
        self.one_hot = (self.level[:, None] == self.used).astype(float)
        self.count = self.one_hot.sum(axis=0)
        self.middle = [float(np.median(times.seconds[self.level == k])) for k in self.used]
        self.scale = np.ones(self.levels)
        self.scale[self.used] = np.array(self.middle) / max(self.middle)
        self.pace = self.scale[self.level]
        self.scaled: dict[Part, Vector] = {}

    def column(self, part: Part) -> Vector:
        """Return what each pair pays for a part."""
        cache = self.scaled if part.scaled else self.cache
        if part not in cache:
            cache[part] = part.weight(self.times) * (self.pace if part.scaled else 1.0)
        return cache[part]

    def columns(self, parts: Sequence[Part]) -> Vector:
        """Return what each pair pays for some parts, one column a part."""
        if not parts:
            return np.zeros((len(self.level), 0))
        return np.column_stack([self.column(p) for p in parts])

    # ---- fitting -------------------------------------------------------------------------------

    def starts(self) -> list[Explanation]:
        """Explain the map by its levels alone, from several beginnings.

        What is usual on a level may be the middle pair, or the middle one of its groups, or, where
        most groups are slow, the fastest.
        """
        cells = [np.sort(self._cells(k)) for k in self.used]
        usual = [float(c[(len(c) - 1) // 2]) for c in cells]
        least = [float(c[0]) for c in cells]
        found = {tuple(base): None for base in (self.middle, usual, least)}
        return [self._settle((), self.columns(()), np.array(base)) for base in found]

    def _cells(self, k: int) -> Vector:
        """Return the middle time of each group, or each two groups, that meet on a level."""
        here = self.level == k
        i, j, y = self.times.i[here], self.times.j[here], self.times.seconds[here]
        if k == 0:
            key = self.chain[0][i]
            if self.chain[0].max() == 0:
                return np.array([np.median(y), np.quantile(y, 0.2, method="lower")])
        else:
            finer = self.chain[k - 1]
            a, b = finer[i], finer[j]
            key = np.minimum(a, b) * (int(finer.max()) + 1) + np.maximum(a, b)
        return middles_by(key, y)[1]

    def like(self, old: Explanation) -> Explanation:
        """Explain the map by the parts of an explanation on another hierarchy."""
        keep = [k for k, part in enumerate(old.parts) if self.fits(part)]
        parts = tuple(old.parts[k] for k in keep)
        columns, seconds = self.columns(parts), old.seconds[keep]
        rest = self.times.seconds - columns @ seconds
        base = np.array([np.median(rest[self.level == k]) for k in self.used])
        return self._settle(parts, columns, np.concatenate([base, seconds]))

    def fits(self, part: Part) -> bool:
        """Whether a part is of this hierarchy, and can be told from its levels."""
        if len(part.members) > 1 and part.members not in self.groups:
            return False
        # what no pair, or every pair of a level, pays for cannot be told from the level
        pays = np.flatnonzero(self.column(part))
        share = np.bincount(self.level[pays], minlength=self.levels)[self.used]
        return not np.all((share == 0) | (share == self.count))

    def with_part(self, old: Explanation, part: Part) -> Explanation:
        """Add a part."""
        column = self.column(part)
        pays = column > 0
        extra = np.median((self.times.seconds - old.expected)[pays] / column[pays])
        parts = (*old.parts, part)
        coefficients = np.concatenate([old.base[self.used], old.seconds, [extra]])
        return self._settle(parts, self.columns(parts), coefficients, old.spread)

    def without(self, old: Explanation, parts: Sequence[Part]) -> Explanation:
        """Take parts away."""
        keep = [k for k, part in enumerate(old.parts) if part not in parts]
        left = tuple(old.parts[k] for k in keep)
        coefficients = np.concatenate([old.base[self.used], old.seconds[keep]])
        return self._settle(left, self.columns(left), coefficients, old.spread)

    def _settle(
        self,
        parts: tuple[Part, ...],
        columns: Vector,
        start: Vector,
        spread: float | None = None,
    ) -> Explanation:
        """Fit base times and costs together: the most likely of a normal core with strays.

        By expectation and maximisation (Dempster, Laird & Rubin 1977, *Maximum likelihood from
        incomplete data via the EM algorithm*, JRSS B 39, 1–38); relative errors count.
        """
        y, own = self.times.seconds, self.times.error
        design = np.concatenate([self.one_hot, columns], axis=1)
        x, spread = start, self.spread if spread is None else spread
        least = 0.05 * float(y.min())
        expected = np.maximum(design @ x, least)
        rest = np.log(y / expected)
        sigma = np.hypot(spread, own) if self.own else np.full(len(y), spread)
        core, nats = densities(rest, sigma)
        for _ in range(ROUNDS):
            weighted = design * (core / (sigma * expected) ** 2)[:, None]
            system = design.T @ weighted
            # a number that only strays speak of stays as it was
            hold = 1e-6 * float(np.trace(system)) / len(x) + float(y.mean()) ** -2
            system[np.diag_indices_from(system)] += hold
            new = np.linalg.solve(system, weighted.T @ y + hold * x)
            change, x = np.abs(new - x).max(), new
            expected = np.maximum(design @ x, least)
            rest = np.log(y / expected)
            core, _ = densities(rest, sigma)
            freedom = max(core.sum() - len(x), 0.5)
            spread = float(np.sqrt(max(np.sum(core * (rest**2 - own**2)) / freedom, 0.0)))
            spread = max(spread, MIN_SPREAD)
            sigma = np.hypot(spread, own) if self.own else np.full(len(y), spread)
            core, nats = densities(rest, sigma)
            if change <= SETTLED * float(x.max()):
                break
        levels = len(self.used)
        base = np.full(self.levels, np.nan)
        base[self.used] = x[:levels]
        length = nats + self._words(parts, columns, spread)
        taken = x[:levels]
        if np.any(x[levels:] <= 0) or np.any(np.diff(np.append(least, taken)) <= 0):
            length = np.inf  # parts add time, and farther levels take longer
        return Explanation(
            self.chain, base, parts, x[levels:], expected, spread, length, self.scale
        )

    def errors(self, fit: Explanation) -> Vector:
        """Return the standard error of what each part adds, in seconds."""
        if not fit.parts:
            return np.zeros(0)
        y = self.times.seconds
        design = np.concatenate([self.one_hot, self.columns(fit.parts)], axis=1)
        sigma = np.hypot(fit.spread, self.times.error)
        core, _ = densities(np.log(y / fit.expected), sigma)
        system = design.T @ (design * (core / (sigma * fit.expected) ** 2)[:, None])
        system[np.diag_indices_from(system)] += float(y.mean()) ** -2
        return np.asarray(np.sqrt(np.diag(np.linalg.inv(system)))[len(self.used) :])

    def _words(self, parts: Sequence[Part], columns: Vector, spread: float) -> float:
        """Return the nats that it takes to write an explanation down."""
        pairs = np.concatenate([self.count, (columns > 0).sum(axis=0)])
        numbers = np.log(NUMBER_RANGE * np.sqrt(np.maximum(pairs, 1)) / spread)
        choices = len(parts) * np.log(2.0 * max(self.choices, 1))
        # in which order the parts are written down says nothing
        order = float(np.log(np.arange(1, len(parts) + 1)).sum())
        return float(numbers.sum() + choices - order + self.code)

    @cached_property
    def groups(self) -> list[tuple[int, ...]]:
        """Groups of two units or more, each once; those of the roof if it has several."""
        found: dict[tuple[int, ...], None] = {}
        for partition in self.chain:
            if partition.max() == 0:
                continue
            for k in range(int(partition.max()) + 1):
                members = tuple(np.flatnonzero(partition == k).tolist())
                if len(members) > 1:
                    found[members] = None
        return list(found)

    @cached_property
    def choices(self) -> int:
        """Number of parts there are to choose from."""
        return 2 * self.times.units + len(PATTERNS) * len(self.groups)


def densities(rest: Vector, sigma: Vector) -> tuple[Vector, float]:
    """Return how likely each pair belongs to the core, and the nats it takes to write all."""
    normal = np.exp(-0.5 * (rest / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma) * (1 - STRAY)
    total = normal + STRAY / RANGE
    return normal / total, -float(np.log(total).sum())
