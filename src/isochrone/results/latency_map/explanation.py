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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.results.latency_map.partitions import Partition, level_of

__all__ = ["Explanation", "Explainer", "Part", "Times"]

Vector = NDArray[np.float64]
Index = NDArray[np.int64]

STRAY: Final = 0.05
"""Part of the pairs that may take any time at all, for no reason that could be named."""

RANGE: Final = 6.0
"""Range of such a time, in log time: a factor of 400."""

NUMBER_RANGE: Final = 2.0
"""Range of every fitted number, relative to the time of its pairs."""

MIN_SPREAD: Final = 2e-3
"""Relative spread that even a simulator's exact times are credited with."""

ROUNDS: Final = 12
SETTLED: Final = 1e-4

TRIED: Final = 6
"""Parts that are tried in full at each step, of those that promise most."""

MAX_PARTS: Final = 40

LEAVING, INSIDE, TOUCHING = "leaving", "inside", "touching"
PATTERNS: Final = (TOUCHING, LEAVING, INSIDE)


@dataclass(frozen=True)
class Times:
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
    roof
        Groups beyond which nothing was measured; all units in one where everything was.
    """

    units: int
    i: Index
    j: Index
    seconds: Vector
    error: Vector
    roof: Partition


@dataclass(frozen=True)
class Part:
    """Something that may be slow: a unit, or a group of units.

    Attributes
    ----------
    pattern
        Pairs that pay for it: those that are ``leaving`` the group, ``inside`` it, ``touching`` it
        (either).
    members
        Its units.
    """

    pattern: str
    members: tuple[int, ...]

    def weight(self, times: Times) -> Vector:
        """Return how often each pair pays for it."""
        member = np.zeros(times.units, dtype=np.int64)
        member[list(self.members)] = 1
        ends = member[times.i] + member[times.j]
        if self.pattern == LEAVING:
            return (ends == 1).astype(float)
        if self.pattern == INSIDE:
            return (ends == 2).astype(float)
        return (ends > 0).astype(float)


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
        Description length in nats.
    """

    chain: tuple[Partition, ...]
    base: Vector
    parts: tuple[Part, ...]
    seconds: Vector
    expected: Vector
    spread: float
    length: float


