"""Which parts are slow: added while they shorten the explanation, then exchanged."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.latency_map.explanation import (
    BANDWIDTH,
    ENDS,
    INSIDE,
    LATENCY,
    LEAVING,
    PATTERNS,
    Explanation,
    Part,
    length_of,
)
from isochrone.latency_map.fitting import MIN_SPREAD, ROUNDS, Fitter, likelihood, middle, nats_of

MANY = 1500
"""Units of a map of which those with a single pair are no candidates: the pair is named then."""

TRIED = 6
"""Parts whose gain is estimated at each step, of those that promise most."""

CLIP = 3.0
"""Standard errors that a pair speaks for a part at most: one far off is no reason."""

PROMISE = 1.5
"""Least score of a part that is tried."""

MAX_PARTS = 40
"""Slow parts of one map, at most."""

QUICK = 8
"""The same of a hierarchy that is only looked at."""

ALIKE = 0.5
"""Units whose times differ by more than this part of the larger are not slow alike."""

FEW = 4
"""Groups that are tried without what they add, on another hierarchy."""

DOUBTED = 8
"""Parts that others are tried for, those that add least first."""


def _of_units(part: Part) -> bool:
    """Whether a part is of units by themselves, each slow by a time."""
    return not part.scaled and part.of_units


def _within(units: Collection[int], parts: Sequence[Part]) -> list[Part]:
    """Return the parts that have no other units than these."""
    return [part for part in parts if set(part.members) <= set(units)]


class PartFinder(Fitter):
    """Finds the parts that explain a map on one hierarchy with the fewest words."""

    @cached_property
    def candidates(self) -> tuple[list[Part], tuple[Ints, Ints, Floats], Floats]:
        """All parts; which part slows which pair how often; and the norms of these numbers."""
        units = list(range(self.times.units))
        if self.times.units > MANY:
            units = [k for k in units if len(self.times.of_unit(k)) > 1]
        parts = [Part(LEAVING, (k,)) for k in units]
        rows = [self.slowed(part) for part in parts]
        if len(self.used) > 1:
            parts += [Part(LEAVING, (k,), scaled=True) for k in units]
            rows *= 2
        groups = [Part(pattern, group) for group in self.groups for pattern in PATTERNS]
        # the inside of two units is a pair
        groups = [p for p in groups if p.pattern != INSIDE or len(p.members) > 2]
        parts += groups
        rows += [self.slowed(part) for part in groups]
        ends = np.cumsum([0, *(len(pairs) for pairs, _ in rows)])
        pairs = np.concatenate([np.zeros(0, dtype=np.int64), *(pairs for pairs, _ in rows)])
        weights = np.concatenate([np.zeros(0), *(weight for _, weight in rows)])
        row = np.repeat(np.arange(len(parts)), np.diff(ends))
        weights *= np.where(np.array([p.scaled for p in parts], bool)[row], self.pace[pairs], 1)
        classes = self.one_hot.shape[1]
        place = row * classes + np.searchsorted(self.used, self.level[pairs])
        share = np.bincount(place, minlength=len(parts) * classes).reshape(-1, classes)
        kept: dict[tuple[bytes, bytes], int] = {}
        for k in np.flatnonzero(np.any((share > 0) & (share < self.count), axis=1)):
            own = slice(ends[k], ends[k + 1])
            # of parts that slow the same pairs in the same way, the first
            kept.setdefault((pairs[own].tobytes(), weights[own].tobytes()), int(k))
        places = list(kept.values())
        norms = np.sqrt(np.bincount(row, weights**2, len(parts)))
        number = np.full(len(parts), -1)
        number[places] = np.arange(len(places))
        row = number[row]
        here = row >= 0
        return [parts[k] for k in places], (row[here], pairs[here], weights[here]), norms[places]

    def promising(self, fit: Explanation, banned: Sequence[int] = ()) -> list[Part]:
        """Return the candidates whose pairs exceed what is expected most clearly."""
        parts, (row, pairs, weights), norm = self.candidates
        if not parts:
            return []
        sigma = self.sigma(fit.spread) * fit.expected
        excess = np.clip((self.times.seconds - fit.expected) / sigma, -CLIP, CLIP)
        score = np.bincount(row, weights * excess[pairs], len(parts)) / norm
        score[[*self.places(fit.parts), *banned]] = 0.0
        best = np.argsort(-score, kind="stable")[:TRIED]
        return [parts[k] for k in best if score[k] > PROMISE]

    def places(self, parts: Sequence[Part]) -> list[int]:
        """Return the places of parts among the candidates."""
        return [self._place[part] for part in parts if part in self._place]

    @cached_property
    def _place(self) -> dict[Part, int]:
        return {part: k for k, part in enumerate(self.candidates[0])}

    def grow(
        self,
        fit: Explanation,
        banned: Sequence[int] = (),
        most: int = MAX_PARTS,
        rival: Explanation | None = None,
    ) -> Explanation:
        """Add parts while they shorten the explanation, the one that gains most first.

        Given up when the rival could not be reached if every further part gained like the last.
        """
        while len(fit.parts) < most:
            trials = [
                (self.estimate(fit, part), k, part)
                for k, part in enumerate(self.promising(fit, banned))
            ]
            if not trials:
                break
            better = self.by_any_share(self.alike(self.with_part(fit, min(trials)[2])))
            gain = fit.length - better.length
            if not gain > 0:
                break
            fit = better
            if rival and fit.length - rival.length > gain * (most - len(fit.parts)):
                break
        return fit

    def by_any_share(self, fit: Explanation) -> Explanation:
        """Let slow units at both ends of a pair add, or the slower decide, as fits best."""
        several = sum(len(part.members) for part in fit.parts if part.of_units) > 1
        if not several or not np.isfinite(fit.length):
            return fit
        shares = {BANDWIDTH, LATENCY, self.share_of(fit)} - {fit.share}
        return min(fit, *(self.by_share(fit, share) for share in sorted(shares)), key=length_of)

    def alike(self, fit: Explanation) -> Explanation:
        """Join the last part with those, or the one, most like it if all are of units."""
        last = len(fit.parts) - 1
        if not _of_units(fit.parts[last]) or not np.isfinite(fit.length):
            return fit
        off = {
            k: abs(fit.seconds[k] - fit.seconds[last])
            for k, part in enumerate(fit.parts[:last])
            if _of_units(part)
        }
        near = [k for k in off if off[k] <= ALIKE * fit.seconds[last]]
        if not near:
            return fit
        sets = {(min(near, key=off.__getitem__), last), (*near, last)}
        return min([fit, *(self.joined(fit, some) for some in sorted(sets))], key=length_of)

    def estimate(self, fit: Explanation, part: Part) -> float:
        """Estimate the length with one more part, all other numbers as they are."""
        column = self.column(part)
        extra = self.extra(fit, column)
        if extra <= 0:
            return np.inf
        expected = fit.expected + extra * column
        if fit.share == BANDWIDTH and part.of_units:
            expected = np.maximum(fit.expected, fit.base[self.level] + extra * column)
        rest = np.log(self.times.seconds / expected)
        core = likelihood(rest, self.sigma(fit.spread))[1]
        spread = max(np.sqrt(np.sum(core * rest**2) / max(core.sum(), 1)), MIN_SPREAD)
        return nats_of(likelihood(rest, self.sigma(min(spread, fit.spread)))[0])

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
        yield from self.regrouped(fit)
        most = len(fit.parts) + 2
        of_groups = [k for k, part in enumerate(self.candidates[0]) if len(part.members) > 1]
        for part in filter(fit.is_group, fit.parts):
            inner = _within(part.members, fit.parts)
            bare = self.without(fit, inner)
            yield self.grow(bare, of_groups, most, fit)
        for place, k in enumerate(np.argsort(fit.seconds)):
            part = fit.parts[k]
            bare = self.without(fit, [part])
            yield bare
            if place < DOUBTED and (len(part.members) == 1 or fit.is_group(part)):
                yield self.grow(bare, self.places([part]), most, fit)
        for group in self.groups:
            inner = _within(group, fit.parts)
            if len(inner) > 1 or any(not fit.is_group(p) for p in inner if len(p.members) > 1):
                bare = self.without(fit, inner)
                for pattern in PATTERNS:
                    part = Part(pattern, group)
                    if self.column(part).any():
                        first = self.with_part(bare, part)
                        yield self.grow(first, self.places(inner), most, fit)

    def regrouped(self, fit: Explanation) -> Iterator[Explanation]:
        """Try to join units that are slow alike, and to take one out of those joined."""
        units = sorted(
            (k for k, part in enumerate(fit.parts) if _of_units(part)), key=lambda k: fit.seconds[k]
        )
        alike = [k for k in units if fit.seconds[k] >= (1 - ALIKE) * fit.seconds[units[-1]]]
        if len(alike) > 2:
            yield self.joined(fit, alike)
        for one, other in pairwise(units):
            if fit.seconds[other] - fit.seconds[one] <= ALIKE * fit.seconds[other]:
                yield self.joined(fit, (one, other))
        for k, part in enumerate(fit.parts):
            if part.pattern == ENDS and len(part.members) > 2:
                yield self.parted(fit, k)

    def parted(self, fit: Explanation, k: int) -> Explanation:
        """Let the unit that is off most have a time of its own, apart from the others."""
        part = fit.parts[k]
        off = (self.times.seconds - fit.expected) / fit.expected
        own = [middle(off[self.column(Part(LEAVING, (m,))) > 0]) for m in part.members]
        odd = part.members[int(np.argmax(np.abs(own)))]
        rest = Part(ENDS, tuple(m for m in part.members if m != odd))
        return self.with_part(
            self.with_part(self.without(fit, [part]), rest), Part(LEAVING, (odd,))
        )

    def best(self, first: Explanation) -> Explanation:
        """Return the shortest explanation found from a first one."""
        return self.improve(self.grow(first))

    def carried(self, known: Explanation, rounds: int = ROUNDS) -> list[Explanation]:
        """Explain the map by the parts of an explanation on another hierarchy, or by some.

        A group may add what was thought to be its parts', or the other way round.
        """
        groups = [part for part in known.parts if known.is_group(part)]
        here = [self.as_here(part, known) for part in groups]
        within = {m for part in here if part for m in part.members}
        inner = [p for p in _within(within, known.parts) if p not in groups]
        less = [[], *([part] for part in groups[:FEW]), groups if len(groups) > 1 else [], inner]
        return [self.like(known, some, rounds) for k, some in enumerate(less) if some or not k]

    def quick(
        self, rival: Explanation | None = None, most: int = QUICK, known: Explanation | None = None
    ) -> Explanation:
        """Return a short explanation; given up where it cannot be shorter than the rival's.

        ``known`` is an explanation on another hierarchy, whose parts are a start, too.
        """
        starts: list[Explanation] = []
        for fit in [*self.starts(), *(self.carried(known) if known else [])]:
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
