"""Which parts are slow: added while they shorten the explanation."""

from functools import cached_property

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.stats import median_of, medians_by
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
from isochrone.latency_map.fitting import Fitter, likelihood, nats_of
from isochrone.latency_map.thresholds import (
    CLIP,
    ESTIMATED_PARTS,
    MAX_FIT_STEPS,
    MAX_PARTS,
    MAX_SLOW_DIFFERENCE,
    MIN_GAIN,
    MIN_PART_ERRORS,
    MIN_SPREAD,
    PROMISE,
    QUICK,
    RELEVANT,
    THIRD,
)


class PartFinder(Fitter):
    """Finds the parts that explain a map on one hierarchy with the fewest words."""

    @cached_property
    def candidates(self) -> tuple[list[Part], tuple[Ints, Ints, Floats], Floats]:
        """All parts; which part slows which pair how often; and the norms of these numbers."""
        units = range(self.times.units)
        components = [Part(LEAVING, (k,)) for k in units]
        if len(self.used) > 1:
            components += [Part(LEAVING, (k,), scaled=True) for k in units]
        components += [
            Part(pattern, group)
            for group in self.groups
            for pattern in PATTERNS
            if pattern != INSIDE or len(group) > 2  # the inside of two units is a pair
        ]
        # of parts that slow the same pairs in the same way, the first
        first: dict[tuple[bytes, bytes], tuple[Part, Ints, Floats]] = {}
        for component in filter(self.fits, components):
            pairs, often = self.slowed(component)
            first.setdefault((pairs.tobytes(), often.tobytes()), (component, pairs, often))
        if not first:
            return [], (np.zeros(0, int), np.zeros(0, int), np.zeros(0)), np.zeros(0)
        different, pairs_of, weights = zip(*first.values(), strict=True)
        row = np.repeat(np.arange(len(different)), [len(pairs) for pairs in pairs_of])
        weight = np.concatenate(weights)
        norms = np.sqrt(np.bincount(row, weight**2))
        return [*different], (row, np.concatenate(pairs_of), weight), norms

    def promising(self, fit: Explanation) -> list[Part]:
        """Return the candidates whose pairs exceed what is expected most clearly."""
        components, (row, pairs, weights), norm = self.candidates
        if not components:
            return []
        sigma = self.sigma(fit.spread) * fit.expected
        excess = np.clip((self.times.seconds - fit.expected) / sigma, -CLIP, CLIP)
        score = np.bincount(row, weights * excess[pairs], len(components)) / norm
        best = np.argsort(-score, kind="stable")
        leading = [
            components[k] for k in best[: ESTIMATED_PARTS + len(fit.parts)] if score[k] > PROMISE
        ]
        return [component for component in leading if component not in fit.parts][:ESTIMATED_PARTS]

    def grow(
        self,
        fit: Explanation,
        max_components: int = MAX_PARTS,
    ) -> Explanation:
        """Add parts while they shorten the explanation, the one that gains most first."""
        while len(fit.parts) < max_components:
            trials = [
                (self.estimate(fit, component), k, component)
                for k, component in enumerate(self.promising(fit))
            ]
            if not trials:
                break
            better = self.by_any_share(self.alike(self.with_part(fit, min(trials)[2])))
            if not better.length < fit.length or better.seconds[-1] < RELEVANT * self.middles[0]:
                break
            fit = better
        return fit

    def quick(self) -> Explanation:
        """Return a short explanation."""
        starts = self.starts()
        starts += [fit for start in starts for fit in self.units_first(start)]
        grown = [self.grow(fit, max(QUICK, len(fit.parts) + 2)) for fit in starts]
        return min(grown, key=length_of)

    def units_first(self, fit: Explanation) -> list[Explanation]:
        """Explain the map by all units at once whose middle pairs take longer than expected.

        Where up to a third of the units is slow, most pairs of a slow one are with healthy ones,
        whatever law holds for two slow ends; one after the other they could be taken for a group.
        """
        excess = np.tile(self.times.seconds - fit.expected, 2)
        units, middle = medians_by(np.concatenate([self.times.i, self.times.j]), excess)
        pairs = np.bincount(np.concatenate([self.times.i, self.times.j]))[units]
        error = median_of(self.sigma(fit.spread) * fit.expected) / np.sqrt(pairs)
        slow = np.flatnonzero(
            middle > np.maximum(RELEVANT * self.middles[0], MIN_PART_ERRORS * error)
        )
        if not 1 < len(slow) <= THIRD * self.times.units:
            return []
        slow = slow[np.argsort(middle[slow])]
        apart = np.flatnonzero(np.diff(middle[slow]) > MIN_PART_ERRORS * error[slow][1:]) + 1
        alike, singletons = np.split(slow, apart), np.split(slow, len(slow))
        fits = []
        for division in (alike, singletons)[len(alike) == len(singletons) :]:
            members = [tuple(sorted(units[indices].tolist())) for indices in division]
            components = tuple(Part(ENDS if len(m) > 1 else LEAVING, m) for m in members)
            seconds = [median_of(middle[indices]) for indices in division]
            every = self.fitted(fit, components, seconds, np.ones(len(components)))
            fits.append(self.by_any_share(every))
        return fits

    def by_any_share(self, fit: Explanation) -> Explanation:
        """Let slow units at both ends of a pair add, or the slower decide, as fits best."""
        units = np.array([component.of_units for component in fit.parts], bool)
        several = sum(len(component.members) for component in fit.parts if component.of_units) > 1
        if not several or not np.isfinite(fit.length):
            return fit
        best = fit
        for shares in (np.ones(len(units)), np.where(units, BANDWIDTH, LATENCY)):
            best = min(best, self.fitted(fit, fit.parts, fit.seconds, shares), key=length_of)
        for _ in range(MAX_FIT_STEPS):  # which bandwidth is the lower of two depends on the shares
            trials = [self.fitted(best, best.parts, best.seconds, s) for s in self.shares_of(best)]
            shortest = min([best, *trials], key=length_of)
            if shortest.length > best.length - MIN_GAIN:
                break
            best = shortest
        return best

    def alike(self, fit: Explanation) -> Explanation:
        """Join the last part with those, or the one, most like it if all are of units."""
        last = len(fit.parts) - 1
        if not np.isfinite(fit.length):
            return fit
        units = [
            k
            for k, component in enumerate(fit.parts)
            if component.of_units and not component.scaled
        ]
        off = {k: abs(fit.seconds[k] - fit.seconds[last]) for k in units if last in units}
        off.pop(last, None)
        nearest = [k for k in off if off[k] <= MAX_SLOW_DIFFERENCE * fit.seconds[last]]
        if not nearest:
            return fit
        sets = {(min(nearest, key=off.__getitem__), last), (*nearest, last)}
        return min([fit, *(self.joined(fit, indices) for indices in sorted(sets))], key=length_of)

    def estimate(self, fit: Explanation, component: Part) -> float:
        """Estimate the length with one more part, all other numbers as they are."""
        column = self.column(component)
        extra = self.extra(fit, column)
        if extra <= 0:
            return np.inf
        expected = fit.expected + extra * column
        residual = np.log(self.times.seconds / expected)
        core = likelihood(residual, self.sigma(fit.spread))[1]
        spread = max(np.sqrt(np.sum(core * residual**2) / max(core.sum(), 1)), MIN_SPREAD)
        return nats_of(likelihood(residual, self.sigma(min(spread, fit.spread)))[0])
