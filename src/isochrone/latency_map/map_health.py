"""A latency map judged by itself: what is slow, which hosts that proves bad, what is not known.

A host is bad only if the map names its node or ranks of it. The ends of a slow pair or link, and
the nodes behind a slow switch, are suspects: any of several things may be the cause.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.record import Record
from isochrone.base.stats import distinct, median_of, quantile
from isochrone.base.table import Table
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.latency_map.hierarchy import Known
from isochrone.latency_map.partitions import parted
from isochrone.latency_map.slow_part import Slow
from isochrone.latency_map.thresholds import (
    DEVIATING_SHARE,
    FAR_OFF,
    FEW_NODES,
    MAX_MISSING,
    MIN_MEDIAN_VALUES,
    MIN_PEERS,
    MIN_SLOWDOWN,
    MIN_TOGETHER,
    MIN_TORUS_DEVIATION,
    SLOWER,
)
from isochrone.latency_map.topology import Topology, analyse
from isochrone.runfile.run import Run

_DOUBTS = {
    "few-nodes": "measure four nodes or more, or compare with earlier runs (--baseline)",
    "few-ranks": "measure six ranks or more, or compare with earlier runs (--baseline)",
    "hosts-disagree": "check the placement of the ranks, and measure again",
    "nodes-differ": "give --baseline",
    "no-group": "compare with how the nodes are connected, or with earlier runs (--baseline)",
    "shared-way": "compare with how the nodes are connected, or with earlier runs (--baseline)",
}
"""Warnings of a reading that leave open whether a host is slow, and what to do."""


class MapHealth(Record):
    """What a map says of its machine.

    Attributes
    ----------
    found
        The reading of each message size.
    slow
        Slow parts with the message size, each once, the worst first, and whether it is all of the
        part: a node near a slow link has some long round trips, a slow node has no short ones;
        and of a node whether not all behind its switch are slow.
    minor
        Those too little to act on, likewise.
    doubts
        What cannot be judged and what to do; a sentence each.
    detectable
        Slowdown of a node, a ratio, that would be named at every size; infinite if no node is
        judged.
    far_off
        Whether pairs are far off that nothing explains: earlier runs do not settle this.
    hosts
        Of each host the median round trip with other hosts over that of its level: at the message
        size at which this is longest.
    measured
        Number of pairs that were measured, at the message size with the most.
    """

    found: dict[int, Topology]
    slow: list[tuple[Slow, int, bool]]
    minor: list[tuple[Slow, int]]
    doubts: list[str]
    detectable: float
    far_off: bool
    hosts: dict[str, float]
    measured: int


def map_health(run: Run, threshold: float, explanations: Known | None = None) -> MapHealth:
    """Judge a map; what adds less than ``threshold`` of the time is not called slow.

    Raises
    ------
    InputError
        If the run holds no pairs.
    """
    analyses = {size: analyse(run, size, threshold, explanations) for size in run.message_sizes()}
    ratios = {size: _Ratios(run, size, analysis) for size, analysis in analyses.items()}
    slow = _once(
        (component, size) for size, analysis in analyses.items() for component in analysis.slow
    )
    far_off = [
        text
        for map_ratios in ratios.values()
        for describe in (_far_off, _now_and_then)
        for text in describe(map_ratios)
    ]
    minor = _once(
        (component, size) for size, analysis in analyses.items() for component in analysis.minor
    )
    named = slow or minor
    odd = [] if named else list(dict.fromkeys(filter(None, (r.odd() for r in ratios.values()))))
    longest: dict[str, float] = {}
    for map_ratios in ratios.values():
        for host, ratio in map_ratios.of_hosts().items():
            longest[host] = max(ratio, longest.get(host, ratio))
    return MapHealth(
        analyses,
        [
            (part, size, ratios[size].throughout(part) and not _whole_switch(part, analyses[size]))
            for part, size in slow
        ],
        minor,
        [*_doubts(run, analyses), *far_off, *odd],
        max(_detectable(run, size, analysis) for size, analysis in analyses.items()),
        bool(far_off),
        longest,
        max(int(np.sum(np.isfinite(map_ratios.ratio))) for map_ratios in ratios.values()),
    )


def _detectable(run: Run, size: int, analysis: Topology) -> float:
    """Return the slowdown of a node, a ratio, that would be seen; infinite if no node is judged.

    A formula says it where the nodes are many and their times are those of their levels. Otherwise
    it is tried out.
    """
    hosts = list(dict.fromkeys(run.hosts))
    sure = len(hosts) >= FEW_NODES and analysis.detectable < SLOWER[1]
    if analysis.slow or sure or not np.isfinite(analysis.detectable):
        return analysis.detectable
    sampled_hosts = hosts[:: -(-len(hosts) // FEW_NODES)]
    return next(
        (
            ratio
            for ratio in SLOWER
            if all(_would_be_seen(run, size, host, ratio, analysis.least) for host in sampled_hosts)
        ),
        SLOWER[-1],
    )


def _would_be_seen(run: Run, size: int, host: str, ratio: float, threshold: float) -> bool:
    """Whether a node is named, or a doubt raised, if its round trips with others are longer."""
    table = run.pairs()
    of_node = np.array([name == host for name in run.hosts])
    factor = np.where(of_node[table["i"]] != of_node[table["j"]], ratio, 1.0)
    statistic = run.statistic()
    slower = Table(table.columns | {statistic: factor * table[statistic]})
    changed = replace(run, tables=run.tables | {"pair": slower})
    analysis = analyse(changed, size, threshold)
    named = any(
        component.kind == "node" and component.hosts == (host,) for component in analysis.slow
    )
    return named or bool(_Ratios(changed, size, analysis).odd())


def _whole_switch(component: Slow, analysis: Topology) -> bool:
    """Tell whether all nodes that are together on a level are slow: it may be what they share."""
    nodes = [{*slow_node.ranks} for slow_node in analysis.slow if slow_node.kind == "node"]
    named = set[int]().union(*nodes)
    groups = ({*group} for level in analysis.levels for group in level.groups)
    return component.kind == "node" and any(
        {*component.ranks} < group <= named
        and len(group) < analysis.ranks
        and sum(ranks <= group for ranks in nodes) >= MIN_TOGETHER
        for group in groups
    )


class _Ratios:
    """The round trips of one message size, each over the median of its level."""

    def __init__(self, run: Run, size: int, analysis: Topology) -> None:
        pairs = analysis.pairs
        self.i, self.j, self.seconds = pairs.i, pairs.j, pairs.seconds
        self.level = analysis.level_of(pairs.i, pairs.j)
        medians = np.array([level.median for level in analysis.levels])
        self.ratio = self.seconds / medians[self.level]
        self.high, self.retested = pairs.high / medians[self.level], pairs.retested
        # each pair as seen from either end
        self.end = np.concatenate([pairs.i, pairs.j])
        self.names, self.host = np.unique(np.array(run.hosts), return_inverse=True)
        self.analysis = analysis
        self.at = f" at {format_bytes(size)}" if len(run.message_sizes()) > 1 else ""
        self.throughout = cache(self._throughout)

    def _throughout(self, component: Slow) -> bool:
        """Tell whether even the shorter round trips of a node or rank are longer than others'.

        Compared are the lower quartiles of nodes (or ranks) on the levels where it is slow.
        """
        if not component.of.unit:
            return True
        ratios = component.ratios or ((component.level, component.ratio),)
        level_ratios = np.where(
            np.isin(self.level, [level for level, _ in ratios]), self.ratio, np.nan
        )
        unit = self.host if component.kind == "node" else np.arange(len(self.host))
        of_part = distinct(unit[list(component.ranks)])
        others = np.setdiff1d(unit, of_part)
        if len(others) < MIN_PEERS - 1:
            return True
        values, owner = np.tile(level_ratios, 2), unit[self.end]
        quartiles = {k: _quartile(unit_ratios) for k, unit_ratios in parted(owner, values)}
        median = np.nanmedian([quartiles.get(k, np.nan) for k in others.tolist()])
        smallest = min(ratio for _, ratio in ratios)
        if component.retested:
            smallest = 1 + (smallest - 1) * self.analysis.alone
        component_ratios = values[np.isin(owner, of_part)]
        return bool(_quartile(component_ratios) >= median * np.sqrt(smallest))

    def of_hosts(self) -> dict[str, float]:
        """Return the median ratio of each host's round trips with other hosts."""
        names, host = self.names, self.host
        others = np.isfinite(self.ratio) & (host[self.i] != host[self.j])
        end_mask = np.tile(others, 2)
        measured = parted(host[self.end][end_mask], np.tile(self.ratio, 2)[end_mask])
        return {str(names[k]): median_of(host_ratios) for k, host_ratios in measured if names[k]}

    def odd(self) -> str:
        """Say it if one host is longer than all others on a machine of many distances.

        On a torus or ring a node that is slow by a quarter is within what distances make. All its
        round trips, sorted, are then longer than those of the middle node, and no other node's are.
        """
        measured = {
            self.names[k]: host_ratios
            for k, host_ratios in parted(self.host[self.end], np.tile(self.ratio, 2))
        }
        if len(measured) < FEW_NODES or "" in self.names:
            return ""
        steps = np.linspace(0.05, 0.95, 19)
        profiles = np.log([np.nanquantile(host_ratios, steps) for host_ratios in measured.values()])
        beyond = np.median(profiles - np.median(profiles, axis=0), axis=1)
        first, second = np.argsort(-np.abs(beyond))[:2]
        if beyond[first] < max(np.log1p(MIN_SLOWDOWN), 2 * abs(beyond[second])):
            return ""
        name, ratio = printable(list(measured)[first], 60), np.exp(beyond[first])
        return (
            f"node {name} takes {ratio:.2f} times as long as "
            "the median node, but nodes also differ by distance: give --baseline"
        )


