"""Hierarchy of the machine as a tree: the height where two ranks meet is their round trip.

Ranks meet at the median of the level that the analysis found, which a dashed line continues, and
what is slow above it, where its own times are. Branches that stay on one host have its colour; red
is what is slow, and a hollow mark what is possibly slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.latency_map.figures._slow_parts import named
from isochrone.latency_map.map_to_draw import as_drawn
from isochrone.latency_map.slow_part import Slow
from isochrone.latency_map.topology import Level, medians_of_levels
from isochrone.pages.words import plural
from isochrone.runfile.run import Run
from isochrone.views.head import head_height, map_facts, map_title, write_head
from isochrone.views.style import (
    CAPTION,
    FAINT,
    INK,
    LABEL,
    SLOW,
    Rates,
    Segment,
    Unit,
    axes_at,
    check,
    host_colours,
    host_segments,
    host_strip,
    new_figure,
    plain_axes,
    rate_ticks,
    short_names,
    text_width,
    time_ticks,
    time_unit,
)
from isochrone.views.view import Axes, Figure, Options, View

_MAX_LEAVES = 64  # ranks that are named one by one; of more, the hosts are named
_LABEL_LINE = 0.155  # inches that one line of labels needs
_LEFT, _RIGHT, _GAP = 0.85, 2.05, 0.12  # inches left and right of the tree, and below the head
_MARKS = ("▲", "△")  # of what is slow, and what is possibly slow
_WORDS = {
    "core": "same core",
    "l2": "same L2 cache",
    "l3": "same L3 cache",
    "numa": "same NUMA domain",
    "package": "same package",
    "node": "same node",
    "network": "between nodes",
}
_VECTOR_UP_TO = 2048  # ranks; more branches would make an SVG no browser likes


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the hierarchy of one message size of one run."""
    statistic, nbytes = options.what, options.size
    check(statistic, runs[0].pair_quantity)
    drawn = as_drawn(runs[0], options)
    run, analysis = drawn.run, drawn.found
    missing = run.size * (run.size - 1) // 2 - int(np.triu(np.isfinite(drawn.matrix), 1).sum())
    medians = [level.median for level in analysis.levels]
    if statistic != run.statistic():  # the analysis is of this one
        medians = medians_of_levels(run, statistic, analysis.nbytes, analysis)
    tree = tree_of_levels(analysis.levels, medians, analysis.slow, run.hosts)
    slow, suspected = (
        {
            r
            for component in analysis.slow
            if not component.of.link and component.retested == seen
            for r in component.ranks
        }
        for seen in (True, False)
    )

    wide = 6.2 if run.size <= 16 else 8.6
    ends = _ends(tree, run.hosts, wide)
    deep = max((text_width(text, LABEL) for _, text, _ in ends.labels), default=0)
    below = 0.5 + (_LABEL_LINE if ends.flat else deep)
    width, tall = _LEFT + wide + _RIGHT, 4.2
    notes = [*drawn.notes, *[f"{missing} pairs not measured"] * bool(missing)]
    lines = map_facts(runs[0], statistic, nbytes, notes, width - _LEFT - 0.1)
    lines += named(analysis.slow, short_names(run.hosts), width - _LEFT - 0.1, _MARKS)
    height = head_height(len(lines)) + _GAP + tall + below
    figure = new_figure(width, height, dpi=160)
    axes = axes_at(figure, _LEFT, below, wide, tall)
    heights = np.array([top for _, (_, top), _ in tree.lines])
    unit = time_unit(heights)
    _draw_tree(axes, tree, heights / unit.factor, unit)
    axes.set_xticks([])
    low, high = axes.get_ylim()
    quantity = "standard deviation" if statistic == "stddev" else f"{statistic} {run.pair_quantity}"
    if run.bandwidth:
        rates = Rates.of(analysis.nbytes, heights)
        rate_ticks(axes.yaxis, unit, rates)
        plain_axes(axes, "", f"bandwidth in {rates.name}, logarithmic", frame=("left",))
    else:
        time_ticks(axes.yaxis, 6, wide=high > 6 * low)
        plain_axes(axes, "", f"{quantity} in {unit.name}, logarithmic", frame=("left",))
    _draw_levels(axes, list(zip(analysis.levels, medians, strict=True)), unit, tall)
    _draw_ends(axes, tree, run.hosts, ends, slow, tall)
    _draw_marks(axes, tree, suspected - slow, tall, hollow=True)
    write_head(figure, _LEFT / width, map_title(run, statistic, "Levels: "), lines)
    return figure


class _Ends(Record):
    """Names below the tree: (position, text, rank or host), and whether they stand flat."""

    labels: list[tuple[float, str, int | str]]
    segments: list[Segment]
    flat: bool


