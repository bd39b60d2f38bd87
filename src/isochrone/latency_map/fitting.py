"""Fits explanations of a map, and tells how long each is.

Explanations compete by their description length (Rissanen 1978, *Modeling by shortest data
description*, Automatica 14, 465–471): the nats it takes to write down the times, given what is
expected, and to write down the explanation itself. Every number costs the logarithm of its range
over its precision, and every part the logarithm of the choices there were. So "one more level" and
"one slow node" compete on equal terms, and a part that explains the same with fewer numbers wins.
"""

from collections.abc import Collection, Sequence
from functools import cached_property
from math import lgamma

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Array, Floats, Ints
from isochrone.base.stats import distinct, median_of, middles_by, quantile
from isochrone.latency_map.explanation import (
    BANDWIDTH,
    ENDS,
    LATENCY,
    LEAVING,
    PATTERNS,
    TOUCHING,
    Explanation,
    Part,
)
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import Partition, groups_of, level_of
from isochrone.latency_map.thresholds import (
    CONVERGED,
    HEALTHY,
    MAX_FIT_STEPS,
    MIN_LEVEL_RATIO,
    MIN_SPREAD,
    NUMBER_RANGE,
    OUTLIER_SHARE,
    STRAY_RANGE,
    THIRD,
    TIME_ERROR,
)

NO_SHARES = np.zeros(0)