def _quartile(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return quantile(finite, 0.25)


def _once(components: Iterator[tuple[Slow, int]]) -> list[tuple[Slow, int]]:
    """Keep of what is slow at several sizes that where it is worst; first where it is confirmed.

    Links of a node or rank that is confirmed are not slow by themselves.
    """
    worst: dict[tuple[str, str], tuple[Slow, int]] = {}
    for component, size in sorted(components, key=lambda e: (not e[0].retested, -e[0].ratio)):
        worst.setdefault((component.kind, component.who), (component, size))
    units = {k for part, _ in worst.values() if part.of.unit and part.retested for k in part.ranks}
    return [
        (part, size)
        for part, size in worst.values()
        if not (part.of.link and units.intersection(part.ranks))
    ]


def _doubts(run: Run, analyses: dict[int, Topology]) -> Iterator[str]:
    total = run.size * (run.size - 1) // 2
    warnings = [
        (str(warning.get("code")), str(warning.get("text")))
        for analysis in analyses.values()
        for warning in analysis.warnings
    ]
    doubts: dict[str, str] = {}
    for code, text in warnings:
        if code in _DOUBTS:
            doubts.setdefault(code, f"{text}: {_DOUBTS[code]}")
    yield from doubts.values()
    unexplained = max(analysis.not_understood.pairs for analysis in analyses.values())
    if unexplained:
        pairs = "1 pair differs" if unexplained == 1 else f"{unexplained} pairs differ"
        yield (
            f"{pairs} from what levels and slow components explain: measure again, or give "
            "--baseline"
        )
    measured = max(sum(level.pairs for level in analysis.levels) for analysis in analyses.values())
    if total - measured > MAX_MISSING * total:
        unseen = f"{total - measured} of {total} pairs were not measured: measure again"
        yield next((text for code, text in warnings if code == "sampled"), unseen)
    elif not run.complete:
        yield "the measurement is incomplete: measure again"


def _far_off(ratios: _Ratios) -> Iterator[str]:
    """Say it if pairs are far off that no named part explains, with the worst of them."""
    open_ = _unnamed(ratios, ratios.ratio)
    several = int(np.sum(open_ >= MIN_TORUS_DEVIATION)) >= max(
        MIN_MEDIAN_VALUES, DEVIATING_SHARE * np.count_nonzero(open_)
    )
    worst = float(open_.max(initial=0))
    if worst < FAR_OFF * (1 - 1e-6) and not several:
        return
    k = int(np.argmax(open_))
    i, j, seconds = int(ratios.i[k]), int(ratios.j[k]), float(ratios.seconds[k])
    yield (
        f"pairs such as {i}-{j} take {worst:.1f} times the usual time of their level{ratios.at}, "
        f"{format_seconds(seconds)} instead of {format_seconds(seconds / worst)}, "
        "unexplained: perhaps a slow link shared by many pairs; measure again, and see "
        "isochrone plot --view heatmap"
    )


def _now_and_then(ratios: _Ratios) -> Iterator[str]:
    """Say it if a pair that was measured again may still be far off, by its interval."""
    high = _unnamed(ratios, np.where(ratios.retested, ratios.high, 0))
    k = int(np.argmax(high)) if high.size else 0
    if high.size and ratios.ratio[k] < FAR_OFF <= high[k]:
        seconds = ratios.seconds[k]
        longest = format_seconds(float(seconds * high[k] / ratios.ratio[k]))
        pair = f"{ratios.i[k]}-{ratios.j[k]}{ratios.at}"
        yield (
            f"the time of pair {pair}, measured again, may be {longest} by its interval, "
            f"{high[k]:.1f} times the usual time of its level; perhaps something is slow now and "
            "then: measure again"
        )


def _unnamed(ratios: _Ratios, values: Floats) -> Floats:
    """Return the values of pairs that no named part explains; 0 of the others."""
    open_ = np.nan_to_num(values)
    for component in ratios.analysis.slow:
        ends = np.isin(ratios.i, component.ranks).astype(int) + np.isin(ratios.j, component.ranks)
        if component.of.link:
            open_[ends == 2] = 0
        elif ratios.throughout(component):
            open_[ends > 0] = 0
    return open_