def _ends(tree: Tree, hosts: Sequence[str], wide: float) -> _Ends:
    """Choose the names below the tree so that none touches another."""
    n = len(tree.order)
    names = short_names(hosts)
    segments = host_segments([hosts[rank] for rank in tree.order])
    if n <= _MAX_LEAVES:
        labels: list[tuple[float, str, int | str]] = [
            (k, f"{names[hosts[rank]]}:{rank}".removeprefix(":"), rank)
            for k, rank in enumerate(tree.order)
        ]
        flat = max(text_width(text, LABEL) for _, text, _ in labels) < 0.9 * wide / n
        return _Ends(labels, segments, flat)
    apart, labels = _LABEL_LINE * n / wide, []
    # The widest segments first: if hosts are split, the name belongs to the larger part.
    for segment in sorted(segments, key=lambda s: (-s.width, s.first)):
        if names[segment.host] and all(abs(segment.centre - at) >= apart for at, _, _ in labels):
            labels.append((segment.centre, names[segment.host], segment.host))
    return _Ends(labels, segments, flat=False)


def _draw_tree(axes: Axes, tree: Tree, heights: Floats, unit: Unit) -> None:
    from matplotlib.collections import LineCollection

    n = len(tree.order)
    low, high = (float(heights.min()), float(heights.max())) if len(heights) else (1.0, 1.0)
    # At least a factor of two, so that noise does not look like a hierarchy.
    middle, half = (low * high) ** 0.5, max(1.16 * (high / low) ** 0.63, 1.45)
    floor, ceiling = middle / half, middle * half
    colours = host_colours(tree.hosts) if len(set(tree.hosts)) > 1 else {}
    lines = [[(x, max(y / unit.factor, floor)) for x, y in ends] for *ends, _ in tree.lines]
    inks = [colours.get(owner or "", INK) for _, _, owner in tree.lines]
    thick = 1.8 if n <= 32 else 1.2 if n <= 128 else 0.7
    drawn = LineCollection(lines, colors=inks, linewidths=thick, capstyle="projecting")
    drawn.set_rasterized(n > _VECTOR_UP_TO)
    axes.add_collection(drawn)
    axes.set(xlim=(-0.7, n - 0.3), yscale="log", ylim=(floor, ceiling))


def _draw_levels(
    axes: Axes, levels: Sequence[tuple[Level, float]], unit: Unit, tall: float
) -> None:
    """Draw each level as a dashed line, with its name at the right, moved apart if need be."""
    low, high = np.log(axes.get_ylim())
    measured = [(level, median) for level, median in levels if median > 0]
    wished = [(np.log(median / unit.factor) - low) / (high - low) for _, median in measured]
    apart = 2.35 * _LABEL_LINE / tall
    positions: list[float] = []
    for at in wished:
        positions.append(max(at, positions[-1] + apart) if positions else at)
    for (level, median), at, position in zip(measured, wished, positions, strict=True):
        if not 0 <= at <= 1.02:
            continue
        axes.plot(
            [0, 1, 1.025],
            [at, at, position],
            transform=axes.transAxes,
            color=FAINT,
            linewidth=0.8,
            dashes=(4, 3),
            clip_on=False,
            zorder=0.5,
        )
        groups = len(level.groups)
        description = _WORDS.get(level.name, f"{groups} groups" if groups > 1 else "all ranks")
        for text, drop, size, ink in (
            (f"level {level.level} {level.name}: {level.in_words(median)}", 0.02, LABEL, INK),
            (f"{description}, {plural(level.pairs, 'pair')}", -_LABEL_LINE, CAPTION, FAINT),
        ):
            axes.text(
                1.035,
                position + drop / tall,
                text,
                transform=axes.transAxes,
                size=size,
                color=ink,
                va="bottom" if size == LABEL else "baseline",
                parse_math=False,
            )


def _draw_ends(
    axes: Axes, tree: Tree, hosts: Sequence[str], ends: _Ends, slow: set[int], tall: float
) -> None:
    """Draw the strip of host colours below the tree, the names, and a red mark at slow ranks."""
    below = axes.get_xaxis_transform()  # positions across, parts of the height down
    top, foot = -0.17 / tall, -0.27 / tall
    host_strip(axes, ends.segments, host_colours(hosts), top, foot, transform=below)
    for position, text, key in ends.labels:
        ranks = {key} if isinstance(key, int) else {k for k, h in enumerate(hosts) if h == key}
        marked = ranks <= slow
        axes.text(
            position,
            foot - 0.07 / tall,
            text,
            transform=below,
            size=LABEL,
            rotation=0 if ends.flat else 90,
            ha="center",
            va="top",
            color=SLOW if marked else INK,
            parse_math=False,
        )
    _draw_marks(axes, tree, slow, tall)


def _draw_marks(
    axes: Axes, tree: Tree, ranks: set[int], tall: float, *, hollow: bool = False
) -> None:
    """Mark ranks below the tree."""
    marks = [k for k, rank in enumerate(tree.order) if rank in ranks]
    size = 5 if len(tree.order) <= 128 else 3
    axes.plot(
        marks,
        [-0.08 / tall] * len(marks),
        "^",
        transform=axes.get_xaxis_transform(),
        markerfacecolor="none" if hollow else SLOW,
        markeredgecolor=INK if hollow else SLOW,
        markersize=size,
        markeredgewidth=0.6 if hollow else 0,
        clip_on=False,
    )


# --- the tree -------------------------------------------------------------------------------------

Point = tuple[float, float]


class _Joint(NamedTuple):
    """Where ranks meet: these, from left to right, the time, and what is joined; or one rank."""

    ranks: list[int]
    height: float = 0.0
    children: Sequence[_Joint] = ()


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


VIEW = View(draw, kinds=("latency-map",))
