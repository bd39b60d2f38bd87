"""A map as a tree: ranks meet at the time of their level, slow parts above it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from isochrone.base.table import grouped
from isochrone.latency_map.slow_part import Slow
from isochrone.latency_map.topology import Level

Point = tuple[float, float]


class _Joint(NamedTuple):
    """Where ranks meet: these, from left to right, the time, and what is joined; or one rank."""

    ranks: list[int]
    height: float = 0.0
    children: Sequence["_Joint"] = ()


@dataclass
class Tree:
    """A tree, ready to draw.

    Attributes
    ----------
    hosts
        Host name of each rank.
    order
        The ranks from left to right.
    lines
        From where a branch begins up to where it joins others, and from the first to the last of
        these: two points (position, seconds), and the host on which the whole branch lies, if any.
    """

    hosts: Sequence[str]
    order: list[int]
    lines: list[tuple[Point, Point, str | None]]

    def add(self, joint: _Joint) -> float:
        """Draw what is below a joint, its first rank where the last one ended; return its place."""
        if not joint.children:
            self.order += joint.ranks
            return len(self.order) - 1
        top, places = joint.height, []
        for child in joint.children:
            place = self.add(child)
            places.append(place)
            self.lines.append(((place, child.height), (place, top), self._owner(child)))
        self.lines.append(((places[0], top), (places[-1], top), self._owner(joint)))
        return (places[0] + places[-1]) / 2

    def _owner(self, joint: _Joint) -> str | None:
        names = {self.hosts[rank] for rank in joint.ranks}
        return names.pop() if len(names) == 1 else None


def tree_of_levels(
    levels: Sequence[Level], medians: Sequence[float], slow: Sequence[Slow], hosts: Sequence[str]
) -> Tree:
    """Join the groups of each level at its median, and what is slow where its times are.

    Parameters
    ----------
    levels
        The levels of a map, the closest first.
    medians
        Seconds of each; NaN where nothing was measured on it.
    slow
        What is slower than its level, with the ratio on each level.
    hosts
        Host name of each rank.
    """
    joints = [_Joint([rank]) for rank in range(len(hosts))]
    parts = [
        (frozenset(part.ranks), {part.level: part.ratio, **dict(part.ratios)})
        for part in slow
        if not part.of.link
    ]
    known = [(level, m) for level, m in zip(levels, medians, strict=True) if m > 0]
    for level, median in known:
        owner = {rank: k for k, group in enumerate(level.groups) for rank in group}
        groups = grouped((owner[one.ranks[0]], one) for one in joints)
        joints = [_joined(members, median, level.level, parts) for members in groups.values()]
    # of several nothing was measured between them
    tree = Tree(hosts, [], [])
    tree.add(_joined(joints, max((m for _, m in known), default=1e-6), -1, []))
    return tree


def _joined(
    members: Sequence[_Joint], median: float, level: int,
    parts: Sequence[tuple[frozenset[int], dict[int, float]]],
) -> _Joint:  # fmt: skip
    """Join the members of a group at the median of its level, the slow ones of them above."""
    whole = {rank for one in members for rank in one.ranks}
    median *= max((of.get(level, 1.0) for who, of in parts if whole <= who), default=1.0)
    beyond = [(who, of.get(level, 1.0)) for who, of in parts if whole - who]
    apart = grouped(
        (max([1.0, *(ratio for who, ratio in beyond if who.issuperset(one.ranks))]), one)
        for one in members
    )
    joined: list[_Joint] = []
    for ratio, own in sorted(apart.items()):
        joined += own
        if len(joined) > 1:
            height = max(ratio * median, *(one.height for one in joined))
            joined = [_Joint([rank for one in joined for rank in one.ranks], height, joined)]
    return joined[0]
