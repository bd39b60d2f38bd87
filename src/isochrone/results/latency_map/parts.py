"""Which parts are slow: added one by one while each pays for itself, then exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isochrone.results.latency_map.explanation import (
    INSIDE,
    LEAVING,
    MIN_SPREAD,
    PATTERNS,
    Explanation,
    Fitter,
    Part,
    densities,
)

__all__ = ["PartFinder"]

Vector = NDArray[np.float64]

TRIED: Final = 6
"""Parts whose gain is estimated at each step, of those that promise most."""

CLIP: Final = 3.0
"""Standard errors that a pair speaks for a part at most: one far off is no reason."""

PROMISE: Final = 1.5
"""Least score of a part that is tried."""

MAX_PARTS: Final = 40
"""Slow parts of one map, at most."""

QUICK: Final = 8
"""The same of a hierarchy that is only looked at."""


class PartFinder(Fitter):
    """Finds the parts that explain a map on one hierarchy with the fewest words."""

    @cached_property
    def candidates(self) -> tuple[list[Part], csr_array, Vector]:
        """All parts; what each pair pays for them, one row a part, and the norms of the rows."""
        parts = [Part(LEAVING, (k,)) for k in range(self.times.units)]
        if len(self.used) > 1:
            parts += [Part(LEAVING, (k,), scaled=True) for k in range(self.times.units)]
        for group in self.groups:
            parts += [Part(pattern, group) for pattern in PATTERNS]
        # the inside of two units is a pair
        parts = [p for p in parts if p.pattern != INSIDE or len(p.members) > 2]
        kept: dict[tuple[bytes, bytes], Part] = {}
        rows, weights = [], []
        for part in parts:
            column = self.column(part)
            pays = np.flatnonzero(column)
            key = (pays.tobytes(), column[pays].tobytes())
            if key not in kept and self.fits(part):
                kept[key] = part
                rows.append(pays)
                weights.append(column[pays])
        ends = np.cumsum([0, *map(len, rows)])
        shape = (len(rows), len(self.level))
        nothing = [np.zeros(0)]
        values, columns = np.concatenate(weights or nothing), np.concatenate(rows or nothing)
        matrix = csr_array((values, columns.astype(np.int64), ends), shape=shape)
        norm = np.sqrt(np.array([float((w**2).sum()) for w in weights]))
        return list(kept.values()), matrix, norm

    def promising(self, fit: Explanation, banned: Sequence[Part] = ()) -> list[Part]:
        """Return the parts whose pairs exceed what is expected most clearly."""
        parts, matrix, norm = self.candidates
        if not parts:
            return []
        sigma = np.hypot(fit.spread, self.times.error) * fit.expected
        excess = np.clip((self.times.seconds - fit.expected) / sigma, -CLIP, CLIP)
        score = (matrix @ excess) / norm
        taken = {*fit.parts, *banned}
        best = np.argsort(-score, kind="stable")[: TRIED + len(taken)]
        return [parts[k] for k in best if score[k] > PROMISE and parts[k] not in taken][:TRIED]

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
            trials = [
                (self.estimate(fit, part), k, part)
                for k, part in enumerate(self.promising(fit, banned))
            ]
            if not trials:
                break
            better = self.with_part(fit, min(trials)[2])
            gain = fit.length - better.length
            if not gain > 0:
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
        sigma = np.hypot(fit.spread, self.times.error)
        core, _ = densities(rest, sigma)
        spread = max(np.sqrt(np.sum(core * rest**2) / max(core.sum(), 1)), MIN_SPREAD)
        spread = min(spread, fit.spread)
        return densities(rest, np.hypot(spread, self.times.error))[1]

    def improve(self, fit: Explanation) -> Explanation:
        """Exchange parts for others while the explanation gets shorter."""
        better = True
        while better:
            better = False
            for trial in self.exchanges(fit):
                if trial.length < fit.length - 1e-6:
                    fit, better = trial, True
                    break
        return fit

    def exchanges(self, fit: Explanation) -> Iterator[Explanation]:
        """Try explanations that differ in a part, or in all parts of a group."""
        groups = [p for p in fit.parts if len(p.members) > 1]
        for part in groups:
            inner = [p for p in fit.parts if set(p.members) <= set(part.members)]
            bare = self.without(fit, inner)
            yield self.grow(bare, [p for p in self.candidates[0] if len(p.members) > 1])
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
                    if self.column(part).any():
                        yield self.grow(self.with_part(bare, part), inner)

    def best(self, first: Explanation) -> Explanation:
        """Return the shortest explanation found from a first one."""
        return self.improve(self.grow(first))

    def quick(
        self, rival: Explanation | None = None, most: int = QUICK, known: Explanation | None = None
    ) -> Explanation:
        """Return a short explanation; given up where it cannot be shorter than the rival's.

        ``known`` is an explanation on another hierarchy, whose parts are a start, too.
        """
        starts: list[Explanation] = []
        for fit in [*self.starts(), *([self.like(known)] if known and known.parts else [])]:
            if fit.parts or not any(
                np.allclose(fit.base, s.base, rtol=0.01, equal_nan=True) for s in starts
            ):
                starts.append(fit)
        best = None
        for fit in starts:
            grown = self.grow(fit, most=max(most, len(fit.parts) + 2), rival=best or rival)
            best = grown if best is None or grown.length < best.length else best
        assert best is not None
        return best