class Explainer:
    """Explains one map on one hierarchy."""

    def __init__(
        self, times: Times, chain: Sequence[Partition], spread: float, code: float,
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

    def column(self, part: Part) -> Vector:
        if part not in self.cache:
            self.cache[part] = part.weight(self.times)
        return self.cache[part]

    def columns(self, parts: Sequence[Part]) -> Vector:
        if not parts:
            return np.zeros((len(self.level), 0))
        return np.column_stack([self.column(p) for p in parts])

    # ---- fitting -------------------------------------------------------------------------------

    def starts(self) -> list[Explanation]:
        """Explain the map by its levels alone, from several beginnings.

        What is usual on a level may be the middle pair, or the middle one of its groups, or, where
        most groups are slow, the fastest.
        """
        y = self.times.seconds
        middle = [float(np.median(y[self.level == k])) for k in self.used]
        cells = [np.sort(self._cells(k)) for k in self.used]
        usual = [float(c[(len(c) - 1) // 2]) for c in cells]
        least = [float(c[0]) for c in cells]
        found = {tuple(base): None for base in (middle, usual, least)}
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
        order = np.lexsort((y, key))
        key, y = key[order], y[order]
        first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        count = np.diff(np.append(first, len(key)))
        return np.asarray(y[first + (count - 1) // 2])

    def like(self, old: Explanation) -> Explanation:
        """Explain the map by the parts of an explanation on another hierarchy."""
        columns = self.columns(old.parts)
        rest = self.times.seconds - columns @ old.seconds
        base = np.array([np.median(rest[self.level == k]) for k in self.used])
        return self._settle(old.parts, columns, np.concatenate([base, old.seconds]))

    def with_part(self, old: Explanation, part: Part, rounds: int = ROUNDS) -> Explanation:
        """Add a part."""
        column = self.column(part)
        pays = column > 0
        extra = np.median((self.times.seconds - old.expected)[pays] / column[pays])
        parts = (*old.parts, part)
        coefficients = np.concatenate([old.base[self.used], old.seconds, [extra]])
        return self._settle(parts, self.columns(parts), coefficients, old.spread, rounds)

    def without(self, old: Explanation, parts: Sequence[Part]) -> Explanation:
        """Take parts away."""
        keep = [k for k, part in enumerate(old.parts) if part not in parts]
        left = tuple(old.parts[k] for k in keep)
        coefficients = np.concatenate([old.base[self.used], old.seconds[keep]])
        return self._settle(left, self.columns(left), coefficients, old.spread)

    def _settle(
        self, parts: tuple[Part, ...], columns: Vector, start: Vector,
        spread: float | None = None, rounds: int = ROUNDS,
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
        core, nats = _densities(rest, sigma)
        for _ in range(rounds):
            weighted = design * (core / (sigma * expected) ** 2)[:, None]
            system = design.T @ weighted
            # a number that only strays speak of stays as it was
            hold = 1e-6 * float(np.trace(system)) / len(x) + float(y.mean()) ** -2
            system[np.diag_indices_from(system)] += hold
            new = np.linalg.solve(system, weighted.T @ y + hold * x)
            change, x = np.abs(new - x).max(), new
            expected = np.maximum(design @ x, least)
            rest = np.log(y / expected)
            core, _ = _densities(rest, sigma)
            freedom = max(core.sum() - len(x), 0.5)
            spread = float(np.sqrt(max(np.sum(core * (rest**2 - own**2)) / freedom, 0.0)))
            spread = max(spread, MIN_SPREAD)
            sigma = np.hypot(spread, own) if self.own else np.full(len(y), spread)
            core, nats = _densities(rest, sigma)
            if change <= SETTLED * float(x.max()):
                break
        levels = len(self.used)
        base = np.full(self.levels, np.nan)
        base[self.used] = x[:levels]
        length = nats + self._words(parts, columns, spread)
        return Explanation(self.chain, base, parts, x[levels:], expected, spread, length)

    def _words(self, parts: Sequence[Part], columns: Vector, spread: float) -> float:
        """Return the nats that it takes to write an explanation down."""
        pairs = np.concatenate([self.count, (columns > 0).sum(axis=0)])
        numbers = np.log(NUMBER_RANGE * np.sqrt(np.maximum(pairs, 1)) / spread)
        choices = len(parts) * np.log(2.0 * max(self.choices, 1))
        # in which order the parts are written down says nothing
        order = float(np.log(np.arange(1, len(parts) + 1)).sum())
        return float(numbers.sum() + choices - order + self.code)

    # ---- searching -----------------------------------------------------------------------------

    @cached_property
    def groups(self) -> list[tuple[int, ...]]:
        """The groups of two units or more, each once; those of the roof only if there are several."""
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
    def candidates(self) -> tuple[list[Part], Vector, Vector]:
        """All parts; what each pair pays for them as a matrix, and its column norms."""
        parts = [Part(LEAVING, (k,)) for k in range(self.times.units)]
        for group in self.groups:
            parts += [Part(pattern, group) for pattern in PATTERNS]
        matrix = self.columns(parts)
        # a part that no pair, or every pair of a level, pays for cannot be told from the level
        paying = (matrix > 0).astype(float)
        share = self.one_hot.T @ paying
        level = np.all((share == 0) | (share == self.count[:, None]), axis=0)
        kept = []
        seen: set[bytes] = set()
        for k in np.flatnonzero(~level):
            key = matrix[:, k].tobytes()
            if key not in seen:
                kept.append(k)
                seen.add(key)
        matrix = np.ascontiguousarray(matrix[:, kept])
        return [parts[k] for k in kept], matrix, np.sqrt((matrix**2).sum(axis=0))

    @cached_property
    def choices(self) -> int:
        """Number of parts there are to choose from."""
        return self.times.units + len(PATTERNS) * len(self.groups)

    def promising(self, fit: Explanation, banned: Sequence[Part] = ()) -> list[Part]:
        """Return the parts whose pairs exceed what is expected most clearly."""
        parts, matrix, norm = self.candidates
        if not parts:
            return []
        sigma = np.hypot(fit.spread, self.times.error) * fit.expected
        excess = np.clip((self.times.seconds - fit.expected) / sigma, -3, 3)
        score = (excess @ matrix) / norm
        taken = {*fit.parts, *banned}
        best = np.argsort(-score, kind="stable")[: TRIED + len(taken)]
        return [parts[k] for k in best if score[k] > 1.5 and parts[k] not in taken][:TRIED]

    def grow(
        self,
        fit: Explanation,
        banned: Sequence[Part] = (),
        most: int = MAX_PARTS,
        rival: Explanation | None = None,
    ) -> Explanation:
        """Add parts while each pays for itself, the one that pays most first.

        Given up when the rival could not be reached if every further part paid like the last.
        """
        while len(fit.parts) < most:
            trials = [(self.estimate(fit, part), k, part)
                      for k, part in enumerate(self.promising(fit, banned))]
            if not trials:
                break
            better = self.with_part(fit, min(trials)[2])
            gain = fit.length - better.length
            if gain <= 0 or np.any(better.seconds <= 0):
                break
            fit = better
            if rival and fit.length - rival.length > gain * (most - len(fit.parts)):
                break
        return fit

    def estimate(self, fit: Explanation, part: Part) -> float:
        """Estimate the length with one more part, all other numbers as they are."""
        column = self.column(part)
        pays = column > 0
        rest = (self.times.seconds - fit.expected)[pays] / column[pays]
        extra = float(np.median(rest))
        if extra <= 0:
            return np.inf
        expected = fit.expected + extra * column
        rest = np.log(self.times.seconds / expected)
        sigma = np.hypot(fit.spread, self.times.error) if self.own else fit.spread
        core, _ = _densities(rest, sigma)
        spread = max(np.sqrt(np.sum(core * rest**2) / max(core.sum(), 1)), MIN_SPREAD)
        spread = min(spread, fit.spread)
        sigma = np.hypot(spread, self.times.error) if self.own else spread
        return _densities(rest, sigma)[1]

    def improve(self, fit: Explanation) -> Explanation:
        """Exchange parts for others while the explanation gets shorter."""
        better = True
        while better:
            better = False
            for trial in self.exchanges(fit):
                if trial.length < fit.length - 1e-6 and np.all(trial.seconds > 0):
                    fit, better = trial, True
                    break
        return fit

    def exchanges(self, fit: Explanation):
        for part in fit.parts:
            bare = self.without(fit, [part])
            yield bare
            yield self.grow(bare, [part])
        for group in self.groups:
            inner = [p for p in fit.parts if set(p.members) <= set(group)]
            if len(inner) > 1:
                bare = self.without(fit, inner)
                for pattern in PATTERNS:
                    part = Part(pattern, group)
                    if part.weight(self.times).any():
                        yield self.grow(self.with_part(bare, part), inner)

    def best(self, first: Explanation | None = None) -> Explanation:
        """Return the shortest explanation found."""
        return self.improve(self.grow(first or self.quick()))

    def quick(self, rival: Explanation | None = None, most: int = 8) -> Explanation:
        """Return a short explanation; given up where it cannot be shorter than the rival's."""
        starts: list[Explanation] = []
        for fit in self.starts():
            if not any(np.allclose(fit.base, s.base, rtol=0.01, equal_nan=True) for s in starts):
                starts.append(fit)
        best = None
        for fit in starts:
            grown = self.grow(fit, most=most, rival=best or rival)
            best = grown if best is None or grown.length < best.length else best
        assert best is not None
        return best


def _densities(rest: Vector, sigma: Vector) -> tuple[Vector, float]:
    """Return how likely each pair belongs to the core, and the nats it takes to write all."""
    normal = np.exp(-0.5 * (rest / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma) * (1 - STRAY)
    total = normal + STRAY / RANGE
    return normal / total, -float(np.log(total).sum())
