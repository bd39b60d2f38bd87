"""What a latency map says about the machine: levels, groups, placement, and what is slow.

The reading is put together from the explanation of the map and what it names (`what_is_slow`, each
a `slow_part.Slow`), and from how the scheduler dealt the ranks out to the hosts.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Ints
from isochrone.base.documents import Hidden, IfKnown, MaybeNan, WarningList
from isochrone.base.inference import median_interval
from isochrone.base.record import Record
from isochrone.base.stats import distinct, mad, median_of, quantile
from isochrone.base.text import listed, printable
from isochrone.base.units import format_rate, format_seconds
from isochrone.latency_map.explanation import Estimator
from isochrone.latency_map.grid import grid_of
from isochrone.latency_map.hierarchy import Known
from isochrone.latency_map.pairs import RankPairs, clock_step, hosts_known, rank_pairs
from isochrone.latency_map.partitions import Partition, groups_of, level_of, numbered
from isochrone.latency_map.slow_part import NotUnderstood, Slow
from isochrone.latency_map.thresholds import (
    MAX_MISSING,
    MAX_PAIRS,
    MAX_WARNED_NAMES,
    MIN_CLOCK_STEP,
    MIN_PEERS,
    MIN_RANKS_TO_JUDGE,
    MIN_SLOWDOWN,
    OUTLIER_RATIO,
)
from isochrone.latency_map.what_is_slow import Diagnosis, diagnose
from isochrone.runfile.run import Run

__all__ = ["Level", "Placement", "Slow", "Topology", "analyse", "placement_of"]


BLIND = (
    "below-resolution",
    "few-nodes",
    "few-pairs",
    "few-ranks",
    "hosts-disagree",
    "incomplete-map",
    "no-group",
    "nodes-differ",
    "sampled",
    "shared-way",
)
"""Warnings of a reading that would not show everything that is slow."""


_SAME = {
    "core": ("package", "core", "l2"),
    "l2": ("l2",),
    "l3": ("l3",),
    "numa": ("numa",),
    "package": ("package",),
}
"""What ranks of one node may share, the closest first, and the places that are then the same.

