"""The inside of one node: levels of cores, by a model of random effects.

    log t_ij = time of the level + effects of both cores + noise

Every core differs a little from its like, by its place on a ring or a mesh. These effects scatter,
with a variance component of their own (random effects: Laird & Ware 1982, *Random-effects models
for longitudinal data*, Biometrics 38, 963-974). Hierarchies compete by description length (Rissanen
1978, *Modeling by shortest data description*, Automatica 14, 465-471): the nats of the times, of
the effects, and of the groups. A hierarchy of cores is regular, and each of its levels is nearer
than the next, with few exceptions.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from math import log

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.record import Record
from isochrone.base.stats import (
    MAD_TO_SIGMA,
    distinct,
    median_of,
    medians_by,
)
from isochrone.latency_map.explanation import length_of
from isochrone.latency_map.fitting import likelihood, middle, nats_of
from isochrone.latency_map.groupings import cuts_of, dense
from isochrone.latency_map.hierarchy import by_level, separates
from isochrone.latency_map.host_order import ways_in_order, ways_of_groups, ways_of_sizes
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import (
    Partition,
    canonical,
    is_grouping,
    key_of,
    level_of,
    nested,
)
from isochrone.latency_map.thresholds import (
    BEAM,
    COMPARED_PAIRS,
    CONVERGED,
    CORE_LEVEL_COST,
    FAST_STRAY,
    KINDS,
    MAX_FIT_STEPS,
    MIN_LEVEL_RATIO,
    MIN_PEERS,
    MIN_SPREAD,
    NUMBER_RANGE,
    OUTLIER_COST,
    SCATTER_COST,
    THIRD,
    TWO_THIRDS_EFFICIENCY,
    TWO_THIRDS_TO_SIGMA,
    UNORDERED,
    USUAL_FREEDOM,
    USUAL_SCATTER,
)


class Fit(Record):
    """The model fitted on one hierarchy.

    Attributes
    ----------
    chain
        Groups of each level, the closest first; the last has all cores.
    base
        Time of each level in seconds; NaN where it has no pair.
    length
        Description length in nats; infinite where a level is not farther than the one before.
    slow
        Log time that slow cores add to each pair.
    """

    chain: tuple[Partition, ...]
    base: Floats
    length: float
    slow: Floats


class CoreModel:
    """The model of the times between cores on one hierarchy.

    Parameters
    ----------
    times
        The map.
    chain
        Groups of each level, the closest first, with all cores last.
    code
        Nats that it takes to write the groups down.
    """

    def __init__(self, times: Times, chain: Sequence[Partition], code: float) -> None:
        self.times, self.chain, self.code = times, tuple(chain), code
        self.log = np.log(times.seconds)
        used, self.place = np.unique(alike(times, chain), return_inverse=True)
        self.of_level = used % len(chain)
        self.count = np.bincount(self.place)

    def fit(self) -> Fit:
        """Fit times of levels and effects in turn; pairs that are far off have little weight.

        The fit begins with the middle pairs of the levels, and with the cores that look slow.
        """
        i, j = self.times.i, self.times.j
        base = np.array([middle(self.log[self.place == k]) for k in range(len(self.count))])
        residual = self.log - base[self.place]
        spread = max(MAD_TO_SIGMA * median_of(np.abs(residual)), MIN_SPREAD)
        ends = np.concatenate([i, j])
        cores, middles = medians_by(ends, np.tile(residual, 2))
        effects = np.zeros(self.times.units)
        effects[cores] = middles - median_of(middles)
        effects = self._slow(effects)
        residual = residual - effects[i] - effects[j]
        for step in range(MAX_FIT_STEPS):
            sigma = np.hypot(spread, self.times.error)
            weight = likelihood(residual, sigma, FAST_STRAY)[1] / sigma**2
            total = np.bincount(self.place, weight) + 1e-6
            change = np.bincount(self.place, weight * residual) / total
            base = base + change
            residual = residual - change[self.place]
            both = (np.tile(values, 2) for values in (weight, weight * residual))
            precision, pull = np.array([np.bincount(ends, k, len(effects)) for k in both], float)
            seen = precision > 1e-3 / spread**2
            new, nats = np.zeros(len(effects)), 0.0
            if seen.any():
                raw = effects[seen] + pull[seen] / precision[seen]
                new[seen], nats = shrunk(raw, precision[seen])
            residual = residual - (new - effects)[i] - (new - effects)[j]
            effects = new
            free = len(base) + 0.5 * np.count_nonzero(seen) * bool(nats)
            core = likelihood(residual, sigma, FAST_STRAY)[1]
            freedom = max(core.sum() - free, 0.5 * core.sum(), 0.5)
            spread = np.sqrt(max(np.sum(core * (residual**2 - self.times.error**2)), 0.0) / freedom)
            spread = max(float(spread), MIN_SPREAD)
            if step > 3 and np.abs(change).max() <= CONVERGED:
                break
        sigma = np.hypot(spread, self.times.error)
        numbers = np.log(NUMBER_RANGE * np.sqrt(self.count) / spread).sum()
        length = nats + numbers + self.code + nats_of(likelihood(residual, sigma, FAST_STRAY)[0])
        levels = distinct(self.of_level)
        pairs = np.bincount(self.of_level, self.count)[levels]
        middles = np.bincount(self.of_level, self.count * base)[levels] / pairs
        if np.any(np.diff(middles) <= np.log(MIN_LEVEL_RATIO)):
            length = np.inf
        seconds = np.full(len(self.chain), np.nan)
        seconds[levels] = np.exp(middles)
        slow = self._slow(effects)
        return Fit(self.chain, seconds, float(length), slow[i] + slow[j])

    def _slow(self, effects: Floats) -> Floats:
        """Return the effects of the cores that are outliers of their kind, and zero for others."""
        off = effects - middle_of_kind(effects, self.chain[0])
        return np.where(few((off > 0) & (off**2 > 2 * OUTLIER_COST * scatter(off) ** 2)), off, 0.0)


def alike(times: Times, chain: Sequence[Partition]) -> Ints:
    """Return a number for each pair, its level modulo their number: those of one have one time.

    On hybrid processors, pairs of a level differ by the kinds of their cores.
    """
    kind = kinds_of(chain[0])
    return level_of(chain, times.i, times.j) + len(chain) * (kind[times.i] + kind[times.j])


def kinds_of(closest: Partition) -> Ints:
    """Return the kind of each core: of closest groups of one size; few are of the main kind."""
    size = np.bincount(closest)[closest]
    cores = np.bincount(size)
    size = np.where(cores[size] < MIN_PEERS, cores.argmax(), size)
    return np.asarray(np.unique(size, return_inverse=True)[1])


def middle_of_kind(effects: Floats, closest: Partition) -> Floats:
    """Return for each core the middle effect of its kind."""
    kind = kinds_of(closest)
    return np.asarray(medians_by(kind, effects)[1][kind])


def shrunk(raw: Floats, precision: Floats) -> tuple[Floats, float]:
    """Shrink effects towards their middle, except outliers; and return the nats they take.

    By empirical Bayes (Efron & Morris 1975, *Data analysis using Stein's estimator and its
    generalizations*, JASA 70, 311-319). All are zero where that takes fewer nats.
    """
    off = raw - median_of(raw)
    variance = scatter(off, 1 / median_of(precision)) ** 2
    ordinary = np.log1p(precision * variance) / 2 + off**2 / (2 * (variance + 1 / precision))
    outlier = few((off > 0) & (ordinary > OUTLIER_COST))
    none = precision * off**2 / 2
    odd = few((off > 0) & (none > OUTLIER_COST))
    without = float(np.where(odd, OUTLIER_COST, none).sum())
    if np.where(outlier, OUTLIER_COST, ordinary).sum() + SCATTER_COST >= without:
        return np.where(odd, off, 0.0), OUTLIER_COST * float(odd.sum())
    effects = np.where(outlier, off, off * variance / (variance + 1 / precision))
    ordinary_cost = np.log1p(precision * variance) / 2 + effects**2 / (2 * variance)
    return effects, float(np.where(outlier, OUTLIER_COST, ordinary_cost).sum()) + SCATTER_COST


def few(outlier: Bools) -> Bools:
    """Return the outliers, or none if they are more than a third: that is another kind then."""
    return np.asarray(outlier & (outlier.sum() <= THIRD * len(outlier)))


def scatter(off: Floats, error: float = 0.0) -> float:
    """Return the standard deviation of effects about their middle, but for the slow ones.

    Parameters
    ----------
    off
        The effects without their middle one.
    error
        Variance that measuring adds to them.
    """
    nearest = (2 * (len(off) - 1)) // 3
    variance = (
        TWO_THIRDS_TO_SIGMA * float(np.partition(np.abs(off), nearest)[nearest])
    ) ** 2 - error
    freedom = scatter_freedom(len(off))
    total = USUAL_FREEDOM * USUAL_SCATTER**2 + freedom * max(variance, 0.0)
    return float(np.sqrt(total / (USUAL_FREEDOM + freedom)))


def scatter_freedom(components: int) -> float:
    """Return the degrees of freedom of the scatter of so many components."""
    return TWO_THIRDS_EFFICIENCY * (components - 1) if components >= MIN_PEERS else 0.0


class CoreHierarchies:
    """The search for the hierarchy of cores with the shortest description.

    Parameters
    ----------
    times
        The map of one node.
    recorded
        Groupings that the machine recorded.
    """

    def __init__(self, times: Times, recorded: Sequence[Partition]) -> None:
        self.all, self.times = times, times.some(COMPARED_PAIRS)
        self.recorded = {p.tobytes(): p for p in map(canonical, recorded) if is_grouping(p)}
        self.fits: dict[tuple[bytes, ...], Fit] = {}

    def shortest(self) -> Fit:
        """Return the fit on the best hierarchy whose levels are each nearer than the next."""
        pool = self._groupings()
        beam: list[list[Partition]] = [[]]
        while True:
            chains = {key_of(c): c for c in (*beam, *self._longer(beam, pool))}
            best = sorted(chains.values(), key=lambda c: self.fit(c).length)[:BEAM]
            if [*map(key_of, best)] == [*map(key_of, beam)]:
                break
            beam = best
        fits = sorted(self.fits.values(), key=length_of)
        shortest = next((fit for fit in fits if self._holds(fit)), self.fit([]))
        # compared on some pairs, fitted to all
        if self.times is self.all:
            return shortest
        return self._model(shortest.chain[:-1], self.all).fit()

    def fit(self, chain: Sequence[Partition]) -> Fit:
        """Return the fit on a hierarchy, which does not name the level of all cores."""
        key = key_of(chain)
        if key not in self.fits:
            self.fits[key] = self._model(chain, self.times).fit()
        return self.fits[key]

    def _model(self, chain: Sequence[Partition], times: Times) -> CoreModel:
        return CoreModel(times, [*chain, times.root], self._code(chain))

    def _groupings(self) -> list[Partition]:
        """Propose groupings: those recorded, cuts of dendrograms, and those by number that hold."""
        matrix = dense(self.all, self.all.seconds)
        proposed = [
            *self.recorded.values(),
            *(cut for cuts in cuts_of(matrix) for cut in cuts),
            *filter(self._separated, self._by_number()),
        ]
        return list({grouping.tobytes(): grouping for grouping in proposed}.values())

    def _by_number(self) -> Iterator[Partition]:
        """Yield the groupings into equal parts of each numbering."""
        cores = self.times.units
        for order in self._orders:
            for size in range(2, cores // 2 + 1):
                if cores % size == 0:
                    yield canonical(order // size)

    def _separated(self, partition: Partition) -> bool:
        """Whether the pairs within groups are nearer than the others, few excepted."""
        chain = (partition, self.times.root)
        near, far = by_level(np.log(self.times.seconds), chain, self.times)
        return separates(near, far, recorded=False)

    def _longer(
        self, chains: Sequence[Sequence[Partition]], pool: Sequence[Partition]
    ) -> Iterator[list[Partition]]:
        """Add a level of the pool to hierarchies."""
        for chain in chains:
            for partition in pool:
                new = is_grouping(partition) and all(
                    nested(partition, p) and not np.array_equal(partition, p) for p in chain
                )
                longer = _in_order([*chain, partition])
                if new and self._plausible(longer):
                    yield longer

    def _plausible(self, chain: Sequence[Partition]) -> bool:
        """Whether each level has several groups that join cores or groups, in a regular way."""
        below = np.arange(self.times.units)
        for partition, above in pairwise([*chain, self.times.root]):
            joined = np.bincount(partition[np.unique(below, return_index=True)[1]]) > 1
            if joined.sum() < 2:
                return False
            if not _regular(partition, above):
                return False
            below = partition
        return True

    def _holds(self, fit: Fit) -> bool:
        """Whether the pairs of each level are nearer than those of the next, few excepted.

        What slow cores add is taken off. Cores that are as near as those of a group are not alone.
        """
        values = np.log(self.times.seconds) - fit.slow
        sorted_values = by_level(values, fit.chain, self.times)
        if not np.isfinite(fit.length):
            return False
        for partition, level_times, next_times in zip(
            fit.chain, sorted_values, sorted_values[1:], strict=False
        ):
            recorded = partition.tobytes() in self.recorded
            if not separates(level_times, next_times, recorded=recorded):
                return False
            singleton = (np.bincount(partition) == 1)[partition]
            singleton_pairs = singleton[self.times.i] & singleton[self.times.j]
            if not recorded and np.any(
                values[singleton_pairs] < (median_of(level_times) + median_of(next_times)) / 2
            ):
                return False
        return True

    def _code(self, chain: Sequence[Partition]) -> float:
        """Return the nats that it takes to write the groups of a hierarchy down."""
        new = [
            p for p in pairwise([*chain, self.times.root]) if p[0].tobytes() not in self.recorded
        ]
        free = sum(_ways(group, parent) + UNORDERED for group, parent in new)
        irregular = sum(len(distinct(np.bincount(group))) > 1 for group, _ in new)
        in_order = min(sum(ways_in_order(*p, order) for p in new) for order in self._orders)
        return float(min(free, in_order) + CORE_LEVEL_COST * len(new) + UNORDERED * irregular)

    @cached_property
    def _orders(self) -> list[Ints]:
        """Numberings of cores: one after the other, and threads of a core, or sockets, in turn."""
        cores = np.arange(self.times.units)
        turns = [len(cores) // k for k in (2, 4) if len(cores) % k == 0]
        return [cores, *(cores % turn * (len(cores) // turn) + cores // turn for turn in turns)]


def _regular(group: Partition, parent: Partition) -> bool:
    """Whether groups have at most two sizes, and coarser groups of one size are divided alike."""
    size, above = np.bincount(group), np.bincount(parent)
    smallest, largest = size[size > 1].min(), size.max()
    if len(distinct(size)) > KINDS or (largest > smallest and largest % smallest == 0):
        return False
    if 0 < np.sum(size == 1) < MIN_PEERS:
        return False
    divisions_by_size: dict[int, set[tuple[int, ...]]] = {}
    for k in range(len(above)):
        inner = np.bincount(group[parent == k])
        divisions_by_size.setdefault(int(above[k]), set()).add(
            tuple(np.sort(inner[inner > 0]).tolist())
        )
    return all(len(divisions) == 1 for divisions in divisions_by_size.values())


def _ways(group: Partition, parent: Partition) -> float:
    """Log of the number of ways to group the cores of each coarser group like this."""
    one_size = len(distinct(np.bincount(group))) == 1
    sizes = log(len(group)) if one_size else ways_of_sizes(len(group))
    return ways_of_groups(group, parent) + sizes


def _in_order(partitions: Sequence[Partition]) -> list[Partition]:
    """Sort partitions, finest first."""
    return sorted(partitions, key=lambda p: -int(p.max()))
