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
        top, positions = joint.height, []
        for child in joint.children:
            position = self.add(child)
            positions.append(position)
            self.lines.append(((position, child.height), (position, top), self._owner(child)))
        self.lines.append(((positions[0], top), (positions[-1], top), self._owner(joint)))
        return (positions[0] + positions[-1]) / 2

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
    slow_ratios = [
        (frozenset(component.ranks), {component.level: component.ratio, **dict(component.ratios)})
        for component in slow
        if not component.of.link
    ]
    measured = [(level, m) for level, m in zip(levels, medians, strict=True) if m > 0]
    for level, median in measured:
        owner = {rank: k for k, group in enumerate(level.groups) for rank in group}
        groups = grouped((owner[joint.ranks[0]], joint) for joint in joints)
        joints = [_joined(members, median, level.level, slow_ratios) for members in groups.values()]
    # of several nothing was measured between them
    tree = Tree(hosts, [], [])
    tree.add(_joined(joints, max((m for _, m in measured), default=1e-6), -1, []))
    return tree


def _joined(
    members: Sequence[_Joint],
    median: float,
    level: int,
    slow_ratios: Sequence[tuple[frozenset[int], dict[int, float]]],
) -> _Joint:
    """Join the members of a group at the median of its level, the slow ones of them above."""
    group_ranks = {rank for joint in members for rank in joint.ranks}
    median *= max(
        (of.get(level, 1.0) for ranks, of in slow_ratios if group_ranks <= ranks), default=1.0
    )
    beyond = [(ranks, of.get(level, 1.0)) for ranks, of in slow_ratios if group_ranks - ranks]
    apart = grouped(
        (max([1.0, *(ratio for ranks, ratio in beyond if ranks.issuperset(joint.ranks))]), joint)
        for joint in members
    )
    joined: list[_Joint] = []
    for ratio, peers in sorted(apart.items()):
        joined += peers
        if len(joined) > 1:
            height = max(ratio * median, *(joint.height for joint in joined))
            joined = [_Joint([rank for joint in joined for rank in joint.ranks], height, joined)]
    return joined[0]
