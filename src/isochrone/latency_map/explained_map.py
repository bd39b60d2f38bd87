"""A map explained twice: between nodes, with one time for each two, and within them.

The network and the memory of a node may be slow independently. What single ranks cost is taken off
before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import nan

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.stats import (
    MAD_EFFICIENCY,
    MEDIAN_LOSS,
    Q80_TO_SIGMA,
    mad,
    median_of,
    medians_by,
    outlier_limit,
    quantile,
)
from isochrone.latency_map.explanation import ENDS, LEAVING, Estimator, Explanation, Part
from isochrone.latency_map.hierarchy import Known, explain
from isochrone.latency_map.host_order import name_order
from isochrone.latency_map.pairs import (
    RankPairs,
    Times,
    between_nodes,
    hosts_known,
    slow_ranks,
    within_nodes,
)
from isochrone.latency_map.partitions import Partition, canonical, level_of
from isochrone.latency_map.thresholds import (
    EXCEPTIONS,
    FALSE_NAMING_RATE,
    HEAVY_TAIL,
    MIN_LEVEL_RATIO,
    MIN_PAIR_COVERAGE,
    MIN_PART_ERRORS,
    MIN_PEERS,
    MIN_SLOWDOWN,
    READABLE,
)

NORMAL_95 = 1.645
"""Standard errors within which 95 % of one-sided normal errors are."""


class Half:
    """The pairs between nodes, or those within them, and what explains them.

    Parameters
    ----------
    times
        At least one pair.
    recorded
        Groupings that the machine recorded.
    explanations
        Explanations of maps that were analysed before.
    """

    def __init__(
        self, times: Times, recorded: Sequence[Partition], explanations: Known | None
    ) -> None:
        self.times, self._recorded, self._known = times, recorded, explanations

    @cached_property
    def fit(self) -> Explanation:
        """The explanation."""
        return explain(self.times, self._recorded, self._known)

    @property
    def off(self) -> Floats:
        """Log of each pair over what is expected."""
        return np.log(self.times.seconds / self.fit.expected)

    @property
    def sigma(self) -> Floats:
        """Standard deviation of each of these, by the spread and its own error."""
        return np.hypot(self.fit.spread, self.times.error)

    @property
    def sparse(self) -> bool:
        """Whether too few pairs were measured to see groups that the machine did not tell."""
        if self.times.root.any() or not self.times.sparse:
            return False
        # levels may explain so many pairs that no groups can be hidden among the others
        odd = np.count_nonzero(np.abs(self.off) > MIN_PART_ERRORS * self.sigma)
        hidden = self.fit.spread >= MIN_SLOWDOWN or odd > max(1, HEAVY_TAIL * len(self.times.i))
        return bool(self.times.place is None or hidden)

    def parts(self, *, units: bool) -> Iterator[tuple[Part, float, float]]:
        """Yield each part that adds time for sure, its seconds, and their standard error.

        Units that are slow alike are parts of their own; those of a group only if ``units``.
        """
        fit = self.fit
        for component, seconds, error in zip(fit.parts, fit.seconds, fit.errors, strict=True):
            if seconds > self.part_errors * error:
                apart = component.pattern == ENDS and (units or not fit.is_group(component))
                for slow_component in (
                    [Part(LEAVING, (k,)) for k in component.members] if apart else [component]
                ):
                    yield slow_component, float(seconds), float(error)

    few = HEAVY_TAIL
    part_errors = MIN_PART_ERRORS

    @property
    def unexplained(self) -> Bools:
        """Whether each pair is far off what is expected."""
        return np.asarray(
            np.abs(self.off) > np.maximum(MIN_PART_ERRORS * self.sigma, np.log1p(MIN_SLOWDOWN))
        )

    def standing_out(self) -> Ints:
        """Return the pairs that take longer than explained, beyond chance.

        Two slow ends may each be slow in latency and in bandwidth, in parts of their own: a pair of
        them is slow by itself only if it takes longer than both added.
        """
        fit, times = self.fit, self.times
        added, sum_of_ends = (
            explanation.extra(times, fit.seconds)
            for explanation in (fit, replace(fit, shares=np.ones(len(fit.parts))))
        )
        residual = self.off - np.log1p((sum_of_ends - added) / fit.expected)
        freedom = MAD_EFFICIENCY * max(len(residual) - len(self.fit.parts) - len(self.fit.chain), 1)
        limit = outlier_limit(len(residual), freedom, FALSE_NAMING_RATE)
        # where more than a fifth is off, this is a wide distribution, as the ways on a torus
        wide = Q80_TO_SIGMA * quantile(np.abs(residual), 0.8)
        return np.flatnonzero(residual > limit * np.maximum(self.sigma, wide))


class ExplainedMap:
    """A map and its explanations.

    Parameters
    ----------
    pairs
        The measured pairs.
    hosts
        Host of each rank.
    node
        Node of each rank.
    recorded
        Groupings of the ranks within nodes that the machine recorded (packages, NUMA domains).
    explanations
        Explanations of maps that were analysed before.
    """

    def __init__(
        self,
        pairs: RankPairs,
        hosts: Sequence[str],
        node: Partition,
        recorded: Sequence[Partition],
        explanations: Known | None,
    ) -> None:
        self.pairs, self.hosts, self.node, self.known = pairs, hosts, node, explanations
        self.recorded = [canonical(p) for p in recorded]
        self.nodes = int(node.max()) + 1
        self.by_host = hosts_known(hosts) and self.nodes == len(set(hosts))
        self.one_node = len(set(hosts)) == 1 and bool(hosts[0])

    # ---- the halves ----------------------------------------------------------------------------

    @cached_property
    def rank_cost(self) -> tuple[Floats, Floats]:
        """What each rank costs beyond the others of its node, and the standard error of that."""
        return slow_ranks(self.pairs, self.node)

    @cached_property
    def _between(self) -> tuple[Times, float, Bools, Ints]:
        """What `between_nodes` says of the pairs of nodes."""
        times, spread, outer, position = between_nodes(self.pairs, self.node, self.rank_cost[0])
        if self.by_host and 2 * len(times.i) < MIN_PAIR_COVERAGE * self.nodes * (self.nodes - 1):
            hosts = dict(zip(self.node.tolist(), self.hosts, strict=True))
            times = replace(times, place=name_order([hosts[k] for k in range(self.nodes)]))
        return times, spread, outer, position

    @property
    def spread(self) -> float:
        """Relative standard deviation of the pairs of ranks of two nodes."""
        return self._between[1]

    @cached_property
    def outer(self) -> Half | None:
        """The pairs of nodes; None without any."""
        times = self._between[0]
        if not len(times.i):
            return None
        one_rank_each = len(self.node) == self.nodes
        recorded = self.recorded if one_rank_each else ()
        if self.one_node and self.nodes >= MIN_PEERS and not times.sparse:
            from isochrone.latency_map.core_effects import CoreHalf  # which only some maps need

            return CoreHalf(times, recorded, self.known)
        return Half(times, recorded, self.known)

    @cached_property
    def inner(self) -> Half | None:
        """The pairs of ranks within nodes; None without any."""
        times = within_nodes(self.pairs, self.node)
        finer = [p for p in self.recorded if not np.array_equal(p, self.node)]
        return Half(times, finer, self.known) if len(times.i) else None

    @cached_property
    def shows_nodes(self) -> bool:
        """Whether most nodes are nearer to themselves than to any other."""
        if self.inner is None or self.outer is None:
            return True
        inner = self.inner.times
        seen, middles = medians_by(self.node[inner.i], inner.seconds)
        ratios = self.outer.times.nearest[seen] / middles
        closer_share = np.mean(ratios > 1)
        return bool(closer_share >= 1 - EXCEPTIONS and median_of(ratios) >= MIN_LEVEL_RATIO)

    @cached_property
    def partitions(self) -> list[Partition]:
        """The hierarchy of the ranks, the closest first, all in one group last."""
        chain: list[Partition] = []
        if self.inner is not None:
            chain += self.inner.fit.chain[:-1]
            if self.shows_nodes:
                chain.append(self.node)
        if self.outer is not None:
            chain += [canonical(partition[self.node]) for partition in self.outer.fit.chain]
        everyone = np.zeros(self.pairs.ranks, dtype=np.int64)
        unique = {p.tobytes(): p for p in [*chain, everyone]}
        return list(unique.values())

    # ---- what was measured too little ----------------------------------------------------------

    @cached_property
    def sparse(self) -> bool:
        """Whether too few pairs were measured to see groups that the machine did not tell."""
        return any(half.sparse for half in (self.outer, self.inner) if half)

    @property
    def wanted(self) -> int:
        """Pairs that are missing to see groups that the machine did not record."""
        needed = int(np.ceil(READABLE * self.nodes * (self.nodes - 1) / 2))
        return max(1, needed - len(self._between[0].i))

    def lacking(self, threshold: float) -> int:
        """Return how many pairs of nodes are missing to know levels, and costs of nodes."""
        if self.sparse:
            return self.wanted
        limit, met = self.node_limit, len(self._between[0].i)
        if not threshold < limit < np.inf:
            return 0
        unmet = self.nodes * (self.nodes - 1) // 2 - met
        return min(unmet, int(np.ceil(met * ((limit / threshold) ** 2 - 1))))

    @property
    def met(self) -> float:
        """Part of the pairs of nodes of which at least one pair of ranks was measured."""
        return len(self._between[0].i) / max(self.nodes * (self.nodes - 1) / 2, 1)

    @property
    def node_limit(self) -> float:
        """Part of the time that a slow node must add to be named in 95 %; infinite if none is.

        That of the node that is known worst of 20, as far as the errors of its pairs say.
        """
        return (MIN_PART_ERRORS + NORMAL_95) * self._node_error

    @cached_property
    def _node_error(self) -> float:
        """Standard error of what a node adds, a part of the time; infinite if none is judged."""
        if self.outer is None or self.nodes < MIN_PEERS:
            return np.inf
        times = self.outer.times
        partners = np.bincount(np.concatenate([times.i, times.j]), minlength=self.nodes)
        sigma = median_of(self.outer.sigma)
        return float(sigma / np.sqrt(max(quantile(partners, 0.05), 1)))

    def detectable(self, threshold: float) -> float:
        """Return the slowdown of a node, a ratio, from which on 95 % of slow nodes are named.

        ``threshold`` is a part of the time: what is measured varies about it.
        """
        return 1 + max(threshold + NORMAL_95 * self._node_error, self.node_limit)

    def nodes_differ(self, component: Ints) -> tuple[float, float]:
        """How much longer the middle node takes than expected, and some healthy node than that.

        Both in log time, of the nodes that are not of a component, unless these are too few or it
        is one of two groups. The spread of healthy nodes is what all nodes show without what chance
        makes of it (the method of moments; Searle, Casella & McCulloch 1992, *Variance Components*,
        3.5); the limit holds as far as so many nodes show it.
        """
        assert self.outer
        peers = np.setdiff1d(np.flatnonzero(np.isfinite(self._longer)), component)
        halves = [p == p[component[0]] for p in self.outer.fit.chain if p.max() == 1]
        is_half = any(np.array_equal(np.flatnonzero(half), component) for half in halves)
        if len(peers) < MIN_PEERS or (is_half and len(component) > 1):
            peers = np.flatnonzero(np.isfinite(self._longer))
        longer = self._longer[peers]
        counts = [len(self.outer.times.of_unit(k)) for k in peers.tolist()]
        by_chance = MEDIAN_LOSS * median_of(self.outer.sigma) / np.sqrt(median_of(counts))
        spread = np.sqrt(max(mad(longer) ** 2 - by_chance**2, 0.0))
        limit = outlier_limit(len(longer), MAD_EFFICIENCY * len(longer)) * spread
        return median_of(longer), float(limit)

    @cached_property
    def _longer(self) -> Floats:
        """Log of the median time of each node over what it takes without slow parts."""
        assert self.outer
        times, fit = self.outer.times, self.outer.fit
        pairs = [times.of_unit(k) for k in range(self.nodes)]
        others = [fit.expected[node_pairs] for node_pairs in pairs]
        for component, seconds in zip(fit.parts, fit.seconds, strict=True):
            added = fit.added(component, float(seconds), times)
            for k in component.members:
                others[k] = others[k] - added[pairs[k]]
        return np.array(
            [
                median_of(np.log(times.seconds[node_pairs] / expected)) if len(node_pairs) else nan
                for node_pairs, expected in zip(pairs, others, strict=True)
            ]
        )

    # ---- pairs of ranks ------------------------------------------------------------------------

    @cached_property
    def level(self) -> Ints:
        """Level of each pair of ranks."""
        return level_of(self.partitions, self.pairs.i, self.pairs.j).astype(np.int8)

    @cached_property
    def places(self) -> tuple[Bools, Ints, Ints]:
        """Which pairs of ranks are between nodes; place of each in the outer and inner times."""
        outer, position = self._between[2:]
        return outer, position, np.flatnonzero(~outer)

    def of_rank_pairs(self, outer: Floats | None, inner: Floats | None) -> Floats:
        """Return for each pair of ranks what is known of its nodes, or of itself within one."""
        between, position, inside = self.places
        values = np.zeros(len(self.pairs.i))
        if outer is not None:
            values[between] = outer[position]
        if inner is not None:
            values[inside] = inner
        return values

    def explained(self, by: Callable[[Half], Floats]) -> Floats:
        """Return for each pair of ranks what the explanation of it says."""
        return self.of_rank_pairs(
            *(by(half) if half else None for half in (self.outer, self.inner))
        )

    @property
    def own_costs(self) -> Floats:
        """What the two ranks of each pair between nodes cost by themselves."""
        cost = self.rank_cost[0]
        return self.places[0] * (cost[self.pairs.i] + cost[self.pairs.j])

    @cached_property
    def healthy(self) -> Floats:
        """What each pair of ranks would take if nothing were slow."""
        return self.explained(lambda half: half.fit.base_of(half.times))

    @cached_property
    def expected(self) -> Floats:
        """What each pair of ranks takes by the whole explanation."""
        return self.explained(lambda half: half.fit.expected) + self.own_costs

    @cached_property
    def excess(self) -> Floats:
        """Log of each pair of ranks over what is expected."""
        return np.log(self.pairs.seconds / self.expected)

    @property
    def estimator(self) -> Estimator:
        """What pairs take that were not measured."""
        outer, inner = (half.fit if half else None for half in (self.outer, self.inner))
        return Estimator(self.node, self.rank_cost[0], outer, inner, self.spread)
