"""Parts of a machine whose pairs may change together: levels, switches, nodes, ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.changes.parts import Group
from isochrone.changes.places import Places
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Run

__all__ = ["machine_parts"]

Ints = NDArray[np.int64]

Level = tuple[str, Ints]
"""Name of a level, and the group of each place."""

Named = tuple[str, str, Ints]
"""Kind and name of a group, and the numbers of its pairs."""


def machine_parts(first: Run, last: Run, places: Places, rows: Ints) -> list[list[Group]]:
    """Group pairs by what they share, each kind for each message size.

    Parameters
    ----------
    first, last
        Maps of either side, whose levels are taken: a switch that is as fast as its uplink does
        not show, and may do so later.
    places
        Of all runs.
    rows
        The pairs: two places and a message size each.

    Returns
    -------
    list of list of Group
        All; levels and switches; nodes; ranks; pairs of nodes.
    """
    sizes = np.unique(rows[:, 2]).tolist()
    whole = [Group("all", f"all {len(rows)} pairs", np.arange(len(rows)))] if len(rows) > 1 else []
    found: list[list[Group]] = [whole, [], [], [], []]
    levels, later = _levels(first, places.of_rank[0]), _levels(last, places.of_rank[-1])
    for size in sizes:
        of_size = np.flatnonzero(rows[:, 2] == size)
        pairs = _Pairs(rows[of_size, 0], rows[of_size, 1], places)
        named = size if len(sizes) > 1 else None
        for kind, groups in zip(found[1:], pairs.kinds(levels, later), strict=True):
            kind += [Group(name, who, of_size[own], named) for name, who, own in groups]
    return [kind for kind in found if kind]


def _levels(run: Run, place_of: Ints) -> list[Level]:
    """Return the levels of a map; ``place_of`` is the place of each of its ranks."""
    places = int(place_of.max()) + 1
    found = []
    for level in analyse(run).levels:
        group = np.arange(places) + len(level.groups)
        for g, ranks in enumerate(level.groups):
            seats = place_of[ranks]
            group[seats[seats >= 0]] = g
        found.append((level.name, group))
    return found


@dataclass(frozen=True)
class _Pairs:
    """Pairs of one message size: the places of either end, a < b."""

    a: Ints
    b: Ints
    places: Places

    def kinds(self, levels: list[Level], later: list[Level]) -> list[list[Named]]:
        """Return groups by kind; a group of one pair is none, but for a level."""
        switches: dict[str, Named] = {}
        nodes: list[Named] = []
        node_pairs: list[Named] = []
        if all(self.places.hosts):
            names = list(dict.fromkeys(self.places.hosts))
            host = np.array([names.index(name) for name in self.places.hosts])
            for _, group in (*levels, *later):
                switches |= {one[1]: one for one in self.switches(group, host, names)}
            nodes = list(self.nodes(host, names))
            node_pairs = list(self.node_pairs(host, names))
        of_levels = [one for one in self.levels(levels) if len(one[2])]
        large = [*of_levels, *_of_several(switches.values())]
        return [large, *map(_of_several, (nodes, self.ranks(), node_pairs))]

    def levels(self, levels: list[Level]) -> Iterator[Named]:
        """Yield the pairs that meet on each level, and on none before it."""
        level = np.full(len(self.a), -1)
        for k, (_, group) in reversed(list(enumerate(levels))):
            level[group[self.a] == group[self.b]] = k
        for k, (name, _) in enumerate(levels):
            yield "level", f"level {k} ({name})", np.flatnonzero(level == k)

    def switches(self, group: Ints, host: Ints, names: list[str]) -> Iterator[Named]:
        """Yield what passes each switch, leaves it or stays inside, if groups are whole nodes."""
        hosts = {g: np.unique(host[group == g]).tolist() for g in np.unique(group).tolist()}
        if sum(map(len, hosts.values())) > len(names) or len(hosts) < 2:
            return
        between = host[self.a] != host[self.b]
        for g, own in hosts.items():
            if len(own) > 1:
                name = f"switch of {names[own[0]]} … {names[own[-1]]} ({len(own)} nodes)"
                one, other = group[self.a] == g, group[self.b] == g
                yield "switch", name, np.flatnonzero((one | other) & between)
                yield "switch", f"uplink of the {name}", np.flatnonzero(one != other)
                yield "switch", f"inside of the {name}", np.flatnonzero(one & other & between)

    def nodes(self, host: Ints, names: list[str]) -> Iterator[Named]:
        """Yield what leaves each node, and what stays inside."""
        for h, name in enumerate(names):
            one, other = host[self.a] == h, host[self.b] == h
            yield "node", name, np.flatnonzero(one != other)
            yield "node", f"inside of {name}", np.flatnonzero(one & other)

    def ranks(self) -> Iterator[Named]:
        """Yield the pairs of each place."""
        numbers = np.tile(np.arange(len(self.a)), 2)
        for seat, own in _parted(np.concatenate([self.a, self.b]), numbers):
            yield "rank", f"rank {self.places.names[seat]}", own

    def node_pairs(self, host: Ints, names: list[str]) -> Iterator[Named]:
        """Yield the pairs between each two nodes."""
        one, other = host[self.a], host[self.b]
        code = np.minimum(one, other) * len(names) + np.maximum(one, other)
        between = np.flatnonzero(one != other)
        for number, own in _parted(code[between], between):
            yield "pair", f"{names[number // len(names)]} – {names[number % len(names)]}", own


def _parted(code: Ints, numbers: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each code with the numbers that have it."""
    order = np.argsort(code, kind="stable")
    codes, first = np.unique(code[order], return_index=True)
    parts = np.split(numbers[order], first[1:]) if len(codes) else []
    return zip(codes.tolist(), parts, strict=True)


def _of_several(groups: Iterable[Named]) -> list[Named]:
    return [one for one in groups if len(one[2]) > 1]