class Fitter:
    """Fits the times of the levels of one hierarchy, and of given parts.

    Parameters
    ----------
    times
        The map.
    chain
        Groups of each level, the closest first; the last is the root.
    code
        Nats that it takes to write the groups down.
    cache
        Which pairs each part slows, and how often; shared by all hierarchies of a map.
    """

    def __init__(
        self,
        times: Times,
        chain: Sequence[Partition],
        code: float,
        cache: dict[Part, tuple[Ints, Floats]],
    ) -> None:
        self.times, self.chain, self.code, self.cache = times, tuple(chain), code, cache
        self.level = level_of(chain, times.i, times.j)
        self.used = distinct(self.level)
        self.index = np.searchsorted(self.used, self.level)
        self.count = np.bincount(self.index)
        self.middles = self.middle_of_levels(times.seconds)
        self.scale = np.ones(len(chain))
        self.scale[self.used] = self.middles / self.middles.max()
        self.pace = self.scale[self.level]

    def middle_of_levels(self, values: Floats) -> Floats:
        """Return the middle value of the pairs of each level that has any."""
        return np.array([middle(values[self.level == k]) for k in self.used])

    def slowed(self, component: Part) -> tuple[Ints, Floats]:
        """Return the pairs that a part slows, and how often."""
        if component.scaled:
            pairs, weight = self.slowed(replace(component, scaled=False))
            return pairs, weight * self.pace[pairs]
        if (
            component not in self.cache
            and component.pattern == LEAVING
            and len(component.members) == 1
        ):
            pairs = self.times.of_unit(component.members[0])
            self.cache[component] = pairs, np.ones(len(pairs))
        elif component not in self.cache:
            weight = component.weight(self.times)
            pairs = np.flatnonzero(weight)
            self.cache[component] = pairs, weight[pairs]
        return self.cache[component]

    def column(self, component: Part) -> Floats:
        """Return how often a part slows each pair."""
        pairs, weight = self.slowed(component)
        column = np.zeros(len(self.level))
        column[pairs] = weight
        return column

    def columns(self, components: Sequence[Part]) -> tuple[Ints, Floats]:
        """Return the pairs that any of some parts slows, and how often, one column a part."""
        slowed = [self.slowed(component) for component in components]
        any_part = np.zeros(len(self.level), bool)
        for pairs, _ in slowed:
            any_part[pairs] = True
        row = np.cumsum(any_part) - 1
        columns = np.zeros((int(any_part.sum()), len(components)))
        for k, (pairs, weight) in enumerate(slowed):
            columns[row[pairs], k] = weight
        return np.flatnonzero(any_part), columns

    def acting(
        self, components: Sequence[Part], columns: Floats, x: Floats, shares: Floats
    ) -> Floats:
        """Return how much of each part acts: of the bandwidths of two slow ends the slower."""
        if np.all(shares == LATENCY):
            return columns
        slower, once = self._bandwidths(components, columns, x * (1 - shares))
        acting: Floats = columns * shares
        acting[slower] += once * (1 - shares[slower[1]])
        return acting

    def _bandwidths(
        self, components: Sequence[Part], columns: Floats, bandwidth: Floats
    ) -> tuple[tuple[Ints, Ints], Floats]:
        """Return of each pair the part whose bandwidth decides, and how often that slows it."""
        most = [1.0 if component.pattern == ENDS else np.inf for component in components]
        once = np.minimum(columns, most)
        slower = np.arange(len(columns)), np.argmax(once * bandwidth, axis=1)
        return slower, once[slower]

    def sigma(self, spread: float) -> Floats:
        """Return the standard deviation of each pair, in log time: the spread and its own error."""
        return np.sqrt(spread**2 + self.times.error**2)

    # ---- fitting -------------------------------------------------------------------------------

    def starts(self) -> list[Explanation]:
        """Explain the map by its levels alone, from several beginnings.

        What is usual on a level may be the middle pair, or the middle one of its groups, or, where
        most groups are slow, the fastest.
        """
        cells = [np.sort(self._cells(k)) for k in self.used]
        group_medians = np.array([c[(len(c) - 1) // 2] for c in cells])
        fits: list[Explanation] = []
        healthy = np.array(
            [quantile(self.times.seconds[self.level == k], HEALTHY) for k in self.used]
        )
        for base in (self.middles, group_medians, np.array([c[0] for c in cells]), healthy):
            fit = self._settle((), base, NO_SHARES)
            if not any(
                np.allclose(fit.base, earlier.base, 0.01, equal_nan=True) for earlier in fits
            ):
                fits.append(fit)
        return fits

    def plain(self) -> Explanation:
        """Explain the map by its levels alone, from the middle pairs of these."""
        return self._settle((), self.middles, NO_SHARES)

    def _cells(self, k: int) -> Floats:
        """Return the middle time of each two closest groups that meet on a level."""
        on_level = self.level == k
        i, j, y = self.times.i[on_level], self.times.j[on_level], self.times.seconds[on_level]
        closest = self.chain[0]
        if k == 0 and closest.max() == 0:
            return np.array([median_of(y), np.sort(y)[int(0.2 * (len(y) - 1))]])
        a, b = closest[i], closest[j]
        key = np.minimum(a, b) * (int(closest.max()) + 1) + np.maximum(a, b)
        return middles_by(key, y)[1]

    def refitted(self, old: Explanation) -> Explanation:
        """Explain the map by the parts of an explanation of some of its pairs."""
        pairs, columns = self.columns(old.parts)
        healthy = self.times.seconds.copy()
        healthy[pairs] -= columns @ old.seconds
        start = np.concatenate([self.middle_of_levels(healthy), old.seconds])
        return self._settle(old.parts, start, old.shares)

    def fits(self, component: Part) -> bool:
        """Whether a part is of this hierarchy, and can be distinguished from its levels."""
        if (
            len(component.members) > 1
            and component.pattern != ENDS
            and component.members not in self.groups
        ):
            return False
        # what slows no pair, or all of a level, cannot be distinguished from the level
        share = np.bincount(self.level[self.slowed(component)[0]], minlength=len(self.chain))[
            self.used
        ]
        return not np.all((share == 0) | (share == self.count))

    def with_part(self, old: Explanation, component: Part) -> Explanation:
        """Add a part."""
        extra, share = (
            self.extra(old, self.column(component)),
            old.share if component.of_units else LATENCY,
        )
        return self.fitted(
            old, (*old.parts, component), [*old.seconds, extra], np.append(old.shares, share)
        )

    def extra(self, fit: Explanation, column: Floats) -> float:
        """Return what pairs slowed so often take beyond what is expected, in the middle."""
        slowed = column > 0
        return middle((self.times.seconds - fit.expected)[slowed] / column[slowed])

    def joined(self, old: Explanation, indices: Collection[int]) -> Explanation:
        """Let some parts, of units by themselves, add the same time: one number for all."""
        selected = [old.parts[k] for k in indices]
        union = Part(ENDS, tuple(sorted({m for component in selected for m in component.members})))
        keep = [k for k in range(len(old.parts)) if k not in indices]
        components = (*(old.parts[k] for k in keep), union)
        sizes = [len(component.members) for component in selected]
        seconds, share = (
            float(np.average(of[list(indices)], weights=sizes)) for of in (old.seconds, old.shares)
        )
        return self.fitted(
            old, components, [*old.seconds[keep], seconds], np.append(old.shares[keep], share)
        )

    def fitted(
        self,
        old: Explanation,
        components: tuple[Part, ...],
        seconds: Sequence[float] | Floats,
        shares: Floats,
    ) -> Explanation:
        """Explain the map by other parts, from the times of an explanation on this hierarchy.

        If of all units of a group the slower decides, that is what they share: their switch.
        """
        alike = [
            component.pattern == ENDS and component.members in self.groups and share == BANDWIDTH
            for component, share in zip(components, shares, strict=True)
        ]
        components = tuple(
            replace(component, pattern=TOUCHING) if switch else component
            for component, switch in zip(components, alike, strict=True)
        )
        shares = np.where(alike, LATENCY, shares)
        start = np.concatenate([old.base[self.used], seconds])
        return self._settle(components, start, shares, old.spread)

    def shares_of(self, old: Explanation) -> list[Floats]:
        """Estimate the shares of latency, one for all units and one for each, from their pairs."""
        units = np.array([component.of_units for component in old.parts], bool)
        pairs, columns = self.columns(old.parts)
        bandwidth = old.seconds * np.where(old.share == LATENCY, 1.0, 1 - old.shares)
        slower, once = self._bandwidths(old.parts, columns, units * bandwidth)
        dominant = np.where(units, 0.0, columns)
        dominant[slower] = once
        lesser = (columns - dominant) * old.seconds
        both_slow = np.any(lesser > 0, axis=1)
        if not both_slow.any():
            return []
        healthy = self.times.seconds[pairs] - old.base[self.level[pairs]]
        residual = healthy - dominant @ old.seconds
        share, affected = residual[both_slow] / lesser.sum(axis=1)[both_slow], lesser[both_slow] > 0
        common_share = middle(share)
        unit_shares = [
            middle(share[affected[:, k]]) if affected[:, k].any() else common_share
            for k in range(len(units))
        ]
        return [
            np.where(units, np.clip(shares, BANDWIDTH, LATENCY), LATENCY)
            for shares in (common_share, np.array(unit_shares))
        ]

    def _settle(
        self,
        components: tuple[Part, ...],
        start: Floats,
        shares: Floats,
        spread: float = TIME_ERROR,
    ) -> Explanation:
        """Fit base times and costs together: the most likely of a normal core with strays.

        By expectation and maximisation (Dempster, Laird & Rubin 1977, *Maximum likelihood from
        incomplete data via the EM algorithm*, JRSS B 39, 1–38); relative errors count.
        """
        y, error = self.times.seconds, self.times.error
        pairs, columns = self.columns(components)
        levels = len(self.used)
        design = self._design(pairs, self.acting(components, columns, start[levels:], shares))
        x = start
        floor, mean = 0.05 * float(y.min()), float(y.mean())
        expected = np.maximum(self._sums(pairs, design, x), floor)
        sigma = self.sigma(spread)
        total, core = likelihood(np.log(y / expected), sigma)
        for _ in range(MAX_FIT_STEPS):
            weight = core / (sigma * expected) ** 2
            system = self._system(pairs, design, weight)
            right = design.T @ (weight * y)[pairs]
            right[:levels] = np.bincount(self.index, weight * y)
            diagonal = system.reshape(-1)[:: len(x) + 1]
            # a number that only strays speak of stays as it was
            hold = 1e-6 * float(diagonal.sum()) / len(x) + mean**-2
            diagonal += hold
            new: Array = np.linalg.solve(system, right + hold * x)
            change, x = np.abs(new - x).max(), new
            if np.any(shares != LATENCY):
                design[:, levels:] = self.acting(components, columns, x[levels:], shares)
            expected = np.maximum(self._sums(pairs, design, x), floor)
            residual = np.log(y / expected)
            core = likelihood(residual, sigma)[1]
            freedom = max(core.sum() - len(x), 0.5)
            spread = float(np.sqrt(max(np.sum(core * (residual**2 - error**2)) / freedom, 0.0)))
            spread = max(spread, MIN_SPREAD)
            sigma = self.sigma(spread)
            total, core = likelihood(residual, sigma)
            if change <= CONVERGED * float(x.max()):
                break
        base = np.full(len(self.chain), np.nan)
        base[self.used] = x[:levels]
        length = self._words(components, columns, spread, shares) + nats_of(total)
        level_seconds = x[:levels]
        slow = sum(len(component.members) for component in components if component.of_units)
        if (
            slow > max(1.0, THIRD * self.times.units)
            or np.any(x[levels:] <= 0)
            or np.any(level_seconds <= MIN_LEVEL_RATIO * np.append(floor, level_seconds[:-1]))
        ):
            length = np.inf  # parts add time, and farther levels take longer
        return Explanation(
            self.chain, base, components, x[levels:], expected, spread, length, self.scale, shares
        )

    def _design(self, pairs: Ints, acting: Floats) -> Floats:
        """Return what adds to the time of the pairs that parts slow: its level, and each part."""
        on_level = self.index[pairs][:, None] == np.arange(len(self.used))
        return np.concatenate([on_level, acting], axis=1)

    def _system(self, pairs: Ints, design: Floats, weight: Floats) -> Floats:
        """Return the matrix of the normal equations; pairs that no part slows have a level, too."""
        scaled: Array = design * np.sqrt(weight[pairs])[:, None]
        system: Floats = scaled.T @ scaled
        levels = np.arange(len(self.used))
        system[levels, levels] = np.bincount(self.index, weight)
        return system

    def _sums(self, pairs: Ints, design: Floats, x: Floats) -> Floats:
        """Return the time of each pair: of its level, and what parts add."""
        sums: Floats = x[self.index]
        sums[pairs] = design @ x
        return sums

    def errors(self, fit: Explanation) -> Floats:
        """Return the standard error of what each part adds, in seconds."""
        if not fit.parts:
            return np.zeros(0)
        y = self.times.seconds
        pairs, columns = self.columns(fit.parts)
        design = self._design(pairs, self.acting(fit.parts, columns, fit.seconds, fit.shares))
        sigma = self.sigma(fit.spread)
        weight = likelihood(np.log(y / fit.expected), sigma)[1] / (sigma * fit.expected) ** 2
        system = self._system(pairs, design, weight)
        system[np.diag_indices_from(system)] += float(y.mean()) ** -2
        return np.sqrt(np.diag(np.linalg.inv(system)))[len(self.used) :]

    def _words(
        self, components: Sequence[Part], columns: Floats, spread: float, shares: Floats
    ) -> float:
        """Return the nats that it takes to write an explanation down."""
        pairs = np.concatenate([self.count, (columns > 0).sum(axis=0)])
        numbers = np.log(NUMBER_RANGE * np.sqrt(np.maximum(pairs, 1)) / spread)
        units = self.times.units
        to_choose = 2 * units + len(PATTERNS) * len(self.groups)
        choices = len(components) * np.log(2.0 * to_choose)
        # which units a part is of, if these are no group
        free = [k for p in components if (k := len(p.members)) > 1 and p.members not in self.groups]
        choices += sum(float(np.log(units)) + log_choose(units, k) for k in free)
        # in which order the parts are written down says nothing
        order = float(np.log(np.arange(1, len(components) + 1)).sum())
        # each share between latency and bandwidth is one more number
        mixed = numbers.max() * len({*shares.tolist()} - {BANDWIDTH, LATENCY})
        return float(numbers.sum() + mixed + choices - order + self.code)

    @cached_property
    def groups(self) -> list[tuple[int, ...]]:
        """Groups of two units or more, each once; those of the root if it has several."""
        groups = (group for p in self.chain if p.max() > 0 for group in groups_of(p))
        return list(dict.fromkeys(tuple(group) for group in groups if len(group) > 1))


def log_choose(n: int, k: int) -> float:
    """Return the logarithm of the number of ways to choose k of n."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def middle(values: Floats) -> float:
    """Return the lower median."""
    k = (len(values) - 1) // 2
    return float(np.partition(values, k)[k])


def likelihood(
    residual: Floats, sigma: Floats, fast: float = OUTLIER_SHARE
) -> tuple[Floats, Floats]:
    """Return how likely each pair is, and how likely it is no stray one.

    ``fast`` is the part of the pairs that may be faster than expected for no reason.
    """
    scale = (1 - OUTLIER_SHARE) / np.sqrt(2 * np.pi)
    normal = np.exp(-0.5 * (residual / sigma) ** 2) * (scale / sigma)
    stray = OUTLIER_SHARE if fast == OUTLIER_SHARE else np.where(residual > 0, OUTLIER_SHARE, fast)
    total = normal + stray / STRAY_RANGE
    return total, normal / total


def nats_of(total: Floats) -> float:
    """Return the nats that it takes to write pairs down that are so likely."""
    return -float(np.log(total).sum())
