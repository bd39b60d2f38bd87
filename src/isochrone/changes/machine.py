"""The slots of ranks, and which components of a machine may change together: levels, nodes, ranks.

A machine can be compared with itself under different placements, block before and cyclic after. A
slot is a host plus the local rank index: it has the same number on both sides, for any rank.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from isochrone.base.arrays import Ints
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.changes.components import Group
from isochrone.latency_map.partitions import level_of, numbered, parted
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Rank, Run

Level = tuple[str, Ints]
"""Name of a level, and the group of each place."""

Named = tuple[str, str, Ints]
"""Kind and name of a group, and the numbers of its pairs."""


class Places(Record):
    """The slots that all runs have.

    Attributes
    ----------
    of_rank
        For each run the place of each rank; -1 for one whose place another run lacks.
    hosts
        Host of each place; empty strings where hosts are not recorded. They come from elsewhere.
    names
        Each place for a person: ``3`` where ranks are matched by number, else ``n5:1``.
    rank
        The rank of the first run that is there.
    by_rank
        Whether rank numbers were matched, because they mean the same or nothing else is known.
    note
        A note for the user; empty if there is none.
    """

    of_rank: list[Ints]
    hosts: list[str]
    names: list[str]
    rank: list[int]
    by_rank: bool
    note: str


def places_of(runs: Sequence[Run]) -> Places:
    """Match the ranks of runs that have the same number of them."""
    hosts = [run.hosts for run in runs]
    if not all(all(names) for names in hosts):
        return _by_rank(runs, "the hosts are not recorded: ranks are matched by their numbers")
    if all(names == hosts[0] for names in hosts):
        return _by_rank(runs, "", hosts[0])
    counts = [Counter(names) for names in hosts]
    room = {host: min(count[host] for count in counts) for host in counts[0]}
    if not any(room.values()):
        return _by_rank(runs, "no host is in all runs: ranks are matched by their numbers")
    return _by_host(runs, {host: shared for host, shared in room.items() if shared})


def _by_rank(runs: Sequence[Run], note: str, hosts: list[str] | None = None) -> Places:
    size = runs[0].size
    numbers = list(range(size))
    ranks = [np.arange(size) for _ in runs]
    return Places(ranks, hosts or [""] * size, list(map(str, numbers)), numbers, True, note)


def _by_host(runs: Sequence[Run], room: dict[str, int]) -> Places:
    ordered = [grouped((rank.host, rank) for rank in run.ranks) for run in runs]
    for host in room:
        for ranks_by_host, host_ranks in zip(
            ordered, in_order(*(ranks_by_host[host] for ranks_by_host in ordered)), strict=True
        ):
            ranks_by_host[host] = host_ranks
    ordered_slots = [(host, k) for host, count in room.items() for k in range(count)]
    of_rank = []
    for run, ranks_by_host in zip(runs, ordered, strict=True):
        slot_of_rank = np.full(run.size, -1)
        for slot, (host, k) in enumerate(ordered_slots):
            slot_of_rank[ranks_by_host[host][k].rank] = slot
        of_rank.append(slot_of_rank)
    note = "the ranks are placed differently: they are matched by host and local rank"
    missing = {r.host for run in runs for r in run.ranks} - room.keys()
    if missing or any((slot_of_rank < 0).any() for slot_of_rank in of_rank):
        host_names = ", ".join(printable(host, 40) for host in sorted(missing)[:5])
        note += "; others are skipped" + (f": {host_names}" if host_names else "")
    return Places(
        of_rank,
        [host for host, _ in ordered_slots],
        [f"{host}:{k}" for host, k in ordered_slots],
        [ordered[0][host][k].rank for host, k in ordered_slots],
        False,
        note,
    )


def in_order(*sides: list[Rank]) -> list[list[Rank]]:
    """Return the ranks of one host in several runs in the order of their processors.

    If they do not have their own processors, the same in all runs, the order is that of the ranks.
    """
    by_processor = [sorted(ranks, key=_processor) for ranks in sides]
    processor_lists = [[*map(_processor, ranks)] for ranks in by_processor]
    if len({*processor_lists[0]}) < len(processor_lists[0]) or any(
        processors != processor_lists[0] for processors in processor_lists
    ):
        return [sorted(ranks, key=lambda rank: rank.rank) for ranks in sides]
    return by_processor


def _processor(rank: Rank) -> tuple[int, int, int, int]:
    return rank.package, rank.numa, rank.core, rank.cpu


def machine_parts(first: Run, last: Run, slots: Places, rows: Ints) -> list[list[Group]]:
    """Group pairs by what they share, each kind for each message size.

    Parameters
    ----------
    first, last
        Maps of either side, whose levels are taken: a switch that is as fast as its uplink does
        not show, and may do so later.
    slots
        Of all runs.
    rows
        The pairs: two places and a message size each.

    Returns
    -------
    list of list of Group
        All; levels and switches; nodes; ranks; pairs of nodes.
    """
    sizes = np.unique(rows[:, 2]).tolist()
    all_pairs = (
        [Group("all", f"all {len(rows)} pairs", np.arange(len(rows)))] if len(rows) > 1 else []
    )
    kinds = [all_pairs, [], [], [], []]
    levels, later = _levels(first, slots.of_rank[0]), _levels(last, slots.of_rank[-1])
    for size in sizes:
        of_size = np.flatnonzero(rows[:, 2] == size)
        pairs = _Pairs(rows[of_size, 0], rows[of_size, 1], slots)
        named = size if len(sizes) > 1 else None
        for kind, groups in zip(kinds[1:], pairs.kinds(levels, later), strict=True):
            kind += [
                Group(group_kind, label, of_size[members], named)
                for group_kind, label, members in groups
                if len(members) > (group_kind != "level")
            ]
    return [kind for kind in kinds if kind]


def _levels(run: Run, place_of: Ints) -> list[Level]:
    """Return the levels of a map; ``place_of`` is the place of each of its ranks."""
    rank_at = np.argsort(place_of)[np.sum(place_of < 0) :]
    hierarchy = analyse(run)
    return [
        (level.name, groups[rank_at])
        for level, groups in zip(hierarchy.levels, hierarchy.chain, strict=True)
    ]


class _Pairs:
    """Pairs of one message size: the places of either end, a < b."""

    def __init__(self, a: Ints, b: Ints, slots: Places) -> None:
        self.a, self.b, self.places = a, b, slots
        self.names = list(dict.fromkeys(slots.hosts))
        self.host = numbered(slots.hosts)
        self.one, self.other = self.host[a], self.host[b]
        self.between = self.one != self.other

    def kinds(self, levels: list[Level], later: list[Level]) -> list[list[Named]]:
        """Return groups by kind; a group of one pair is none, but for a level."""
        level = level_of([group for _, group in levels], self.a, self.b)
        large = [
            ("level", f"level {k} ({name})", np.flatnonzero(level == k))
            for k, (name, _) in enumerate(levels)
        ]
        numbers = np.tile(np.arange(len(self.a)), 2)
        ranks = [
            ("rank", f"rank {self.places.names[slot]}", members)
            for slot, members in parted(np.concatenate([self.a, self.b]), numbers)
        ]
        if not all(self.places.hosts):
            return [large, [], ranks, []]
        switches = {
            switch[1]: switch for _, group in (*levels, *later) for switch in self.switches(group)
        }
        return [[*large, *switches.values()], list(self.nodes()), ranks, list(self.node_pairs())]

    def switches(self, group: Ints) -> Iterator[Named]:
        """Yield what passes each switch, leaves it or stays inside, if groups are whole nodes."""
        hosts = {g: np.unique(nodes).tolist() for g, nodes in parted(group, self.host)}
        if sum(map(len, hosts.values())) > len(self.names) or len(hosts) < 2:
            return
        for g, nodes in hosts.items():
            if len(nodes) > 1:
                ends = f"{self.names[nodes[0]]} … {self.names[nodes[-1]]}"
                name = f"switch of {ends} ({len(nodes)} nodes)"
                a_inside, b_inside = group[self.a] == g, group[self.b] == g
                yield "switch", name, np.flatnonzero((a_inside | b_inside) & self.between)
                yield "switch", f"uplink of the {name}", np.flatnonzero(a_inside != b_inside)
                inside = np.flatnonzero(a_inside & b_inside & self.between)
                yield "switch", f"inside of the {name}", inside

    def nodes(self) -> Iterator[Named]:
        """Yield what leaves each node, and what stays inside."""
        for h, name in enumerate(self.names):
            ends = (self.one == h).astype(int) + (self.other == h)
            yield "node", name, np.flatnonzero(ends == 1)
            yield "node", f"inside of {name}", np.flatnonzero(ends == 2)

    def node_pairs(self) -> Iterator[Named]:
        """Yield the pairs between each two nodes."""
        count = len(self.names)
        code = np.minimum(self.one, self.other) * count + np.maximum(self.one, self.other)
        between = np.flatnonzero(self.between)
        for pair_code, members in parted(code[between], between):
            a, b = divmod(pair_code, count)
            yield "pair", f"{self.names[a]} – {self.names[b]}", members
