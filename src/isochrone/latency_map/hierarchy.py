"""The hierarchy of a map and what is slow in it, found together.

Groupings are proposed (`groupings`) and the map is explained on each (`explanation`); the one that
shortens the description most is taken, the costs are taken off, and the next is looked for, until
nothing gets shorter. A grouping must also hold on the times *without* costs: near pairs nearer
than far ones, with few exceptions. This is what a torus fails: every block of it has neighbours
outside that are as near as those inside.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import lgamma

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Floats, Ints
from isochrone.base.stats import MAD_TO_SIGMA, distinct, known, median_of, row_medians
from isochrone.latency_map.earlier_explanations import Known
from isochrone.latency_map.explanation import Explanation, Part, length_of
from isochrone.latency_map.fitting import MIN_SPREAD, likelihood, log_choose
from isochrone.latency_map.groupings import (
    cuts,
    cuts_of,
    cuts_within,
    dense,
    distances,
    hierarchies,
)
from isochrone.latency_map.host_order import groups_in_order, rejoined, ways_in_order
from isochrone.latency_map.neighbouring_hierarchies import moved
from isochrone.latency_map.neighbours import neighbours, with_grouping, without_parts
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import Partition, canonical, is_grouping, level_of
from isochrone.latency_map.parts import PartFinder

MIN_RATIO = 1.10
"""The farther of two levels is slower by this factor at least; less is of no use to anyone."""

MIN_RATIO_RECORDED = 1.05
"""The same for a grouping that the machine has recorded."""

EXCEPTIONS = 0.20
"""Pairs on the wrong side, as a part of the smaller of the two levels; a torus has over 35 %."""

PROMISING = 4
"""Hierarchies that are explored, of those looked at, and as many of those whose levels hold."""

LIKELY = 12
"""Hierarchies looked at, of those proposed for some times."""

MANY, FEW = (2, 1, 1), (1, 1, 1)
"""Groupings that are followed on each level: of the times as they are, and without the parts."""

OUTSIDE = 4.5
"""Standard errors that no pair is faster by then: such pairs may be a group; and"""

LATE = 0.01
"""the part of the pairs that may be slower by this: a slow pair is named whatever the levels."""

GLANCE = 3
"""Steps of a fit that only says which hierarchies are looked at."""

MOST = 6000
"""Pairs that hierarchies are compared on."""

NEIGHBOURS = 6
"""Hierarchies looked at, of those that differ from the best in one grouping."""

UNKNOWN_NOISE = 0.02
"""What is taken for the noise of a map that does not tell it."""

CHANCE = 1e-2
"""Largest probability that groups separate unstructured times by luck (a permutation test: every
set of pairs is as likely to be the fastest; Bonferroni's correction for groups of this size)."""

WIDE_GAP = 1.5
"""What convinces where `CHANCE` cannot, as with two nodes of two ranks: a gap that is wider than
either of the two levels by this factor."""

LEVEL = 6.0
"""Nats that a level costs besides its groups: machines have few. One that joins a single group of
units costs as much again, since a slow group, or a slow way to it, looks the same."""


def explain(
    times: Times, recorded: Sequence[Partition] = (), known: Known | None = None
) -> Explanation:
    """Return the shortest explanation of a map.

    Of a large map hierarchies are compared on some of its pairs; what is slow rests on all.

    Parameters
    ----------
    times
        The map.
    recorded
        Groupings that the machine recorded.
    known
        Explanations of other maps; that of the same pairs is the first hypothesis.
    """
    search = _Search(times, recorded)
    if known is not None:
        search.slowed = known.slowed(search.times, recorded)
        before = known.of(times, recorded)
        again = before and search.recognised(before)
        if again:
            return again
    found = search.run()
    finder = search.finder(found.chain[:-1])
    if search.times is not times:
        finder = PartFinder(times, found.chain, found.spread, finder.code, {})
        found = finder.best(finder.like(found))
    if known is not None:
        known.add(times, recorded, found)
    return replace(found, errors=finder.errors(found))


class _Search:
    """The search for the shortest explanation of one map."""

    def __init__(self, times: Times, recorded: Sequence[Partition]) -> None:
        self.all, self.times = times, times.some(MOST)
        # neither all units in one group nor each by itself is a grouping
        groupings = filter(is_grouping, map(canonical, recorded))
        self.recorded = {p.tobytes(): p for p in groupings}
        self.noise = noise_of(times)
        self.whole_map = not times.root.any()
        self.readable = self.whole_map and not times.sparse
        self.slowed: dict[Part, tuple[Ints, Floats]] = {}
        self.ways: dict[tuple[bytes, bytes], float] = {}
        self.done: dict[tuple[bytes, ...], Explanation | None] = {}

    def run(self) -> Explanation:
        """Explain the map on every hierarchy proposed, then on those next to the best."""
        self.among(self.by_names(self.all.seconds) or [[]])
        best = self.leaders(self.among(self.plain()))
        for propose in (self.cleaned, self.neighbours):
            while True:
                shortest = min((self.among(propose(fit), fit) for fit in best), key=length_of)
                found = self.leaders(shortest)
                if all(f.length >= b.length - 1e-6 for f, b in zip(found, best, strict=False)):
                    break
                best = found
        return best[-1]

    def recognised(self, before: Explanation) -> Explanation | None:
        """Return the explanation on a hierarchy found before, if the search would find no other.

        Nothing is slow, the levels hold, no pair is off, no level can be left out, no unit moved,
        and no group that the residuals suggest makes it shorter.
        """
        if self.all is not self.times or before.parts:
            return None
        finder = self.finder(before.chain[:-1])
        fit = finder.grow(finder.plain())
        off = np.log(self.times.seconds / fit.expected) / finder.sigma(fit.spread)
        late = np.count_nonzero(off > OUTSIDE)
        if fit.parts or off.min() < -OUTSIDE or late > max(1, LATE * len(off)):
            return None
        if not self.holds(fit):
            return None
        chain = list(fit.chain[:-1])
        fewer = (self.finder(chain[:k] + chain[k + 1 :]) for k in range(len(chain)))
        if any(finder.plain().length <= fit.length for finder in fewer):
            return None
        if any(True for _ in moved(fit, self.times)):
            return None
        if self.times.units > 3 and self.whole_map:
            for distance in distances(dense(self.times, self.times.seconds / fit.expected))[::2]:
                for cut in cuts(distance - distance.min(), 2):
                    for more in with_grouping(chain, cut):
                        gain = self.gain(fit, more) - self.code(more) + finder.code
                        if gain > 0 and self.finder(more).plain().length < fit.length:
                            return None
        return fit

    def gain(self, fit: Explanation, chain: Sequence[Partition]) -> float:
        """Return the nats that other levels gain, but for few: the spread about their means."""
        rest = np.log(self.times.seconds / fit.expected)
        core = likelihood(rest, np.hypot(fit.spread, self.times.error))[1]
        level = level_of([*chain, self.times.root], self.times.i, self.times.j)
        weight = np.maximum(np.bincount(level, core), 1.0)
        mean = np.bincount(level, core * rest) / weight
        within, whole = (float(np.sum(core * off**2)) for off in (rest - mean[level], rest))
        return float(core.sum() / 2 * np.log(whole / max(within, 1e-12)))

    def leaders(self, shortest: Explanation) -> list[Explanation]:
        """Return the shortest explanation, and, if its levels do not hold, that whose do."""
        found = sorted((f for f in self.done.values() if f is not None), key=length_of)
        # without any the one of no groups
        valid = next((f for f in found if self.holds(f)), self.done[()] or found[0])
        return [shortest] if valid is shortest else [shortest, valid]

    def among(
        self, chains: Iterable[list[Partition]], known: Explanation | None = None
    ) -> Explanation:
        """Return the shortest explanation on some hierarchies; the promising ones are explored."""
        best = None
        quick: list[tuple[Explanation, tuple[bytes, ...], PartFinder]] = []
        for key, chain in {_key(chain): chain for chain in chains}.items():
            finder = self.finder(chain)
            fit = finder.quick(best, known=known)
            self.done.setdefault(key, None)
            quick.append((fit, key, finder))
            best = fit if best is None or fit.length < best.length else best
        quick.sort(key=lambda q: q[0].length)
        most = PROMISING if known is None else PROMISING // 2
        valid = [q for q in quick if self.holds(q[0])][:most]
        for fit, key, finder in {q[1]: q for q in [*quick[:most], *valid]}.values():
            explored, before = finder.best(fit), self.done[key]
            if before is None or explored.length < before.length:
                self.done[key] = explored
        return min((f for f in self.done.values() if f is not None), key=length_of)

    def plain(self) -> Iterator[list[Partition]]:
        """Propose hierarchies from the times as they are, and those that were recorded."""
        yield []
        yield from ([partition] for partition in self.recorded.values())
        yield list(self.recorded.values())
        if self.readable:
            yield from self.likely(self.matrix, MANY, self.cuts)
        elif not self.whole_map:
            yield from ([partition] for partition in cuts_within(self.all, self.all.seconds))

    def by_names(self, seconds: Floats) -> list[list[Partition]]:
        """Return the likeliest hierarchies of units with consecutive names."""
        if self.all.place is None:
            return []
        chains = list(groups_in_order(self.all, seconds, self.all.place))
        pairs = [chain for chain in chains if len(chain) > 1]
        pairs.sort(key=lambda chain: self.finder(chain).plain().length)
        return [*(chain for chain in chains if len(chain) == 1), *pairs[: LIKELY // 2]]

    @cached_property
    def matrix(self) -> Floats:
        """The times as they are."""
        return dense(self.all, self.all.seconds)

    def cleaned(self, best: Explanation) -> Iterator[list[Partition]]:
        """Propose hierarchies from the times without what the parts add."""
        if self.readable:
            for matrix in without_parts(best, self.all):
                yield from self.likely(matrix, FEW)
        if self.all.place is not None:
            yield from rejoined(best.chain, self.all.place)
            if best.parts:
                yield from self.by_names(best.healthy(self.all))

    @cached_property
    def cuts(self) -> list[list[Partition]]:
        """The groupings of the times as they are, by each distance."""
        return cuts_of(self.matrix) if self.readable else []

    def likely(
        self, matrix: Floats, kept: Sequence[int], known: Sequence[Sequence[Partition]] = ()
    ) -> list[list[Partition]]:
        """Return the hierarchies that a matrix of times speaks for most, by a quick estimate."""
        found = {}
        for blocks, chain in hierarchies(matrix, self.noise, kept, known=known):
            found[_key(chain)] = blocks.by_levels(chain) + self.code(chain), chain
        best = sorted(found.values(), key=lambda f: f[0])[:LIKELY]
        return [chain for _, chain in best if _key(chain) not in self.done]

    @cached_property
    def usual(self) -> list[Partition]:
        """The groupings that are recorded, and those of the times as they are."""
        return [*self.recorded.values(), *(cut for own in self.cuts for cut in own)]

    def neighbours(self, best: Explanation) -> list[list[Partition]]:
        """Propose the most promising hierarchies that differ from the best in one grouping."""
        found = {}
        for chain in neighbours(best, self.all, self.times, self.noise, self.usual):
            key = _key(chain)
            if key not in found:
                finder = self.finder(chain)
                length = min(fit.length for fit in finder.carried(best, GLANCE))
                before = self.done.get(key)
                if before is None or length < before.length - 1e-6:
                    found[key] = length, chain
        return [chain for _, chain in sorted(found.values(), key=lambda f: f[0])[:NEIGHBOURS]]

    def finder(self, chain: Sequence[Partition]) -> PartFinder:
        """Return what explains the map on a hierarchy."""
        return PartFinder(
            self.times, [*chain, self.times.root], self.noise, self.code(chain), self.slowed
        )

    def holds(self, fit: Explanation) -> bool:
        """Whether each level is nearer than the next on the times without costs.

        A pair is as far off its level's time, in log time, as it is off what is expected of it:
        what parts add comes with its own noise, which would bury a level once they are taken off.
        """
        base = fit.base_of(self.times)
        cleaned = np.log(base * self.times.seconds / fit.expected)
        level = level_of(fit.chain, self.times.i, self.times.j)
        return self._no_luck(fit, cleaned, level) and all(
            separates(
                np.sort(cleaned[level == k]), np.sort(cleaned[level == k + 1]),
                recorded=partition.tobytes() in self.recorded,
            )
            for k, partition in enumerate(fit.chain[:-1])
        )  # fmt: skip

    def _no_luck(self, fit: Explanation, cleaned: Floats, level: Ints) -> bool:
        """Whether the groups of few units would hardly separate their times by luck."""
        groups, parent = fit.chain[0], fit.chain[min(1, len(fit.chain) - 1)]
        if len(fit.chain) < 2 or groups.tobytes() in self.recorded or self.times.root.any():
            return True
        near, far = np.sort(cleaned[level == 0]), np.sort(cleaned[level == 1])
        if not near.size or not far.size:
            return False
        pairs, wrong = near.size + far.size, _exceptions(near, far)
        sets = log_choose(pairs, near.size) - log_choose(pairs, wrong) - np.log(wrong + 1.0)
        widest = max(near[-1] - near[0], far[-1] - far[0])
        apart = far[0] - near[-1] > WIDE_GAP * widest
        return bool(apart or self.named(groups, parent, sizes=False) - sets <= np.log(CHANCE))

    def code(self, chain: Sequence[Partition]) -> float:
        """Return the nats that it takes to write the groupings down."""
        total = 0.0
        finer = [np.arange(self.times.units), *chain][: len(chain)]
        coarser = [*chain, self.times.root][1:]
        for below, partition, above in zip(finer, chain, coarser, strict=True):
            if partition.tobytes() not in self.recorded:
                key = partition.tobytes(), above.tobytes()
                if key not in self.ways:
                    self.ways[key] = self.named(partition, above)
                joined = np.bincount(partition[np.unique(below, return_index=True)[1]]) > 1
                total += self.ways[key] + (LEVEL if joined.sum() > 1 else 2 * LEVEL)
        return total

    def named(self, group: Partition, parent: Partition, *, sizes: bool = True) -> float:
        """Log of the number of ways to group units, fewer if names tell."""
        ways, place = _ways(group, parent, sizes=sizes), self.times.place
        return ways if place is None else min(ways, ways_in_order(group, parent, place))


def _key(chain: Sequence[Partition]) -> tuple[bytes, ...]:
    return tuple(p.tobytes() for p in chain)


def _ways(group: Partition, parent: Partition, *, sizes: bool = True) -> float:
    """Log of the number of ways to group the units of each coarser group like this.

    ``sizes`` counts groups of other sizes, too.
    """
    total = 0.0
    for k in distinct(parent):
        count = np.unique(group[parent == k], return_counts=True)[1]
        n = int(count.sum())
        alike = np.bincount(count)
        total += lgamma(n + 1) - sum(map(lgamma, [*(count + 1), *(alike + 1)]))
        if sizes and n > 2:
            # and which sizes there are: the partitions of the number n (Hardy & Ramanujan 1918)
            total += max(0.0, np.pi * np.sqrt(2 * n / 3) - np.log(4 * n * np.sqrt(3)))
    return total


def separates(near: Floats, far: Floats, *, recorded: bool) -> bool:
    """Whether a level is nearer than the next, with few exceptions; sorted log times of both."""
    if not near.size or not far.size:
        return False
    ratio = median_of(far) - median_of(near)
    if ratio < np.log(MIN_RATIO_RECORDED if recorded else MIN_RATIO):
        return False
    smaller = min(near.size, far.size)
    return _exceptions(near, far) <= max(EXCEPTIONS * smaller, 1.0 if smaller >= 4 else 0.0)


def _exceptions(fast: Floats, slow: Floats) -> int:
    """Count the pairs on the wrong side of the best threshold; both sides come sorted."""
    beyond = fast.size - np.searchsorted(fast, fast, side="right")
    before = np.searchsorted(slow, fast, side="right")
    return int(min(np.min(beyond + before), fast.size))


def noise_of(times: Times) -> float:
    """Estimate the noise, whatever the levels and costs: by units that differ by a constant.

    Two units of one group differ by the same in every row; of each unit the one that is most like
    it is taken.
    """
    if times.units < 5 or times.root.any() or times.sparse:
        return UNKNOWN_NOISE
    matrix = np.full((times.units, times.units), np.nan)
    matrix[times.i, times.j] = matrix[times.j, times.i] = times.seconds
    squared = matrix**2
    least: list[float] = []
    some = distinct(np.linspace(0, times.units - 1, 64).astype(int))
    for a in some:
        difference = matrix[a] - matrix
        difference -= row_medians(difference)[:, None]
        relative = np.abs(difference) / np.sqrt(squared[a] + squared)
        relative[a] = np.nan
        least.append(np.fmin.reduce(row_medians(relative)))
    found = known(least)
    return max(MAD_TO_SIGMA * median_of(found), MIN_SPREAD) if len(found) else UNKNOWN_NOISE
