"""What of a map is slow: the parts of its explanation put into words, and the pairs it leaves.

Each part that adds time is named; so is every pair that takes longer than all of the explanation,
beyond chance and beyond its own uncertainty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.record import Record
from isochrone.base.stats import (
    INTERVAL_HALF,
    MAD_EFFICIENCY,
    distinct,
    median_of,
    outlier_limit,
    quantile,
)
from isochrone.base.table import grouped
from isochrone.latency_map.directions import slow_directions
from isochrone.latency_map.explained_map import ExplainedMap, Half
from isochrone.latency_map.explanation import INSIDE, LEAVING, Explanation, Part
from isochrone.latency_map.hierarchy import Known
from isochrone.latency_map.pairs import RankPairs, nodes_of
from isochrone.latency_map.partitions import Partition, level_of
from isochrone.latency_map.slow_part import KINDS, LevelRatio, NotUnderstood, Slow
from isochrone.latency_map.thresholds import (
    FALSE_NAMING_RATE,
    HEAVY_TAIL,
    MAX_SET_ASIDE_RANKS,
    MIN_MEDIAN_VALUES,
    MIN_PEERS,
    MIN_SLOWDOWN,
    MIN_SPREAD,
    MIN_TOGETHER,
    THIRD,
    UNDISTURBED,
)


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


def _typical(extra: Floats, seconds: float, error: float) -> tuple[float, float]:
    """Return what a part adds to the middle one of its pairs, and the standard error of that."""
    middle = median_of(extra[extra > 0])
    return middle, error * middle / seconds


def diagnose(
    pairs: RankPairs,
    hosts: Sequence[str],
    recorded: Sequence[Partition],
    explanations: Known | None,
) -> tuple[Diagnosis, float]:
    """Read a map; return by what factor measuring pairs alone shortens them, too.

    Pairs that are measured alone are not disturbed by others. Where a third of those that were
    measured again is faster than healthy pairs of the map, by more than a slowdown that counts, all
    of them are compared with what disturbs a healthy pair added; two thirds of them may be slow.
    """
    again = pairs.retested

    def shortened(seconds: Floats) -> float:
        return float(np.quantile((pairs.seconds / seconds)[again], THIRD, method="lower"))

    alone = 1.0
    if again.any() and shortened(pairs.first) < UNDISTURBED:
        as_in_map = replace(pairs, seconds=pairs.first)
        healthy = _by_nodes_or_ranks(as_in_map, hosts, recorded, None).healthy
        alone = shortened(healthy)
        if alone < UNDISTURBED:
            added = (1 - alone) * healthy * again
            pairs = replace(pairs, seconds=pairs.seconds + added, high=pairs.high + added)
    diagnosis = _by_nodes_or_ranks(pairs, hosts, recorded, explanations)
    diagnosis.disturbed = alone < UNDISTURBED
    return diagnosis, alone if diagnosis.disturbed else 1.0


def _by_nodes_or_ranks(
    pairs: RankPairs,
    hosts: Sequence[str],
    recorded: Sequence[Partition],
    explanations: Known | None,
) -> Diagnosis:
    """Read a map by its nodes, or, of a small one whose times do not show them, by its ranks."""
    diagnosis = Diagnosis(pairs, hosts, nodes_of(hosts), recorded, explanations)
    if diagnosis.nodes < pairs.ranks <= MAX_SET_ASIDE_RANKS and not diagnosis.shows_nodes:
        diagnosis = Diagnosis(pairs, hosts, np.arange(pairs.ranks), recorded, explanations)
    return diagnosis


class Diagnosis(ExplainedMap):
    """What one map says; made by `diagnose`.

    Attributes
    ----------
    disturbed
        Whether other pairs disturbed those of the map, and hid part of what slow ones add.
    """

    disturbed = False

    def find(self) -> list[Slow]:
        """Return all that adds time for sure, however little, the worst first."""
        directed = [*self._directed()] if len(self.pairs.forward) else []
        ranks = [{*component.ranks} for component in directed]
        alike = [*map(self._name, self._costs), *self._slow_pairs()]
        parts = [component for component in alike if {*component.ranks} not in ranks]
        return sorted([*parts, *directed], key=lambda component: -component.ratio)

    def _directed(self) -> Iterator[Slow]:
        """Name what is slow in one direction."""
        ways = np.array([self.pairs.forward, self.pairs.reverse])
        for kind, units, mask, forward, skew, error in slow_directions(self.pairs, self.node):
            ranks = np.concatenate([np.flatnonzero(self.node == unit) for unit in units])
            near = mask & (self.level == self.level[mask].min())
            there, back = (median_of(np.where(forward, *both)[mask]) for both in (ways, ways[::-1]))
            half = INTERVAL_HALF * error * there
            part = self._slow(
                kind, ranks, mask, near, float(np.exp(skew)), back, there - back, half
            )
            yield replace(part, seconds=there)

    @cached_property
    def _costs(self) -> list[_Cost]:
        costs = [cost for cost in self._parts if cost.ranks[0] not in self.uncertain]
        return [*_merged([*costs, *self._ranks()])]

    # ---- what the parts of the explanation are -------------------------------------------------

    @cached_property
    def _parts(self) -> list[_Cost]:
        """The parts of both explanations."""
        outer = self._of_nodes(self.outer) if self.outer and self.nodes >= MIN_PEERS else ()
        return [*outer, *(self._of_ranks(self.inner) if self.inner else ())]

    def _of_nodes(self, outer: Half) -> Iterator[_Cost]:
        """Turn each part of the network into what it is: a node, a switch, its uplink."""
        for component, seconds, error in outer.parts(units=True):
            first, single = component.members[0], len(component.members) == 1
            if self.sparse and not single:
                continue  # groups may be others
            kind = "uplink" if component.pattern == LEAVING else "switch"
            alternative = ""
            if single:
                kind = "node" if self.by_host else "rank"
                # it cannot be distinguished from its link if it is alone behind its switch
                if any(np.sum(p == p[first]) == 1 for p in outer.fit.chain[:-1]):
                    alternative = "its link, behind which it is the only node"
            elif _like_no_group(outer.fit, component, seconds):
                alternative = "no slow part: its nodes are then in no group"
            extra = self.of_rank_pairs(outer.fit.added(component, seconds, outer.times), None)
            ranks = np.flatnonzero(np.isin(self.node, component.members))
            added, error = _typical(extra, seconds, error)
            yield _Cost(kind, ranks, extra, added, error, (alternative,) * bool(alternative))

    def _of_ranks(self, inner: Half) -> Iterator[_Cost]:
        """Turn each part of a node into what it is: a rank, all of the node, or some of it."""
        for component, seconds, error in inner.parts(units=False):
            ranks = np.array(component.members)
            whole_node = self.by_host and np.sum(self.node == self.node[ranks[0]]) == len(ranks)
            kind = "rank" if len(ranks) == 1 else "node" if whole_node else "cores"
            extra = self.of_rank_pairs(None, inner.fit.added(component, seconds, inner.times))
            yield _Cost(kind, ranks, extra, *_typical(extra, seconds, error))

    def _ranks(self) -> Iterator[_Cost]:
        """List the ranks that cost more than the others of their node."""
        cost, error = self.rank_cost
        for rank in np.flatnonzero(cost):
            mask = self.places[0] & ((self.pairs.i == rank) | (self.pairs.j == rank))
            seconds = float(cost[rank])
            yield _Cost("rank", np.array([rank]), seconds * mask, seconds, float(error[rank]))

    @property
    def alone(self) -> list[str]:
        """Names of nodes in no group, where others are; none of fewer than three."""
        groups = self.outer.fit.chain[0] if self.outer and self.by_host else self.node[:0]
        sizes = np.bincount(groups)
        units = np.flatnonzero(sizes[groups] == 1)
        if len(sizes) == len(groups) or len(units) < MIN_TOGETHER:
            return []
        ranks = np.flatnonzero(np.isin(self.node, units)).tolist()
        return list(dict.fromkeys(self.hosts[k] for k in ranks))

    # ---- what may only seem to be slow ---------------------------------------------------------

    @cached_property
    def uncertain(self) -> dict[int, str]:
        """First rank and name of what is slow, or only shares a slow way with others."""
        units = [cost for cost in self._parts if KINDS[cost.kind].unit]
        ranks = [cost.ranks for cost in units]
        doubtful = np.zeros(len(units), dtype=bool)
        if len(units) >= (MIN_TOGETHER if self.sparse else 2):
            doubtful |= self._undecided(ranks)
        if self.sparse:
            doubtful |= self._within_usual(ranks)
        return {
            int(cost.ranks[0]): self._who(cost.kind, cost.ranks)
            for cost, doubt in zip(units, doubtful, strict=True)
            if doubt
        }

    def _within_usual(self, units: Sequence[Ints]) -> Bools:
        """Say of each slow unit whether its times are among the longer ones of all others.

        Where groups are not seen, a unit that happened to meet far ones only looks slow.
        """
        pairs, between = self.pairs, self.places[0]
        ends = [between & (np.isin(pairs.i, ranks) | np.isin(pairs.j, ranks)) for ranks in units]
        others = pairs.seconds[between & ~np.any(ends, axis=0)]
        limit = quantile(others, 1 - HEAVY_TAIL) if len(others) else np.inf
        return np.array([median_of(pairs.seconds[mask]) <= limit for mask in ends], bool)

    def _undecided(self, units: Sequence[Ints]) -> Bools:
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
        for index, ranks in enumerate(units):
            unit[ranks] = index
        first, second = unit[pairs.i], unit[pairs.j]
        between_units = (first >= 0) & (second >= 0) & (first != second)
        slow = pairs.seconds**2 > self.expected * self.healthy
        among = [slow[between_units & ((first == k) | (second == k))] for k in range(len(units))]
        others = (
            slow[between_units]
            if between_units.sum() >= MIN_MEDIAN_VALUES
            else np.zeros(1, dtype=bool)
        )
        return np.array([np.mean(flags if len(flags) else others) <= 0.5 for flags in among], bool)

    @cached_property
    def like_peers(self) -> set[tuple[str, tuple[int, ...]]]:
        """Kinds and ranks of what takes longer, but by no more than nodes differ anyway."""
        alike = filter(self._is_like_peers, self._costs)
        return {(cost.kind, tuple(cost.ranks.tolist())) for cost in alike}

    def _is_like_peers(self, cost: _Cost) -> bool:
        mask = self.places[0] & (cost.seconds > 0)
        if cost.kind not in ("node", "switch", "uplink") or not self.by_host or not mask.any():
            return False
        middle, limit = self.nodes_differ(distinct(self.node[cost.ranks]))
        without = self.expected[mask] - cost.seconds[mask]
        return median_of(np.log(self.pairs.seconds[mask] / without)) <= middle + limit

    # ---- naming --------------------------------------------------------------------------------

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
        closest, ratio = ratios[0]
        if self.one_node:  # where most pairs are: few of a core share its cache
            closest, ratio = max(ratios, key=lambda level_ratio: np.sum(level == level_ratio.level))
        return self._slow(
            cost.kind,
            cost.ranks,
            mask,
            mask & (self.level == closest),
            ratio,
            median_of(without[level == closest]),
            cost.added,
            INTERVAL_HALF * cost.error,
            ratios=ratios,
            instead=cost.instead,
        )

    def _slow(
        self,
        kind: str,
        ranks: Ints,
        mask: Bools,
        on_closest: Bools,
        ratio: float,
        expected: float,
        added: float,
        half: float,
        ratios: tuple[LevelRatio, ...] = (),
        instead: tuple[str, ...] = (),
    ) -> Slow:
        """Describe what slows some pairs, by those that are ``on_closest``, its closest level."""
        again = mask & self.pairs.retested
        twice = bool(again.sum() >= min(MIN_MEDIAN_VALUES, mask.sum()))
        displayed = again & on_closest if twice and (again & on_closest).any() else on_closest
        first = median_of(self.pairs.first[displayed])
        confirming = min(np.sqrt(ratio), 1 + MIN_SLOWDOWN) if self.disturbed else np.sqrt(ratio)
        return Slow(
            kind=kind,
            who=self._who(kind, ranks),
            ratio=ratio,
            ranks=tuple(ranks.tolist()),
            hosts=tuple(dict.fromkeys(self.hosts[k] for k in ranks if self.hosts[k])),
            level=int(self.level[on_closest][0]),
            seconds=median_of(self.pairs.seconds[displayed]),
            expected=expected,
            pairs=int(mask.sum()),
            added=added,
            low=added - half,
            high=added + half,
            retested=twice and bool(first > expected * confirming),
            first=first if twice else None,
            ratios=ratios,
            instead=instead,
        )

    def _who(self, kind: str, ranks: Ints) -> str:
        names = list(dict.fromkeys(self.hosts[k] for k in ranks))
        if kind == "direction":
            ends = names if self.by_host else [f"rank {rank}" for rank in ranks]
            return " → ".join(ends)
        if kind == "pair":
            return f"{ranks[0]}-{ranks[1]}" if len(ranks) == 2 else "-".join(names)
        if kind == "rank" or (KINDS[kind].directed and not self.by_host):
            host = f" ({names[0]})" if names[0] else ""
            return f"rank {ranks[0]}{host}"
        if kind == "cores":
            return f"of ranks {','.join(map(str, ranks))} ({names[0]})"
        if not self.by_host or len(ranks) < sum(host in names for host in self.hosts):
            return "ranks " + ",".join(map(str, ranks))
        return ",".join(names)

    # ---- what is left belongs to one link ------------------------------------------------------

    def _slow_pairs(self) -> Iterator[Slow]:
        """Name the links between two nodes, then the single pairs of ranks, that are slow."""
        outer, position, inside = self.places
        if self.outer and self.nodes >= MIN_PEERS:
            times = self.outer.times
            # far pairs of groups that are not seen look slow
            odd = inside[:0] if self.sparse else self.outer.standing_out()
            for k in odd:
                mask = outer.copy()
                mask[outer] = position == k
                yield self._pair(mask, float(self.outer.fit.expected[k]), float(times.seconds[k]))
            # and among those of two nodes, a single pair of ranks
            rows = np.flatnonzero(outer)
            expected = times.seconds[position] + self.own_costs[rows]
            residual = np.log(self.pairs.seconds[rows] / expected)
            several = np.bincount(position)[position] > 1
            tests = int(several.sum())
            limit = (
                outlier_limit(tests, MAD_EFFICIENCY * tests, FALSE_NAMING_RATE) if tests else np.inf
            )
            beyond = residual > limit * np.hypot(
                max(self.spread, MIN_SPREAD), self.pairs.error[rows]
            )
            for k in np.flatnonzero(several & beyond & ~np.isin(position, odd)):
                yield self._single(rows[k], residual[k])
        if self.inner:
            slow = np.flatnonzero(self.rank_cost[0])
            for k in inside[self.inner.standing_out()]:
                # of two ranks on a node the slow one is known from its other pairs
                if not np.isin([self.pairs.i[k], self.pairs.j[k]], slow).any():
                    yield self._single(k, self.excess[k])

    def _single(self, k: int, excess: float) -> Slow:
        """Name one pair of ranks, by the log of its time over what is expected."""
        seconds = float(self.pairs.seconds[k])
        mask = np.arange(len(self.pairs.i)) == k
        return self._pair(mask, seconds / float(np.exp(excess)), seconds)

    def _pair(self, mask: Bools, expected: float, seconds: float) -> Slow:
        ranks = distinct(np.concatenate([self.pairs.i[mask], self.pairs.j[mask]]))
        first = self.node[ranks] == self.node[ranks[0]]
        ranks = np.concatenate([ranks[first], ranks[~first]])
        half = INTERVAL_HALF * seconds * median_of(self.pairs.error[mask])
        ratio, added = seconds / expected, seconds - expected
        return self._slow("pair", ranks, mask, mask, ratio, expected, added, half)

    # ---- what is not understood ----------------------------------------------------------------

    def not_understood(self, slow: Sequence[Slow]) -> NotUnderstood:
        """Return how many pairs nothing explains, and between which factors they are off."""
        named = [{*component.ranks} for component in slow if component.of.link]

        off = self.explained(lambda half: half.unexplained.astype(np.float64)) > 0
        for k in np.flatnonzero(off):
            ends = {int(self.pairs.i[k]), int(self.pairs.j[k])}
            off[k] = not any(ends <= ranks for ranks in named)
        tolerated = min(half.few for half in (self.outer, self.inner) if half)
        if off.sum() <= max(tolerated > 0, tolerated * len(off)):
            return NotUnderstood(0, 1.0, 1.0)
        factors = np.exp(np.abs(self.excess[off]))
        lowest, highest = float(factors.min(initial=1)), float(factors.max(initial=1))
        return NotUnderstood(int(off.sum()), lowest, highest)


def _like_no_group(fit: Explanation, component: Part, seconds: float) -> bool:
    """Whether nodes of a slow switch are as far from each other as from all others."""
    first, others = np.array(component.members[:1]), np.array(component.members[1:])
    level = level_of(fit.chain, np.repeat(first, len(others)), others).max()
    base = fit.base[level:]
    inside = len(base) > 1 and component.pattern == INSIDE
    return bool(inside and abs(np.log((base[0] + seconds) / base[1])) < MIN_SLOWDOWN)


def _merged(costs: Sequence[_Cost]) -> Iterator[_Cost]:
    """Make one of what is slow in two ways: inside and beyond, near and far."""
    for same_ranks in grouped((tuple(cost.ranks.tolist()), cost) for cost in costs).values():
        same_ranks.sort(key=lambda cost: KINDS[cost.kind].concerns == "one")
        worst = max(same_ranks, key=lambda cost: cost.added)
        seconds = np.sum([cost.seconds for cost in same_ranks], axis=0)
        yield (
            same_ranks[0]
            if len(same_ranks) == 1
            else replace(
                same_ranks[0], seconds=seconds, added=worst.added, error=worst.error, instead=()
            )
        )
