"""Slow ranks, nodes, switches and pairs, each judged against its own level.

A slow pair costs one link, a slow rank or node costs all of its links: the fit of
t_ij = level + cost_i + cost_j tells them apart (`costs`). It is made twice, between hosts and
within them, because the network and the memory of a node may be slow independently. A cost goes
to the largest part whose ranks all have it: a node rather than its ranks, a switch rather than its
nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.stats import MAD_EFFICIENCY, MEDIAN_LOSS, mad, outlier_limit
from isochrone.results.latency_map.costs import MIN_PARTNERS, CostFit, fit_costs
from isochrone.results.latency_map.levels import Partition, canonical, groups_of, level_matrix
from isochrone.results.latency_map.slow import Slow

__all__ = ["SlowFinder", "hosts_known"]

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]

MIN_RATIO: Final = 1.25
"""A node, rank or switch that is slower by less is not worth naming."""

MIN_PAIR_RATIO: Final = 1.3
"""The same for a single pair, of which there are many."""

PART_RATE, PAIR_RATE = 0.005, 0.002
"""Chances of naming a healthy part, or a healthy pair, anywhere in a map with normal noise."""

MIN_SPREAD: Final = 1e-3
"""Relative spread that even a simulator's exact times are credited with."""

MIN_ALIKE: Final = 4
"""With fewer of a kind there is no telling which of them is the odd one out."""


def hosts_known(hosts: Sequence[str]) -> bool:
    """Whether the recorded hosts tell the ranks apart: all have a name and not all the same."""
    return all(hosts) and len(set(hosts)) > 1


@dataclass(frozen=True)
class _Verdict:
    """What one fit says about each rank.

    Attributes
    ----------
    fit
        The fit itself.
    mask
        The pairs it rests on.
    nearest
        Level on which each rank is judged.
    ratio
        (level + cost) / level of each rank, there.
    limit
        Ratio from which on a rank is slow beyond chance; infinite where none can be told.
    """

    fit: CostFit
    mask: Mask
    nearest: NDArray[np.int64]
    ratio: Matrix
    limit: Matrix

    @property
    def slow(self) -> Mask:
        """Which ranks are slow."""
        return self.ratio >= self.limit

    def all_slow(self, ranks: NDArray[np.int64]) -> bool:
        """Whether these ranks are slow as one: typically beyond the limit, and none is healthy."""
        ratio = np.median(self.ratio[ranks])
        together = np.min(self.ratio[ranks]) - 1 > (ratio - 1) / 2
        return bool(ratio >= np.median(self.limit[ranks]) and together)


