"""The hierarchy of a map and what is slow in it, found together.

Groupings are proposed (`groupings`) and the map is explained on each (`slow_components`); the one
that shortens the description most is taken, the costs are taken off, and the next is looked for,
until nothing gets shorter. A grouping must also hold on the times *without* costs: near pairs
nearer than far ones, with few exceptions. This is what a torus fails: every block of it has
neighbours outside that are as near as those inside.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Floats, Ints
from isochrone.base.stats import median_of
from isochrone.latency_map.explanation import INSIDE, Explanation, Part, length_of
from isochrone.latency_map.fitting import likelihood
from isochrone.latency_map.groupings import (
    cuts,
    cuts_within,
    dense,
    distances,
    hierarchies,
)
from isochrone.latency_map.host_order import (
    groups_in_order,
    rejoined,
    ways_in_order,
    ways_of_groups,
    ways_of_sizes,
)
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import (
    Partition,
    canonical,
    is_grouping,
    key_of,
    level_matrix,
    level_of,
    nested,
)
from isochrone.latency_map.slow_components import PartFinder
from isochrone.latency_map.thresholds import (
    COMPARED_HIERARCHIES,
    COMPARED_PAIRS,
    EXCEPTIONS,
    FOLLOWED,
    HEAVY_TAIL,
    MIN_GAIN,
    MIN_LEVEL_RATIO,
    MIN_LEVELS_RATIO,
    MIN_PART_ERRORS,
    MIN_PEERS,
    MOVED,
    NODE_LEVEL_COST,
)

Known = dict[tuple[bytes, ...], Explanation]
"""The latest explanation of the maps that have the same pairs and recorded groupings, by one
command. A map of the same pairs is explained on the same hierarchy first, and the search is left
out only if that leaves nothing to be found."""


def explain(
    times: Times, recorded: Sequence[Partition] = (), explanations: Known | None = None
) -> Explanation:
    """Return the shortest explanation of a map.

    Of a large map hierarchies are compared on some of its pairs; what is slow rests on all.

    Parameters
    ----------
    times
        The map.
    recorded
        Groupings that the machine recorded.
    explanations
        Explanations of other maps; that of the same pairs is the first hypothesis.
    """
    search = _Search(times, recorded)
    key = tuple(array.tobytes() for array in (times.root, times.i, times.j, *recorded))
    previous = explanations.get(key) if explanations else None
    best = (search.recognised(previous) if previous else None) or search.run()
    finder = search.finder(best.chain[:-1])
    if search.times is not times:
        finder = PartFinder(times, best.chain, finder.code, {})
        best = finder.refitted(best)
    best = finder.grow(best)
    if explanations is not None:
        explanations[key] = best
    return replace(best, errors=finder.errors(best))


class _Search:
    """The search for the shortest explanation of one map."""

    def __init__(self, times: Times, recorded: Sequence[Partition]) -> None:
        self.all, self.times = times, times.some(COMPARED_PAIRS)
        # neither all units in one group nor each by itself is a grouping
        groupings = filter(is_grouping, map(canonical, recorded))
        self.recorded = {p.tobytes(): p for p in groupings}
        self.whole_map = not times.root.any()
        self.readable = self.whole_map and not times.sparse
        self.slowed: dict[Part, tuple[Ints, Floats]] = {}
        self.ways: dict[tuple[bytes, bytes], float] = {}
        self.done: dict[tuple[bytes, ...], Explanation] = {}

    def run(self) -> Explanation:
        """Explain the map on every hierarchy proposed, then on those next to the best."""
        self.among(self.by_names(self.all.seconds) or [[]])
        ungrouped = self.among([[]])
        best = self.leaders(self.among([*self.cleaned(ungrouped), *self.plain()]))
        for propose in (self.cleaned, self.neighbours):
            while True:
                shortest = min((self.among(propose(fit)) for fit in best), key=length_of)
                leaders = self.leaders(shortest)
                if all(
                    f.length >= b.length - MIN_GAIN for f, b in zip(leaders, best, strict=False)
                ):
                    break
                best = leaders
        return best[-1]

    def recognised(self, previous: Explanation) -> Explanation | None:
        """Return the explanation on a hierarchy found before, if the search would find no other.

        Nothing is slow, the levels hold, no pair is off, no level can be left out, no unit moved,
        and no group that the residuals suggest makes it shorter.
        """
        if self.all is not self.times or previous.parts:
            return None
        finder = self.finder(previous.chain[:-1])
        fit = finder.grow(finder.plain())
        off = np.log(self.times.seconds / fit.expected) / finder.sigma(fit.spread)
        late = np.count_nonzero(off > MIN_PART_ERRORS)
        if fit.parts or off.min() < -MIN_PART_ERRORS or late > max(1, HEAVY_TAIL * len(off)):
            return None
        if not self.holds(fit):
            return None
        chain, others = list(fit.chain[:-1]), [*self.neighbours(fit)]
        if self.times.units > 3 and self.whole_map:
            for distance in distances(dense(self.times, self.times.seconds / fit.expected)):
                for cut in islice(cuts(distance - distance.min()), FOLLOWED):
                    nesting = [p for p in chain if nested(p, cut)]
                    others.append(sorted([*nesting, cut], key=lambda p: -int(p.max())))
        shorter = any(self.finder(candidate).plain().length < fit.length for candidate in others)
        return None if shorter else fit

    def leaders(self, shortest: Explanation) -> list[Explanation]:
        """Return the shortest explanation, and, if its levels do not hold, that whose do."""
        explanations = sorted(self.done.values(), key=length_of)
        # without any the one of no groups
        valid = next((f for f in explanations if self.holds(f)), self.done[()] or explanations[0])
        return [shortest] if valid is shortest else [shortest, valid]

    def among(self, chains: Iterable[list[Partition]]) -> Explanation:
        """Return the shortest explanation on some hierarchies, and on those before."""
        for key, chain in {key_of(chain): chain for chain in chains}.items():
            if any(map(self._all_but_one, chain)):
                continue
            fit = self.finder(chain).quick()
            self.done[key] = min(fit, self.done.get(key, fit), key=length_of)
        return min(self.done.values(), key=length_of)

    def _all_but_one(self, partition: Partition) -> bool:
        """Whether it joins all units but one, which then is slow: the times are the same."""
        sizes = np.bincount(partition)
        peers = self.whole_map and len(partition) >= MIN_PEERS
        return bool(
            peers
            and len(sizes) == 2
            and sizes.min() == 1
            and partition.tobytes() not in self.recorded
        )

    def plain(self) -> Iterator[list[Partition]]:
        """Propose hierarchies from the times as they are, and those that were recorded."""
        yield []
        yield from ([partition] for partition in self.recorded.values())
        yield list(self.recorded.values())
        if self.readable:
            yield from self.likely(self.all.seconds)
        elif not self.whole_map:
            yield from ([partition] for partition in cuts_within(self.all, self.all.seconds))

    def by_names(self, seconds: Floats) -> list[list[Partition]]:
        """Return the likeliest hierarchies of units with consecutive names."""
        if self.all.place is None:
            return []
        chains = list(groups_in_order(self.all, seconds, self.all.place))
        pairs = [chain for chain in chains if len(chain) > 1]
        pairs.sort(key=lambda chain: self.finder(chain).plain().length)
        return [
            *(chain for chain in chains if len(chain) == 1),
            *pairs[: COMPARED_HIERARCHIES // 2],
        ]

    def cleaned(self, best: Explanation) -> Iterator[list[Partition]]:
        """Propose hierarchies from the times without what the parts add."""
        if self.readable and best.parts:
            yield from self.likely(best.healthy(self.all))
        if self.all.place is not None:
            yield from rejoined(best.chain, self.all.place)
            if best.parts:
                yield from self.by_names(best.healthy(self.all))

    def likely(self, seconds: Floats) -> list[list[Partition]]:
        """Return the hierarchies that times speak for most, by a quick estimate."""
        estimates = {}
        for blocks, chain in hierarchies(dense(self.all, seconds)):
            estimates[key_of(chain)] = blocks.nats + self.code(chain), chain
        best = sorted(estimates.values(), key=lambda f: f[0])[:COMPARED_HIERARCHIES]
        return [chain for _, chain in best if key_of(chain) not in self.done]

    def neighbours(self, best: Explanation) -> Iterator[list[Partition]]:
        """Propose hierarchies that lack a level of the best, or have units where they fit best."""
        chain = list(best.chain[:-1])
        yield from (chain[:k] + chain[k + 1 :] for k in range(len(chain)))
        if self.times.units <= MOVED:
            yield from moved(best, self.times)
        yield from split(best, self.times)

    def finder(self, chain: Sequence[Partition]) -> PartFinder:
        """Return what explains the map on a hierarchy."""
        return PartFinder(self.times, [*chain, self.times.root], self.code(chain), self.slowed)

    def holds(self, fit: Explanation) -> bool:
        """Whether each level is nearer than the next on the times without costs.

        A pair is as far off its level's time, in log time, as it is off what is expected of it:
        what parts add comes with its own noise, which would bury a level once they are taken off.
        """
        base = fit.base_of(self.times)
        cleaned = by_level(np.log(base * self.times.seconds / fit.expected), fit.chain, self.times)
        return all(
            separates(near, far, recorded=partition.tobytes() in self.recorded)
            for partition, near, far in zip(fit.chain, cleaned, cleaned[1:], strict=False)
        )

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
                total += self.ways[key] + (
                    NODE_LEVEL_COST if joined.sum() > 1 else 2 * NODE_LEVEL_COST
                )
        return total

    def named(self, group: Partition, parent: Partition) -> float:
        """Log of the number of ways to group units, in groups of any sizes; fewer if names tell."""
        ways, position = ways_of_groups(group, parent), self.times.place
        ways += sum(map(ways_of_sizes, np.bincount(parent).tolist()))
        return ways if position is None else min(ways, ways_in_order(group, parent, position))


def moved(fit: Explanation, times: Times) -> Iterator[list[Partition]]:
    """Propose hierarchies with units in the closest groups that make their times most likely.

    What the parts add stays as it is. A unit moves into another group, or one of its own: all at
    once that would gain by this, and the one that gains most.

    Parameters
    ----------
    fit
        The explanation.
    times
        The map.
    """
    if len(fit.chain) < 2:
        return
    nats, level = _nats_by_level(fit, times), level_matrix(fit.chain[:-1]).astype(np.int64)
    closest, root, units = fit.chain[0], fit.chain[-1], np.arange(times.units)
    heads = np.unique(closest, return_index=True)[1]

    def on_level(levels: Ints) -> Floats:
        return np.asarray(np.take_along_axis(nats, levels[None], axis=0)[0].sum(axis=1))

    # a unit that has come to a group sees the others as the first unit of the group does
    in_group = sum(level_nats @ (level[heads] == k).T for k, level_nats in enumerate(nats))
    cost = np.column_stack([in_group, on_level(np.maximum(level, 1))])
    cost[units, closest] = np.inf
    cost[:, :-1][root[:, None] != root[heads]] = np.inf
    cost[np.bincount(closest)[closest] == 1, -1] = np.inf
    best = np.argmin(cost, axis=1)
    gain = on_level(level) - cost[units, best]
    moving = np.argsort(-gain, kind="stable")[: np.count_nonzero(gain > MIN_GAIN)]
    for moved_units in (moving, moving[:1])[: len(moving)]:
        chain = [partition.copy() for partition in fit.chain[:-1]]
        for unit in moved_units.tolist():
            if best[unit] == len(heads):
                chain[0][unit] = chain[0].max() + 1
            else:
                for new_partition, old_partition in zip(chain, fit.chain, strict=False):
                    new_partition[unit] = old_partition[heads[best[unit]]]
        partitions = {p.tobytes(): p for p in map(canonical, chain)}
        yield [p for p in partitions.values() if is_grouping(p)]


def split(fit: Explanation, times: Times) -> Iterator[list[Partition]]:
    """Propose hierarchies in which a closest group that is slow inside is several groups.

    They are those of units between which times are nearer to what they were if it was not slow.
    """
    for component, seconds in zip(fit.parts, fit.seconds, strict=True):
        members = np.array(component.members)
        if component.pattern != INSIDE or np.ptp(fit.chain[0][members]):
            continue
        added = fit.added(component, float(seconds), times)
        near = (added > 0) & (times.seconds**2 < fit.expected * (fit.expected - added))
        if not near.any():
            continue
        closest = fit.chain[0].copy()
        closest[members] = closest.max() + 1 + np.arange(len(members))
        for a, b in zip(times.i[near], times.j[near], strict=True):
            closest[closest == closest[b]] = closest[a]
        yield [canonical(closest), *fit.chain[1:-1]]


def _nats_by_level(fit: Explanation, times: Times) -> Floats:
    """Return the nats of each pair on each level, shape (levels, units, units); 0 if not known."""
    extra = fit.expected - fit.base_of(times)
    sigma = np.hypot(fit.spread, times.error)
    nats = np.zeros((len(fit.base), times.units, times.units))
    for level, base in enumerate(fit.base):
        if np.isfinite(base):
            residual = np.log(times.seconds / np.maximum(base + extra, 0.1 * base))
            nats[level, times.i, times.j] = -np.log(likelihood(residual, sigma)[0])
            nats[level] += nats[level].T
    return nats


def by_level(values: Floats, chain: Sequence[Partition], times: Times) -> list[Floats]:
    """Return the values of the pairs of each level, sorted."""
    level = level_of(chain, times.i, times.j)
    return [np.sort(values[level == k]) for k in range(len(chain))]


def separates(level_times: Floats, next_times: Floats, *, recorded: bool) -> bool:
    """Whether a level is nearer than the next, with few exceptions; sorted log times of both."""
    if not level_times.size or not next_times.size:
        return False
    ratio = median_of(next_times) - median_of(level_times)
    if ratio < np.log(MIN_LEVEL_RATIO if recorded else MIN_LEVELS_RATIO):
        return False
    smaller = min(level_times.size, next_times.size)
    return _exceptions(level_times, next_times) <= max(
        EXCEPTIONS * smaller, 1.0 if smaller >= 4 else 0.0
    )


def _exceptions(fast: Floats, slow: Floats) -> int:
    """Count the pairs on the wrong side of the best threshold; both sides come sorted."""
    beyond = fast.size - np.searchsorted(fast, fast, side="right")
    slow_below = np.searchsorted(slow, fast, side="right")
    return int(min(np.min(beyond + slow_below), fast.size))