Linux numbers cores anew in each package, and on some systems in each part of it that has its own
caches; SMT siblings share their L2 cache, so this tells cores of one number apart.
"""


class Level(Record):
    """One level of the communication hierarchy.

    Attributes
    ----------
    level
        0 for the closest.
    name
        ``core``, ``l2``, ``l3``, ``numa``, ``package`` or ``node`` where the ranks of each group
        share what the machine recorded under that name, ``network`` for the last level beyond
        nodes, else ``group``.
    median, low, high
        Median round trip of its pairs in seconds, and a 95 % interval of this median.
    pairs
        Number of its measured pairs: those within one group that are in two on any closer level.
    groups
        The sets of ranks that can reach each other within this level.
    bandwidth
        Median bandwidth in bytes per second, of a map of bandwidths.
    """

    level: int
    name: str
    median: MaybeNan
    low: MaybeNan
    high: MaybeNan
    pairs: int
    groups: list[list[int]]
    bandwidth: IfKnown[float] = None

    def in_words(self, seconds: float) -> str:
        """Write a round trip of the level, or its bandwidth in a map of these."""
        if self.bandwidth is None:
            return format_seconds(seconds)
        return format_rate(self.bandwidth * self.median / seconds)


class Placement(Record):
    """Where the ranks are.

    Attributes
    ----------
    kind
        ``block`` (each host's ranks follow each other), ``cyclic`` (dealt out one by one, passing
        over hosts that are full) or ``irregular``.
    hosts
        Host names in the order in which the ranks meet them. They come from elsewhere: escape them.
    ranks_per_node
        Number of ranks on each.
    """

    kind: str
    hosts: Hidden[tuple[str, ...]]
    ranks_per_node: tuple[int, ...]


class Topology(Record):
    """What a latency map says about the machine.

    Attributes
    ----------
    ranks
        Number of ranks.
    nbytes
        Message size the reading rests on.
    levels
        From the closest to the farthest.
    placement
        How the ranks were dealt out to the hosts.
    slow
        The slow parts, the worst first.
    minor
        What is slower for sure, but by less than ``least``: too little to act on.
    least
        Part of the time from which on something is called slow.
    not_understood
        How many pairs nothing explains, and between which factors they are off.
    warnings
        Those of the run, then those of the reading: dicts with ``code`` and ``text``.
    pairs
        The measured pairs of ranks that the reading rests on.
    chain
        Group of each rank on each level.
    estimator
        What pairs take that were not measured.
    lacking
        Pairs of nodes that must be measured until levels, and costs of nodes to a part, are known.
    detectable
        Slowdown of a node, a ratio, that is named in 95 % of cases; infinite if no node is judged.
    advice
        Which pairs to measure next, in words; empty if that is not known.
    doubtful
        A rank of each node that is slow, or only shares a slow way with others.
    alone
        Part of its time in the map that a healthy pair takes alone.
    """

    ranks: int
    nbytes: int
    levels: list[Level]
    placement: Placement
    slow: list[Slow]
    minor: list[Slow]
    least: float
    not_understood: NotUnderstood
    warnings: WarningList
    pairs: Hidden[RankPairs]
    chain: Hidden[list[Partition]]
    estimator: Hidden[Estimator]
    lacking: Hidden[Callable[[float], int]]
    detectable: Hidden[float]
    doubtful: Hidden[tuple[int, ...]] = ()
    advice: IfKnown[str] = None
    alone: Hidden[float] = 1.0

    def level_of(self, i: Ints, j: Ints) -> Ints:
        """Return the levels of pairs of ranks."""
        return level_of(self.chain, i, j)

    @property
    def blind(self) -> list[str]:
        """Why something slow may be there although none is named; empty if it would be seen."""
        return [str(warning["text"]) for warning in self.warnings if warning.get("code") in BLIND]


def analyse(
    run: Run,
    nbytes: int | None = None,
    threshold: float = MIN_SLOWDOWN,
    explanations: Known | None = None,
) -> Topology:
    """Read the hierarchy, the placement and the slow parts out of a latency map.

    Parameters
    ----------
    run
        A latency map; a partial one will do.
    nbytes
        Message size; the smallest one measured if None.
    threshold
        What adds less than this part of the time is noted, and not called slow.
    explanations
        Explanations of maps that were analysed before.

    Raises
    ------
    InputError
        If the run is not a latency map, or has no pairs of that size.
    """
    nbytes = run.message_sizes()[0] if nbytes is None else nbytes
    statistic = run.statistic()
    if nbytes not in run.message_sizes():
        raise run.no_such_pairs(nbytes)
    pairs = rank_pairs(run, statistic, nbytes)
    moved = nbytes if run.bandwidth else None
    recorded = _recorded_partitions(run)
    diagnosis, alone = diagnose(pairs, run.hosts, list(recorded.values()), explanations)
    components = [
        replace(
            component.as_measured_alone(alone),
            moved=moved,
            quantity=run.pair_quantity,
            gpus=_gpus_of(component, run),
        )
        for component in diagnosis.find()
    ]
    step = clock_step(pairs.seconds)
    slow: list[Slow] = []
    minor: list[Slow] = []
    alike: list[Slow] = []
    for component in components:
        little = component.ratio < 1 + threshold or component.added <= step
        like_peers = (component.kind, component.ranks) in diagnosis.like_peers
        (minor if little else alike if like_peers else slow).append(component)
    links = [component for component in slow if component.of.link]
    # ways that divide all ranks among them are built so, as that of two GPUs on one PCIe switch
    by_design = sorted(rank for link in links for rank in link.ranks) == [*range(run.size)]
    if by_design:
        slow = [component for component in slow if not component.of.link]
    unlisted = [component for component in slow if component.of.link][MAX_PAIRS:]
    hops = _no_levels(diagnosis, moved)
    # where hops explain the times, most pairs are off their only level
    explained = bool(hops) and not diagnosis.one_node
    doubts = [*_warnings(run, diagnosis, threshold, slow, alike)]
    if hops:
        doubts.append(("no-hierarchy", hops))
    if alone < 1:
        text = (
            f"healthy pairs take {alone:.2g} times as long alone; times measured again are "
            "compared with that"
        )
        doubts.append(("undisturbed", text))
    if by_design:
        names = listed([printable(link.name, 60) for link in links], MAX_WARNED_NAMES)
        ratio = max(link.ratio for link in links)
        shared = f"each rank has one slow pair, up to {ratio:.2f}x, probably a shared way: {names}"
        doubts.append(("shared-pairs", shared))
    if unlisted:
        are = "pair is" if len(unlisted) == 1 else "pairs are"
        doubts.append(("many-slow-pairs", f"{len(unlisted)} more slow {are} not listed"))
    if step >= MIN_CLOCK_STEP * pairs.seconds.min() and not moved:
        text = f"times are multiples of {format_seconds(step)}: less does not show"
        doubts.append(("clock-step", text))
    warnings: WarningList = [*run.warnings]
    warnings += [{"code": code, "text": text} for code, text in doubts]
    return Topology(
        ranks=run.size,
        nbytes=nbytes,
        levels=_levels(diagnosis, recorded, moved),
        placement=placement_of(run.hosts),
        slow=[component for component in slow if component not in unlisted],
        minor=minor,
        least=threshold,
        not_understood=NotUnderstood(0, 1.0, 1.0)
        if explained
        else diagnosis.not_understood(components),
        pairs=diagnosis.pairs,
        chain=diagnosis.partitions,
        estimator=diagnosis.estimator,
        lacking=diagnosis.lacking,
        detectable=diagnosis.detectable(threshold),
        doubtful=tuple(diagnosis.uncertain),
        advice=_advice(diagnosis),
        alone=alone,
        warnings=warnings,
    )


def _gpus_of(component: Slow, run: Run) -> tuple[str, ...] | None:
    """Return the GPUs of a slow rank or pair of ranks; None if messages are not in such memory."""
    ends = {"rank": 1, "pair": 2}.get(component.kind)
    addresses = {rank.rank: printable(rank.gpu_pci, 20) for rank in run.ranks if rank.gpu_pci}
    if ends != len(component.ranks) or not addresses.keys() >= {*component.ranks}:
        return None
    return tuple(addresses[rank] for rank in component.ranks)


def _advice(diagnosis: Diagnosis) -> str | None:
    """Say which pairs of nodes to measure next; None of a map that is not sparse."""
    if diagnosis.outer is None or not diagnosis.outer.times.sparse:
        return None
    from isochrone.latency_map.next_pairs import next_pairs

    advice = next_pairs(diagnosis.outer.times)
    ranks = range(diagnosis.pairs.ranks)
    names = dict(zip(diagnosis.node[::-1].tolist(), reversed(diagnosis.hosts), strict=True))
    if not diagnosis.by_host:
        names = {k: f"rank {k}" for k in ranks}
    return advice.in_words([names[k] for k in sorted(names)]) if advice else None


def placement_of(hosts: Sequence[str]) -> Placement:
    """Recognise the placement from the hosts in rank order; one rank on each host is ``block``."""
    count = Counter(hosts)  # keeps the order of first appearance
    # dealt out round after round until every host has its number
    rounds = range(max(count.values(), default=0))
    dealt = [host for turn in rounds for host in count if count[host] > turn]
    in_turn = "cyclic" if list(hosts) == dealt else "irregular"
    kind = "block" if len(list(groupby(hosts))) == len(count) else in_turn
    return Placement(kind, tuple(count), tuple(count.values()))


def _recorded_partitions(run: Run) -> dict[str, Partition]:
    """Return the partitions that the machine recorded, the finest first, by what groups share.

    A partition has one name: that of the closest thing shared, unless it is that into nodes. Those
    in which each rank is alone are left out.
    """
    if len(run.ranks) < run.size or not all(run.hosts):
        return {}
    ranks = sorted(run.ranks, key=lambda r: r.rank)
    partitions = {"node": numbered([r.host for r in ranks])}
    for name, fields in _SAME.items():
        if all(getattr(r, name) >= 0 for r in ranks):
            same = numbered([(r.host, *(getattr(r, field) for field in fields)) for r in ranks])
            if not any(np.array_equal(same, partition) for partition in partitions.values()):
                partitions[name] = same
    useful = {name: same for name, same in partitions.items() if same.max() < len(ranks) - 1}
    return dict(sorted(useful.items(), key=lambda entry: -int(entry[1].max())))


def _levels(
    diagnosis: Diagnosis, recorded: dict[str, Partition], moved: float | None
) -> list[Level]:
    """Describe each level by the times without what is slow; unmeasured pairs are in none."""
    pairs = diagnosis.pairs
    seconds = diagnosis.healthy - diagnosis.expected
    seconds += pairs.seconds  # in place: a map may have millions of pairs
    np.maximum(seconds, 0.2 * diagnosis.healthy, out=seconds)
    if diagnosis.nodes < MIN_PEERS and not diagnosis.inner:
        seconds = pairs.seconds  # nothing of so few is slow
    levels = []
    for k, partition in enumerate(diagnosis.partitions):
        members = seconds[diagnosis.level == k]
        low, high = median_interval(members)
        median = median_of(members)
        default_name = "group" if partition.any() else "network"
        names = (name for name, grouping in recorded.items() if np.array_equal(partition, grouping))
        name = next(names, default_name)
        rate = moved / median if moved and members.size else None
        levels.append(Level(k, name, median, low, high, members.size, groups_of(partition), rate))
    return levels


def _warnings(
    run: Run,
    diagnosis: Diagnosis,
    threshold: float,
    slow: Sequence[Slow],
    alike: Sequence[Slow],
) -> Iterator[tuple[str, str]]:
    """Yield codes and texts of what makes the reading doubtful."""
    yield from _unseen(run, diagnosis, threshold)
    total = run.size * (run.size - 1) // 2
    missing = total - len(diagnosis.pairs.i)
    partitions, hosts = diagnosis.partitions, run.hosts
    if hosts_known(hosts):
        nodes = numbered(hosts)
        visible = 1 < len(set(hosts)) < run.size and missing <= MAX_MISSING * total
        if visible and not any(np.array_equal(nodes, partition) for partition in partitions):
            yield "hosts-disagree", "the map does not match the recorded hosts"
        if len(set(hosts)) < MIN_PEERS:
            yield "few-nodes", f"with fewer than {MIN_PEERS} nodes a slow node cannot be identified"
    elif not all(hosts):
        yield (
            "hosts-unknown",
            "the hosts of the ranks are not recorded, so slow nodes cannot be named",
        )
    last = partitions[-2] if len(partitions) > 1 else np.zeros(1)
    nodes_of_groups = (distinct(diagnosis.node[last == k]) for k in (0, 1))
    if len(partitions) > 1 and last.max() == 1 and all(len(n) > 1 for n in nodes_of_groups):
        yield "two-groups", "only two groups of nodes: a slow link between them cannot be detected"
    if run.size < MIN_RANKS_TO_JUDGE and not slow and missing < total:
        seconds = diagnosis.pairs.seconds
        worst = int(np.argmax(seconds))
        ratio = seconds[worst] / median_of(seconds)
        pair = f"{diagnosis.pairs.i[worst]}-{diagnosis.pairs.j[worst]}"
        stands_out = f"; pair {pair} takes {ratio:.1f}x the median"
        alone = ratio >= OUTLIER_RATIO and len(partitions) == 1
        yield "few-ranks", f"{run.size} ranks are too few{stands_out if alone else ''}"
    if alike:
        names = listed([printable(component.name, 60) for component in alike], MAX_WARNED_NAMES)
        takes = "takes" if len(alike) == 1 else "take up to"
        ratio = max(component.ratio for component in alike)
        text = f"{names} {takes} {ratio:.2f}x as long, but all nodes differ nearly as much"
        yield "nodes-differ", text


def _unseen(run: Run, diagnosis: Diagnosis, threshold: float) -> Iterator[tuple[str, str]]:
    """Yield codes and texts of what the measured pairs do not show."""
    total = run.size * (run.size - 1) // 2
    missing = total - len(diagnosis.pairs.i)
    if missing:
        were = "was" if missing == 1 else "were"
        unseen = f"{missing} of {total} pairs {were} not measured"
        if is_sampled(run):
            pairs = f"a slow pair of nodes is detected with a probability of {diagnosis.met:.0%}"
            ratio = max(diagnosis.node_limit, threshold)
            node = f"a node that adds {ratio:.0%} is detected, " * bool(np.isfinite(ratio))
            yield "sampled", f"{unseen}; {node}{pairs}".replace("%", " %")
        else:
            yield "incomplete-map", unseen
    if diagnosis.sparse:
        yield (
            "few-pairs",
            "too few pairs were measured to detect unrecorded groups: "
            f"about {diagnosis.wanted} more are needed",
        )
    if names := [printable(name, 60) for name in diagnosis.uncertain.values()]:
        several = " and ".join(names) if len(names) == 2 else listed(names, MAX_WARNED_NAMES)
        either = f"{several} are slow, or a link that they share"
        if len(names) == 1:
            either = f"{names[0]} is slow, or a link that it shares"
        yield "shared-way", f"either {either}: not known"
    if diagnosis.alone:
        alone = listed([printable(name, 60) for name in diagnosis.alone], MAX_WARNED_NAMES)
        yield "no-group", f"{alone} are in no group, or behind a switch that is slow inside"


def _no_levels(diagnosis: Diagnosis, moved: float | None) -> str:
    """Say it where nodes are on one level, but at many distances; in bandwidths of bytes moved."""
    outer = diagnosis.outer
    if outer is None or len(outer.fit.chain) > 1 or outer.times.sparse:
        return ""
    if diagnosis.one_node:
        seconds = outer.times.seconds
        wide = mad(np.log(seconds))
        ends = [seconds.min(), seconds.max()]
        low, high = [format_rate(moved / k) if moved else format_seconds(k) for k in ends]
        return (
            ""
            if wide < MIN_SLOWDOWN
            else (
                f"no level hierarchy: {'bandwidths' if moved else 'times'} scatter by {wide:.0%} "
                f"without groups, from {low} to {high}"
            ).replace("%", " %")
        )
    grid = None if quantile(np.abs(outer.off), 0.8) < MIN_SLOWDOWN else grid_of(outer.times)
    return (
        ""
        if grid is None
        else (
            "no level hierarchy: "
            + ("bandwidths fall" if moved else f"times grow by {format_seconds(grid.further)}")
            + f" for each hop, up to {grid.hops} hops, as on a torus or mesh"
        )
    )


def is_sampled(run: Run) -> bool:
    """Whether only a sample of the pairs was to be measured."""
    return bool(run.options.get("sample"))


def medians_of_levels(run: Run, statistic: str, nbytes: int, analysis: Topology) -> list[float]:
    """Return the median round trip of each level at another message size; NaN without a pair."""
    pairs = rank_pairs(run, statistic, nbytes)
    level = analysis.level_of(pairs.i, pairs.j)
    members = (pairs.seconds[level == k] for k in range(len(analysis.levels)))
    return [median_of(values) for values in members]
