"""What of a map is slow: the parts of its explanation put into words, and the pairs it leaves.

A map is explained twice: between nodes, with one time for each two, and within them, because the
network and the memory of a node may be slow independently. What single ranks cost is taken off
before. Each part that adds time is named; so is every pair that takes longer than all of this
explains, beyond chance and beyond its own uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.record import Record
from isochrone.base.stats import (
    INTERVAL_HALF,
    MAD_EFFICIENCY,
    Q80_TO_SIGMA,
    distinct,
    median_of,
    middles_by,
    outlier_limit,
    quantile,
)
from isochrone.latency_map.estimates import Estimator
from isochrone.latency_map.explanation import ENDS, INSIDE, LEAVING, Explanation, Part
from isochrone.latency_map.fitting import MIN_SPREAD
from isochrone.latency_map.hierarchy import EXCEPTIONS, MIN_RATIO_RECORDED, explain
from isochrone.latency_map.host_order import name_order
from isochrone.latency_map.known import Known
from isochrone.latency_map.partitions import Partition, canonical, level_of
from isochrone.latency_map.slow_part import KINDS, LevelRatio, NotUnderstood, Slow
from isochrone.latency_map.times import READABLE, Times
from isochrone.latency_map.units import (
    RankPairs,
    between_nodes,
    hosts_known,
    nodes_of,
    slow_ranks,
    within_nodes,
)

LEAST = 0.10
"""What adds less than this part of the time is noted, and no verdict."""

PAIR_RATE = 0.002
"""Chance of naming a healthy pair anywhere in a map with normal noise."""

SURE = 4.0
"""Standard errors by which a part must add time: parts are chosen out of many."""

SEEN_BY = 5.0
"""Standard errors that a node adds if it is named for sure: a part costs that many nats."""

MIN_NODES = 4
"""With fewer units there is no telling which of them is the odd one out."""

RETESTS = 3
"""Pairs of a part that must have been measured again for the part to be so; all if fewer."""

WIDE = 0.1
"""Spread of times of levels that hides no groups; and"""

ODD = 0.02
"""the part of the pairs that may be off."""

NAMES = 0.9
"""Part of the pairs of nodes; of fewer, groups of nodes with consecutive names are hypotheses."""

SMALL = 256
"""Ranks of a map up to which hosts that the times do not show are left aside."""

LONE = 3
"""Nodes in no group that may be one with a slow switch."""

ALONE = 2
"""Slow nodes that have nothing in common but that, where too few pairs were measured to see groups.
"""

SEEN = 3
"""Pairs among slow nodes that speak for those of them that have none."""

MOSTLY = 0.7
"""Part of the pairs among slow nodes that must be as slow as they are."""

FAR = 0.98
"""Part of the other pairs that most pairs of a slow node must exceed, where groups are not seen."""

OFF = 0.10
"""A pair that is off by less than this is understood."""

FEW = 0.01
"""Part of the pairs that may be off all the same: times have heavy tails."""


class _Cost(Record):
    """Something that adds time to some of the pairs of ranks, before it has a name.

    Attributes
    ----------
    kind, ranks
        What it is, and the ranks concerned.
    seconds
        What it adds to each pair of ranks.
    added, error
        What it adds to the middle one of its pairs, and the standard error of that, in seconds.
    instead
        What would explain the same pairs as well.
    """

    kind: str
    ranks: Ints
    seconds: Floats
    added: float
    error: float
    instead: tuple[str, ...] = ()


def _freedom(spread: float, own: float, times: Times) -> float:
    """Return the degrees of freedom of a spread, known with ``own``, and the pairs' own errors.

    By Welch and Satterthwaite (1946, *An approximate distribution of estimates of variance
    components*, Biometrics Bulletin 2, 110-114).
    """
    error = median_of(times.error)
    if not times.freedom or not error:
        return own
    both = (spread**2 + error**2) ** 2
    return float(both / (spread**4 / own + error**4 / times.freedom))


def _fits(fit: Explanation, times: Times) -> bool:
    """Whether levels explain so many pairs that no groups can be hidden among the others."""
    off = np.abs(np.log(times.seconds / fit.expected))
    odd = np.count_nonzero(off > SURE * np.hypot(fit.spread, times.error))
    return bool(times.place is not None and fit.spread < WIDE and odd <= max(1, ODD * len(off)))


def _typical(extra: Floats, seconds: float, error: float) -> tuple[float, float]:
    """Return what a part adds to the middle one of its pairs, and the standard error of that."""
    middle = median_of(extra[extra > 0])
    return middle, error * middle / seconds


def diagnose(
    pairs: RankPairs,
    hosts: Sequence[str],
    recorded: Sequence[Partition] = (),
    known: Known | None = None,
) -> Diagnosis:
    """Read a map by its nodes, or, of a small one whose times do not show them, by its ranks."""
    node = nodes_of(hosts)
    found = Diagnosis(pairs, hosts, node, recorded, known)
    if int(node.max()) + 1 < pairs.ranks <= SMALL and not found.shows_nodes:
        found = Diagnosis(pairs, hosts, np.arange(pairs.ranks), recorded, known)
    return found


class Diagnosis:
    """What one map says; made by `diagnose`.

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
    known
        Explanations of maps that were analysed before.
    """

    def __init__(
        self,
        pairs: RankPairs,
        hosts: Sequence[str],
        node: Partition,
        recorded: Sequence[Partition] = (),
        known: Known | None = None,
    ) -> None:
        self.pairs, self.hosts, self.node, self.known = pairs, hosts, node, known
        self.recorded = [canonical(p) for p in recorded]
        self.by_host = hosts_known(hosts) and len(distinct(node)) == len(set(hosts))

    # ---- explaining ----------------------------------------------------------------------------

    @cached_property
    def rank_cost(self) -> tuple[Floats, Floats]:
        """What each rank costs beyond the others of its node, and the standard error of that."""
        return slow_ranks(self.pairs, self.node)

    @cached_property
    def outer_times(self) -> tuple[Times, float]:
        """The pairs of nodes, and the spread of the pairs of ranks of two nodes."""
        times, spread = between_nodes(self.pairs, self.node, self.rank_cost[0])
        if self.by_host and 2 * len(times.i) < NAMES * times.units * (times.units - 1):
            hosts = dict(zip(self.node.tolist(), self.hosts, strict=True))
            times = replace(times, place=name_order([hosts[k] for k in range(times.units)]))
        return times, spread

    @cached_property
    def outer(self) -> Explanation | None:
        """The explanation of the pairs between nodes; None without any."""
        times = self.outer_times[0]
        alone = len(self.node) == times.units
        return explain(times, self.recorded if alone else (), self.known) if len(times.i) else None

    @cached_property
    def inner_times(self) -> Times:
        """The pairs within nodes."""
        return within_nodes(self.pairs, self.node)

    @cached_property
    def inner(self) -> Explanation | None:
        """The explanation of the pairs within nodes; None without any."""
        finer = [p for p in self.recorded if not np.array_equal(p, canonical(self.node))]
        return explain(self.inner_times, finer, self.known) if len(self.inner_times.i) else None

    @property
    def sparse(self) -> bool:
        """Whether too few pairs were measured to see groups that the machine did not tell."""
        return any(
            fit is not None and not times.root.any() and times.sparse and not _fits(fit, times)
            for fit, times in ((self.outer, self.outer_times[0]), (self.inner, self.inner_times))
        )

    @property
    def wanted(self) -> int:
        """Pairs that are missing to see groups that the machine did not record."""
        times = self.outer_times[0]
        return max(1, int(np.ceil(READABLE * times.units * (times.units - 1) / 2)) - len(times.i))

    def lacking(self, least: float) -> int:
        """Return how many pairs of nodes are missing to know levels, and costs of nodes."""
        times = self.outer_times[0]
        if self.sparse:
            return self.wanted
        limit = self.node_limit
        if not np.isfinite(limit) or limit <= least:
            return 0
        unmet = times.units * (times.units - 1) // 2 - len(times.i)
        return min(unmet, int(np.ceil(len(times.i) * ((limit / least) ** 2 - 1))))

    @property
    def met(self) -> float:
        """Part of the pairs of nodes of which at least one pair of ranks was measured."""
        times = self.outer_times[0]
        return len(times.i) / max(times.units * (times.units - 1) / 2, 1)

    @property
    def node_limit(self) -> float:
        """Part of the time that a slow node must add to be named for sure; infinite if none is.

        That of the node that is known worst of 20, as far as the errors of its pairs say.
        """
        times = self.outer_times[0]
        if self.outer is None or times.units < MIN_NODES:
            return np.inf
        partners = np.bincount(np.concatenate([times.i, times.j]), minlength=times.units)
        sigma = median_of(np.hypot(self.outer.spread, times.error))
        return float(SEEN_BY * sigma / np.sqrt(max(quantile(partners, 0.05), 1)))

    @cached_property
    def shows_nodes(self) -> bool:
        """Whether most nodes are nearer to themselves than to any other."""
        inner, outer = self.inner_times, self.outer_times[0]
        if not len(inner.i) or not len(outer.i):
            return True
        nodes = outer.units
        nearest = np.full(nodes, np.inf)
        np.minimum.at(nearest, outer.i, outer.seconds)
        np.minimum.at(nearest, outer.j, outer.seconds)
        seen, lower, upper = middles_by(self.node[inner.i], inner.seconds)
        ratios = nearest[seen] / ((lower + upper) / 2)
        near = np.mean(ratios > 1)
        return bool(near >= 1 - EXCEPTIONS and median_of(ratios) >= MIN_RATIO_RECORDED)

    @cached_property
    def partitions(self) -> list[Partition]:
        """The hierarchy of the ranks, the closest first, all in one group last."""
        chain: list[Partition] = []
        if self.inner is not None:
            chain += self.inner.chain[:-1]
            if self.outer is None or self.shows_nodes:
                chain.append(canonical(self.node))
        if self.outer is not None:
            chain += [canonical(partition[self.node]) for partition in self.outer.chain]
        everyone = np.zeros(self.pairs.ranks, dtype=np.int64)
        found = {p.tobytes(): p for p in [*chain, everyone]}
        return list(found.values())

    @cached_property
    def level(self) -> Ints:
        """Level of each pair of ranks."""
        return level_of(self.partitions, self.pairs.i, self.pairs.j).astype(np.int8)

    @cached_property
    def _places(self) -> tuple[Bools, Ints, Ints]:
        """Which pairs of ranks are between nodes; place of each in the outer and inner times."""
        outer = self.node[self.pairs.i] != self.node[self.pairs.j]
        times = self.outer_times[0]
        a, b = self.node[self.pairs.i[outer]], self.node[self.pairs.j[outer]]
        key = np.minimum(a, b) * times.units + np.maximum(a, b)
        return outer, np.searchsorted(times.i * times.units + times.j, key), np.flatnonzero(~outer)

    def _of_ranks_pairs(self, outer: Floats | None, inner: Floats | None) -> Floats:
        """Return for each pair of ranks what is known of its nodes, or of itself within one."""
        between, place, inside = self._places
        values = np.zeros(len(self.pairs.i))
        if outer is not None:
            values[between] = outer[place]
        if inner is not None:
            values[inside] = inner
        return values

    def _explained(self, by: Callable[[Explanation, Times], Floats]) -> Floats:
        """Return for each pair of ranks what the explanation of it says."""
        fits = (self.outer, self.outer_times[0]), (self.inner, self.inner_times)
        return self._of_ranks_pairs(*(None if fit is None else by(fit, t) for fit, t in fits))

    @property
    def estimator(self) -> Estimator:
        """What pairs take that were not measured."""
        spread = self.outer_times[1]
        return Estimator(self.node, self.rank_cost[0], self.outer, self.inner, spread)

    @property
    def own_costs(self) -> Floats:
        """What the two ranks of each pair between nodes cost by themselves."""
        cost = self.rank_cost[0]
        return self._places[0] * (cost[self.pairs.i] + cost[self.pairs.j])

    @cached_property
    def healthy(self) -> Floats:
        """What each pair of ranks would take if nothing were slow."""
        return self._explained(Explanation.base_of)

    @cached_property
    def expected(self) -> Floats:
        """What each pair of ranks takes by the whole explanation."""
        return self._explained(lambda fit, _: fit.expected) + self.own_costs

    # ---- naming --------------------------------------------------------------------------------

    def find(self) -> list[Slow]:
        """Return all that adds time for sure, however little, the worst first."""
        parts = [cost for cost in self._parts() if cost.ranks[0] not in self.uncertain]
        named = [self._name(cost) for cost in self._merged([*parts, *self._ranks()])]
        return sorted([*named, *self._slow_pairs()], key=lambda part: -part.ratio)

    def _parts(self) -> Iterator[_Cost]:
        """List the parts of both explanations."""
        if self.outer is not None and self.outer_times[0].units >= MIN_NODES:
            times = self.outer_times[0]
            for part, seconds, error in self._sure(self.outer):
                yield from self._of_nodes(part, seconds, error, times)
        if self.inner is None:
            return
        for part, seconds, error in self._sure(self.inner):
            if part.pattern == ENDS and not self.inner.is_group(part):
                own = [Part(LEAVING, (rank,)) for rank in part.members]
            else:
                own = [part]
            for one in own:
                yield self._of_ranks(one, seconds, error)

    @cached_property
    def uncertain(self) -> dict[int, str]:
        """First rank and name of what is slow, or only shares a slow way with others."""
        alone = [cost for cost in self._parts() if KINDS[cost.kind].unit]
        units = [cost.ranks for cost in alone]
        doubtful = [False] * len(alone)
        if len(alone) > (ALONE if self.sparse else 1):
            doubtful = self._undecided(units)
        if self.sparse:
            doubtful = [a or b for a, b in zip(doubtful, self._within_usual(units), strict=True)]
        return {
            int(cost.ranks[0]): self._who(cost.kind, cost.ranks)
            for cost, doubt in zip(alone, doubtful, strict=True)
            if doubt
        }

    def _within_usual(self, units: Sequence[Ints]) -> list[bool]:
        """Say of each slow unit whether its times are among the longer ones of all others.

        Where groups are not seen, a unit that happened to meet far ones only looks slow.
        """
        pairs = self.pairs
        between = self._places[0]
        ends = [np.isin(pairs.i, ranks) | np.isin(pairs.j, ranks) for ranks in units]
        others = between & ~np.any(ends, axis=0)
        far = quantile(pairs.seconds[others], FAR) if others.any() else np.inf
        return [
            bool(quantile(pairs.seconds[own & between], 1 - MOSTLY) <= far)
            if (own & between).any() else False
            for own in ends
        ]  # fmt: skip

    def _undecided(self, units: Sequence[Ints]) -> list[bool]:
        """Say of each slow unit whether it may only be behind a slow way shared with others.

        Where groups are not seen, each node behind a slow way to all others looks slow. Those
        behind one way are fast among themselves, which nodes that are slow themselves are not.

        Parameters
        ----------
        units
            Ranks of what seems to be slow by itself: nodes, or single ranks.
        """
        pairs = self.pairs
        unit = np.full(pairs.ranks, -1)
        for number, ranks in enumerate(units):
            unit[ranks] = number
        one, other = unit[pairs.i], unit[pairs.j]
        both = (one >= 0) & (other >= 0) & (one != other)
        slow = pairs.seconds**2 > self.expected * self.healthy
        among = [slow[both & ((one == k) | (other == k))] for k in range(len(units))]
        others = slow[both] if both.sum() >= SEEN else np.zeros(1, dtype=bool)
        return [float(np.mean(own if len(own) else others)) <= MOSTLY for own in among]

    def _of_ranks(self, part: Part, seconds: float, error: float) -> _Cost:
        """Turn a part of a node into what it is: a rank, all of the node, or some of it."""
        assert self.inner is not None
        extra = self._of_ranks_pairs(None, self.inner.added(part, seconds, self.inner_times))
        ranks = np.array(part.members)
        whole = [np.flatnonzero(self.node == k) for k in distinct(self.node[ranks])]
        kind = "rank" if len(ranks) == 1 else "switch"
        if len(ranks) > 1 and np.array_equal(np.concatenate(whole), ranks) and self.by_host:
            kind = "node"
        return _Cost(kind, ranks, extra, *_typical(extra, seconds, error))

    @staticmethod
    def _sure(fit: Explanation) -> Iterator[tuple[Part, float, float]]:
        for part, seconds, error in zip(fit.parts, fit.seconds, fit.errors, strict=True):
            if seconds > SURE * error:
                yield part, float(seconds), float(error)

    def _of_nodes(self, part: Part, seconds: float, error: float, times: Times) -> Iterator[_Cost]:
        """Turn a part of the network into what it is: nodes, a switch, its uplink."""
        single = part.pattern == ENDS or len(part.members) == 1
        if self.sparse and not single:
            return  # groups may be others
        for members in [(k,) for k in part.members] if single else [part.members]:
            assert self.outer is not None
            own = Part(part.pattern if len(members) > 1 else LEAVING, members, part.scaled)
            extra = self._of_ranks_pairs(self.outer.added(own, seconds, times), None)
            ranks = np.flatnonzero(np.isin(self.node, members))
            kind = "uplink" if part.pattern == LEAVING else "switch"
            if single:
                kind = "node" if self.by_host else "rank"
            # a node alone behind its switch cannot be distinguished from that switch's link
            alone = single and any(np.sum(p == p[members[0]]) == 1 for p in self.outer.chain[:-1])
            instead = ("its link, behind which it is the only node",) * alone
            if kind == "switch" and self._like_no_group(part, seconds):
                instead = ("no slow part: its nodes are then in no group",)
            yield _Cost(kind, ranks, extra, *_typical(extra, seconds, error), instead)

    def _like_no_group(self, part: Part, seconds: float) -> bool:
        """Whether nodes of a slow switch are as far from each other as from all others."""
        assert self.outer is not None
        one, other = np.array(part.members[:1]), np.array(part.members[1:])
        near = level_of(self.outer.chain, np.repeat(one, len(other)), other).max()
        base = self.outer.base[near:]
        inside = len(base) > 1 and part.pattern == INSIDE
        return bool(inside and abs(np.log((base[0] + seconds) / base[1])) < LEAST)

    @property
    def alone(self) -> list[str]:
        """Names of nodes in no group, where others are; none of fewer than three."""
        groups = self.outer.chain[0] if self.outer is not None and self.by_host else self.node[:0]
        sizes = np.bincount(groups)
        units = np.flatnonzero(sizes[groups] == 1)
        if len(sizes) == len(groups) or len(units) < LONE:
            return []
        ranks = np.flatnonzero(np.isin(self.node, units)).tolist()
        return list(dict.fromkeys(self.hosts[k] for k in ranks))

    def _ranks(self) -> Iterator[_Cost]:
        """List the ranks that cost more than the others of their node."""
        cost, error = self.rank_cost
        outer = self._places[0]
        for rank in np.flatnonzero(cost):
            mask = outer & ((self.pairs.i == rank) | (self.pairs.j == rank))
            own = float(cost[rank])
            yield _Cost("rank", np.array([rank]), own * mask, own, float(error[rank]))

    @staticmethod
    def _merged(costs: Sequence[_Cost]) -> list[_Cost]:
        """Make one of what is slow in two ways: inside and beyond, near and far."""
        found: dict[tuple[int, ...], _Cost] = {}
        for cost in costs:
            key = tuple(cost.ranks.tolist())
            if key in found:
                both = sorted([found[key], cost], key=lambda c: KINDS[c.kind].concerns == "one")
                worst = max(both, key=lambda c: c.added)
                seconds = both[0].seconds + both[1].seconds
                cost = _Cost(both[0].kind, cost.ranks, seconds, worst.added, worst.error)
            found[key] = cost
        return list(found.values())

    def _name(self, cost: _Cost) -> Slow:
        """Put a cost into words."""
        mask = cost.seconds > 0
        expected, level = self.expected[mask], self.level[mask]
        without = np.maximum(
            expected - cost.seconds[mask], np.minimum(self.healthy[mask], expected)
        )
        ratios = tuple(
            LevelRatio(int(k), median_of((expected / without)[level == k])) for k in distinct(level)
        )
        near = ratios[0].level
        here = mask & (self.level == near)
        interval = INTERVAL_HALF * cost.error
        return self._slow(
            cost.kind, cost.ranks, mask, here, ratios[0].ratio, median_of(without[level == near]),
            (cost.added, cost.added - interval, cost.added + interval), ratios, cost.instead,
        )  # fmt: skip

    def _slow(
        self,
        kind: str,
        ranks: Ints,
        mask: Bools,
        here: Bools,
        ratio: float,
        expected: float,
        added: tuple[float, float, float],
        ratios: tuple[LevelRatio, ...] = (),
        instead: tuple[str, ...] = (),
    ) -> Slow:
        again = mask & self.pairs.retested
        retested = bool(again.sum() >= min(RETESTS, mask.sum()))
        shown = again & here if retested and (again & here).any() else here
        return Slow(
            kind=kind, who=self._who(kind, ranks), ratio=ratio, ranks=tuple(ranks.tolist()),
            hosts=tuple(dict.fromkeys(self.hosts[k] for k in ranks if self.hosts[k])),
            level=int(self.level[here][0]), seconds=median_of(self.pairs.seconds[shown]),
            expected=expected, pairs=int(mask.sum()), added=added[0], low=added[1], high=added[2],
            ratios=ratios, instead=instead, retested=retested,
            first=median_of(self.pairs.first[shown]) if retested else None,
        )  # fmt: skip

    def _who(self, kind: str, ranks: Ints) -> str:
        names = list(dict.fromkeys(self.hosts[k] for k in ranks))
        if kind == "pair":
            return f"{ranks[0]}-{ranks[1]}" if len(ranks) == 2 else "-".join(names)
        if kind == "rank":
            host = f" ({names[0]})" if names[0] else ""
            return f"rank {ranks[0]}{host}"
        if not self.by_host or len(ranks) < sum(host in names for host in self.hosts):
            return "ranks " + ",".join(map(str, ranks))
        return ",".join(names)

    # ---- what is left belongs to one link ------------------------------------------------------

    @cached_property
    def excess(self) -> Floats:
        """Log of each pair of ranks over what is expected."""
        return np.log(self.pairs.seconds / self.expected)

    def _slow_pairs(self) -> Iterator[Slow]:
        """Name the links between two nodes, then the single pairs of ranks, that are slow."""
        outer, place, inside = self._places
        left = np.ones(len(outer), dtype=bool)
        if self.outer is not None and self.outer_times[0].units >= MIN_NODES:
            times, spread = self.outer_times
            # far pairs of groups that are not seen look slow
            for k in () if self.sparse else self._standing_out(times, self.outer):
                mask = np.zeros(len(outer), dtype=bool)
                mask[outer] = place == k
                left &= ~mask
                yield self._pair(mask, float(self.outer.expected[k]), float(times.seconds[k]))
            # and among those of two nodes, a single pair of ranks
            met = np.bincount(place, minlength=len(times.i)).astype(np.float64)
            several = self._of_ranks_pairs(met, None) > 1
            usual = self._of_ranks_pairs(times.seconds, None) + self.own_costs
            usual[~outer] = 1e300
            rest = np.log(self.pairs.seconds / usual)
            del usual  # a map may have millions of pairs
            tests = int(several.sum())
            limit = outlier_limit(tests, MAD_EFFICIENCY * tests, PAIR_RATE) if tests else np.inf
            beyond = rest > limit * np.hypot(max(spread, MIN_SPREAD), self.pairs.error)
            for k in np.flatnonzero(several & left & beyond):
                yield self._alone(int(k), float(np.exp(rest[k])))
        if self.inner is not None:
            slow = np.flatnonzero(self.rank_cost[0])
            for k in self._standing_out(self.inner_times, self.inner):
                # of two ranks on a node the slow one is known from its other pairs
                if not np.isin([self.inner_times.i[k], self.inner_times.j[k]], slow).any():
                    yield self._alone(int(inside[k]), float(np.exp(self.excess[inside[k]])))

    @staticmethod
    def _standing_out(times: Times, fit: Explanation) -> Ints:
        """Return the pairs that take longer than explained, beyond chance."""
        rest = np.log(times.seconds / fit.expected)
        own = MAD_EFFICIENCY * max(len(rest) - len(fit.parts) - len(fit.chain), 1)
        limit = outlier_limit(len(rest), _freedom(fit.spread, own, times), PAIR_RATE)
        # where more than a fifth is off, this is a wide distribution, as the ways on a torus
        wide = Q80_TO_SIGMA * quantile(np.abs(rest), 0.8)
        return np.flatnonzero(rest > limit * np.maximum(np.hypot(fit.spread, times.error), wide))

    def _alone(self, k: int, ratio: float) -> Slow:
        seconds = float(self.pairs.seconds[k])
        return self._pair(np.arange(len(self.pairs.i)) == k, seconds / ratio, seconds)

    def _pair(self, mask: Bools, expected: float, seconds: float) -> Slow:
        ranks = distinct(np.concatenate([self.pairs.i[mask], self.pairs.j[mask]]))
        first = self.node[ranks] == self.node[ranks[0]]
        ranks = np.concatenate([ranks[first], ranks[~first]])
        error = INTERVAL_HALF * seconds * median_of(self.pairs.error[mask])
        extra = seconds - expected
        added = extra, extra - error, extra + error
        return self._slow("pair", ranks, mask, mask, seconds / expected, expected, added)

    # ---- what is not understood ----------------------------------------------------------------

    def not_understood(self, slow: Sequence[Slow]) -> NotUnderstood:
        """Return how many pairs nothing explains, and between which factors they are off."""
        named = {frozenset(part.ranks) for part in slow if part.of.link}

        def strange(fit: Explanation, times: Times) -> Floats:
            rest = np.abs(np.log(times.seconds / fit.expected))
            limit = np.maximum(SURE * np.hypot(fit.spread, times.error), np.log1p(OFF))
            return np.asarray(rest > limit, np.float64)

        off = self._explained(strange) > 0
        for k in np.flatnonzero(off):
            ends = {int(self.pairs.i[k]), int(self.pairs.j[k])}
            off[k] = not any(ends <= ranks for ranks in named)
        if off.sum() <= max(1, FEW * len(off)):
            return NotUnderstood(0, 1.0, 1.0)
        factors = np.exp(np.abs(self.excess[off]))
        least, most = float(factors.min(initial=1)), float(factors.max(initial=1))
        return NotUnderstood(int(off.sum()), least, most)