@dataclass
class SlowFinder:
    """Names the slow parts of one map.

    Attributes
    ----------
    times, first
        Round trips in seconds, and as they were before any pair was measured again; NaN where
        there is none.
    retested
        Which pairs were measured again alone.
    partitions
        The groups of each level, the closest first.
    hosts
        Host of each rank.
    error
        Standard error of each pair's own measurement, in log time; 0 where it is not known.
    """

    times: Matrix
    first: Matrix
    retested: Mask
    partitions: Sequence[Partition]
    hosts: Sequence[str]
    error: Matrix | float = 0.0

    def find(self) -> list[Slow]:
        """Return the slow parts, the worst first."""
        parts = [*self.costly(self.outer), *self.costly(self.inner), *self.slow_inside()]
        worst = {part.who: part for part in sorted(parts, key=lambda part: part.ratio)}
        named = list(worst.values())
        return sorted([*named, *self.pairs(named)], key=lambda part: -part.ratio)

    @cached_property
    def level(self) -> NDArray[np.int8]:
        """Level of every pair."""
        return level_matrix(self.partitions)

    @cached_property
    def node(self) -> Partition:
        """Node of each rank; each rank is one by itself where the hosts do not tell."""
        if not hosts_known(self.hosts):
            return np.arange(len(self.hosts))
        return canonical(np.unique(np.array(self.hosts), return_inverse=True)[1])

    @cached_property
    def nodes(self) -> list[NDArray[np.int64]]:
        """Ranks of each node."""
        return [np.array(ranks) for ranks in groups_of(self.node)]

    @cached_property
    def outer(self) -> _Verdict:
        """What the pairs between nodes say about each rank."""
        return self.judge(self.node[:, None] != self.node)

    @cached_property
    def inner(self) -> _Verdict:
        """What the pairs within nodes say about each rank."""
        return self.judge(self.node[:, None] == self.node)

    def judge(self, mask: Mask) -> _Verdict:
        """Fit the pairs of a mask, and compare the costs of the ranks with each other."""
        mask = mask & np.isfinite(self.times)
        np.fill_diagonal(mask, False)
        times = np.where(mask, self.times, np.nan)
        fit = fit_costs(times, self.level, len(self.partitions))
        on_level = self.partners(mask)
        partners = on_level.sum(axis=0)
        fitted = partners >= MIN_PARTNERS
        nearest = _nearest(on_level)
        unit = np.where(fitted, fit.base[nearest], 1.0)
        relative = np.where(fitted, fit.cost, 0.0) / unit
        alike = len(np.unique(self.node[fitted]))
        if alike < MIN_ALIKE and len(self.nodes) < len(mask):
            # too few nodes to compare with each other: each rank with the others of its node
            for ranks in self.nodes:
                relative[ranks] -= np.median(relative[ranks])
            alike = int(fitted.sum())
        typical = _typical(fit.base, on_level) / unit
        own = MEDIAN_LOSS * fit.spread * typical / np.sqrt(np.maximum(partners, 1))
        scale = np.maximum(own, max(mad(relative[fitted]), MIN_SPREAD))
        limit = np.maximum(1 + outlier_limit(alike, alike - 1, PART_RATE) * scale, MIN_RATIO)
        limit[~fitted | (alike < MIN_ALIKE)] = np.inf
        return _Verdict(fit, mask, nearest, 1 + relative, limit)

    def partners(self, mask: Mask) -> NDArray[np.int64]:
        """Count the pairs of each rank on each level, one row for each level."""
        levels = range(len(self.partitions))
        return np.array([np.sum(mask & (self.level == k), axis=1) for k in levels])

    # A cost belongs to the largest part whose ranks all have it.

    def costly(self, verdict: _Verdict) -> Iterator[Slow]:
        """Name the switches, nodes and ranks that the costs of one fit show to be slow."""
        nodes = {k for k, ranks in enumerate(self.nodes) if verdict.all_slow(ranks)}
        ranks_left = verdict.slow & ~np.isin(self.node, list(nodes))
        for ranks in self.switches_of(nodes):
            nodes -= set(self.node[ranks].tolist())
            yield self.part("switch", ranks, verdict)
        for k in sorted(nodes):
            yield self.part("node" if hosts_known(self.hosts) else "rank", self.nodes[k], verdict)
        for rank in np.flatnonzero(ranks_left):
            yield self.part("rank", np.array([rank]), verdict)

    def switches_of(self, slow_nodes: set[int]) -> list[NDArray[np.int64]]:
        """Return the largest groups of two nodes or more whose nodes are all slow."""
        found: list[NDArray[np.int64]] = []
        for _, ranks in self.switches():
            if set(self.node[ranks].tolist()) <= slow_nodes:
                found = [smaller for smaller in found if not np.isin(smaller, ranks).any()]
                found.append(ranks)
        return found

    def switches(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """List the groups of several whole nodes on each level but the last."""
        if not hosts_known(self.hosts):
            return
        for level, partition in enumerate(self.partitions[:-1]):
            for ranks in map(np.array, groups_of(partition)):
                inside = np.unique(self.node[ranks])
                if len(inside) > 1 and np.isin(self.node, inside).sum() == len(ranks):
                    yield level, ranks

    def slow_inside(self) -> Iterator[Slow]:
        """Name the switches whose own nodes reach each other slower than those of other switches.

        Of two switches the slower one is named, which no comparison of costs could do: half the
        nodes have them.
        """
        healthy = ~self.outer.slow
        for level in range(len(self.partitions) - 1):
            usable = self.outer.mask & (self.level == level) & healthy & healthy[:, None]
            samples: list[tuple[NDArray[np.int64], Mask]] = []
            for k, ranks in self.switches():
                mask = usable & np.isin(np.arange(len(usable)), ranks)
                mask &= mask.T
                if k == level and len(np.unique(self.node[ranks])) >= MIN_PARTNERS and mask.any():
                    samples.append((ranks, mask))
            if len(samples) > 1:
                yield from self.compare_insides(level, samples)

    def compare_insides(
        self, level: int, samples: Sequence[tuple[NDArray[np.int64], Mask]]
    ) -> Iterator[Slow]:
        """Compare the times inside the switches of one level with the lower middle one.

        By their lower quartiles: a slow node within does not make a switch slow.
        """
        insides = np.array([np.quantile(self.times[mask], 0.25) for _, mask in samples])
        usual = float(np.sort(insides)[(len(insides) - 1) // 2])
        among = mad(np.log(insides)) if len(insides) >= MIN_ALIKE else 0.0
        limit = outlier_limit(len(insides), self.outer.fit.degrees_of_freedom, PART_RATE)
        for (ranks, mask), inside in zip(samples, insides, strict=True):
            n = len(np.unique(self.node[ranks]))
            own = MEDIAN_LOSS * self.outer.fit.spread / np.sqrt(n * (n - 1) / 2)
            scale = max(own, among, MIN_SPREAD)
            if inside / usual >= MIN_RATIO and np.log(inside / usual) > limit * scale:
                yield self.name("switch", ranks, float(inside) / usual, mask, usual, level)

    def part(self, kind: str, ranks: NDArray[np.int64], verdict: _Verdict) -> Slow:
        """Describe a part by its pairs with others, or by those inside it if it has none."""
        inside = np.isin(np.arange(len(self.times)), ranks)
        mask = verdict.mask & inside[:, None]
        if (mask & ~inside).any():
            mask &= ~inside
        judged = mask & (self.level == np.bincount(verdict.nearest[ranks]).argmax())
        mask = judged if judged.any() else mask
        expected = _median(verdict.fit.base[self.level][mask])
        ratio = _median((self.times / verdict.fit.base[self.level])[mask])
        level = int(np.bincount(self.level[mask]).argmax())
        return self.name(kind, ranks, ratio, mask | mask.T, expected, level)

    # What is left belongs to one link.

    def pairs(self, named: Sequence[Slow]) -> list[Slow]:
        """Name the pairs that are slower than their level and the costs of their ends explain."""
        between = self.outer.mask
        expected = np.where(between, self.outer.fit.expected, self.inner.fit.expected)
        expected = np.maximum(expected, self.explained(named))
        ratio = np.triu(np.where(np.isfinite(self.times), self.times / expected, 0.0), 1)
        slow = np.zeros_like(between)
        i, j = np.nonzero(ratio >= MIN_PAIR_RATIO)
        excess, error = np.log(ratio[i, j]), np.broadcast_to(self.error, ratio.shape)[i, j]
        for verdict in (self.outer, self.inner):
            tests = int(np.triu(verdict.mask).sum())
            known = MAD_EFFICIENCY * verdict.fit.degrees_of_freedom
            sigma = np.hypot(max(verdict.fit.spread, MIN_SPREAD), error)
            limit = outlier_limit(tests, known, PAIR_RATE)
            slow[i, j] |= verdict.mask[i, j] & (excess > limit * sigma)
        found = [*self.links(slow, ratio, expected), *self.single(slow, ratio, expected)]
        return sorted(found, key=lambda pair: -pair.ratio)

    def explained(self, named: Sequence[Slow]) -> Matrix:
        """Return what the named parts explain: on each level, the median of the part's pairs."""
        base = np.where(self.outer.mask, self.outer.fit.base[self.level], np.nan)
        base = np.where(self.inner.mask, self.inner.fit.base[self.level], base)
        relative = self.times / base
        factor = np.ones_like(base)
        for part in named:
            inside = np.isin(np.arange(len(base)), part.ranks)
            within = inside & inside[:, None]
            for level in range(len(self.partitions)):
                leaving = (inside != inside[:, None]) & (self.level == level)
                factor[leaving] *= max(_median(relative[leaving]), 1.0)
                within_level = within & (self.level == level)
                if within_level.sum() >= 2 * MIN_PARTNERS:
                    factor[within_level] *= max(_median(relative[within_level]), 1.0)
        return np.asarray(np.nan_to_num(base * factor))

    def links(self, slow: Mask, ratio: Matrix, expected: Matrix) -> Iterator[Slow]:
        """Name two nodes instead of the pairs of their ranks, if most of those are slow."""
        ends = {(int(self.node[i]), int(self.node[j])) for i, j in np.argwhere(slow)}
        for a, b in sorted({(min(a, b), max(a, b)) for a, b in ends if a != b}):
            mask = np.zeros_like(slow)
            mask[np.ix_(self.nodes[a], self.nodes[b])] = True
            mask = np.triu(mask | mask.T) & self.outer.mask
            if mask.sum() > 1 and (slow & mask).sum() * 2 > mask.sum():
                slow &= ~mask
                ranks = np.concatenate([self.nodes[a], self.nodes[b]])
                middle, level = _median(ratio[mask]), int(self.level[mask][0])
                yield self.name("pair", ranks, middle, mask, _median(expected[mask]), level)

    def single(self, slow: Mask, ratio: Matrix, expected: Matrix) -> Iterator[Slow]:
        """Name the worst pairs of ranks."""
        i, j = np.nonzero(slow)
        for k in np.argsort(-ratio[i, j], kind="stable"):
            ranks, mask = np.array([i[k], j[k]]), np.zeros_like(slow)
            mask[i[k], j[k]] = True
            values = float(ratio[mask][0]), mask, float(expected[mask][0])
            yield self.name("pair", ranks, *values, int(self.level[mask][0]))

    def name(
        self,
        kind: str,
        ranks: NDArray[np.int64],
        ratio: float,
        mask: Mask,
        expected: float,
        level: int,
    ) -> Slow:
        """Put a finding into words; ``mask`` marks the pairs it rests on."""
        mask = np.triu(mask | mask.T)
        retested = bool(self.retested[mask].any())
        return Slow(
            kind=kind,
            who=self.who(kind, ranks),
            ratio=ratio,
            ranks=tuple(ranks.tolist()),
            hosts=tuple(dict.fromkeys(self.hosts[k] for k in ranks if self.hosts[k])),
            level=level,
            seconds=_median(self.times[mask]),
            expected=expected,
            pairs=int(np.isfinite(self.times[mask]).sum()),
            retested=retested,
            first=_median(self.first[mask]) if retested else None,
        )

    def who(self, kind: str, ranks: NDArray[np.int64]) -> str:
        """Return what a person calls this part."""
        hosts = list(dict.fromkeys(self.hosts[k] for k in ranks))
        if kind == "rank":
            return f"rank {ranks[0]} ({hosts[0]})" if hosts[0] else f"rank {ranks[0]}"
        if kind == "pair" and len(ranks) == 2:
            return f"{ranks[0]}-{ranks[1]}"
        return ("-" if kind == "pair" else ",").join(hosts)


def _nearest(partners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the closest level with enough pairs of each rank: a cost weighs most there."""
    enough = partners >= MIN_PARTNERS
    nearest = np.where(enough.any(axis=0), enough.argmax(axis=0), partners.argmax(axis=0))
    return np.asarray(nearest, dtype=np.int64)


def _typical(base: Matrix, partners: NDArray[np.int64]) -> Matrix:
    """Return the median over the pairs of each rank of the base times of their levels."""
    order = np.argsort(base)
    up_to = np.cumsum(partners[order], axis=0)  # pairs of each rank on a level as fast, or faster
    count = up_to[-1]
    lower, upper = (order[np.argmax(up_to > k, axis=0)] for k in ((count - 1) // 2, count // 2))
    return np.where(count, (base[lower] + base[upper]) / 2, np.nan)


def _median(values: Matrix) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else float("nan")
