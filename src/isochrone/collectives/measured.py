"""Measured times of groups of ranks in collective operations, stored next to formulas.

A formula describes all groups of a kind; a measured time is more accurate for its own and similar
groups (`MeasuredGroup`). Times between two sizes are interpolated linearly, which is valid unless
the library changes its algorithm. Concurrent groups slow each other down (`Disturbance`). A formula
describes the last member to complete. Others may complete earlier: the root of a broadcast, senders
to a root, upper ranks of a tree (`Leaving`).
"""

from collections.abc import Iterable, Sequence
from math import log, log2
from sys import float_info
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import ArrayLike

from isochrone.base.arrays import Floats, Ints
from isochrone.base.stats import median_of
from isochrone.base.table import grouped
from isochrone.models.data.placement import CG
from isochrone.runfile.grid_groups import Place, arranged, place_of

LG = "LG"

TOTAL = "total"
"""Instead of a phase: both phases in one operation, against their sum."""

_Above0 = Annotated[float, Meta(gt=0, le=float_info.max)]
_AtLeast1 = Annotated[int, Meta(ge=1)]

Ends = tuple[float, float, float]
"""A value and its interval."""


def group_place(grid: str, length: int, group: str, node_of: Ints, *, at_once: bool) -> Place:
    """Return the place of the group of rank 0, and the number of groups on a node.

    Parameters
    ----------
    grid, length
        The grid as it is typed, and the ranks of a row.
    group
        ``CG``: a row, or ``LG``: a column.
    node_of
        Node of each rank.
    at_once
        Whether all groups work; otherwise the others are idle.
    """
    row, column = arranged(grid, length, node_of)
    groups = row if group == CG else column
    in_group = groups == groups[0]
    return place_of(
        np.flatnonzero(in_group), groups if at_once else np.where(in_group, 0, -1), node_of
    )


class MeasuredGroup(msgspec.Struct, frozen=True):
    """One operation in a group of ranks, over several sizes.

    Attributes
    ----------
    op
        Operation of the library.
    group
        ``CG``: a row of the grid, or all ranks of a job; ``LG``: a column.
    ranks, stride
        Ranks of the group, and from one to the next in the job: 1 in a row, and in a column the
        length of the rows.
    nodes, ppn
        Number of full nodes and ranks on each; 0 if unknown.
    bytes, seconds, low, high
        Blocks in ascending order, and the medians with their 95 % intervals, None if unknown. All
        have the same length.
    """

    op: str
    group: str
    ranks: _AtLeast1
    stride: _AtLeast1
    nodes: int
    ppn: int
    bytes: Annotated[list[float], Meta(min_length=1)]
    seconds: list[_Above0]
    low: list[float | None]
    high: list[float | None]

    def __post_init__(self) -> None:
        if {len(self.seconds), len(self.low), len(self.high)} != {len(self.bytes)}:
            raise ValueError("not exactly one time for each size")
        if self.bytes[0] < 0 or self.bytes != sorted(set(self.bytes)):
            raise ValueError("sizes that are not in ascending order")

    @property
    def key(self) -> tuple[str, str, int, int, int, int]:
        """Key that identifies the group."""
        return self.op, self.group, self.ranks, self.stride, self.nodes, self.ppn

    @property
    def sizes(self) -> Floats:
        """Blocks as an array."""
        return np.array(self.bytes)


def find(
    groups: Sequence[MeasuredGroup],
    op: str,
    group: str,
    ranks: int,
    stride: int,
    nodes_ppn: tuple[int, int],
) -> MeasuredGroup | None:
    """Return the measured group with the same ranks, stride and nodes.

    ``nodes_ppn`` is nodes and ranks on each; unknown values match any.
    """
    for candidate in groups:
        if (candidate.op, candidate.group, candidate.ranks, candidate.stride) == (
            op,
            group,
            ranks,
            stride,
        ) and (
            0 in (candidate.nodes, nodes_ppn[0]) or (candidate.nodes, candidate.ppn) == nodes_ppn
        ):
            return candidate
    return None


def like(
    groups: Sequence[MeasuredGroup], op: str, group: str, ranks: int, stride: int
) -> list[MeasuredGroup]:
    """Return a group of each number of ranks, in ascending order: that with the nearest stride.

    Libraries have algorithms of their own for powers of two: where ``ranks`` is one, or is none,
    so are the others, if there are two of them.
    """
    by_ranks: dict[int, MeasuredGroup] = {}
    for candidate in groups:
        if (candidate.op, candidate.group) == (op, group) and candidate.ranks > 1:
            closest = by_ranks.get(candidate.ranks)
            if closest is None or _apart(candidate, stride) < _apart(closest, stride):
                by_ranks[candidate.ranks] = candidate
    same = [p for p in by_ranks if _is_power(p) == _is_power(ranks)]
    return [by_ranks[p] for p in sorted(same if len(same) > 1 else by_ranks)]


def _is_power(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0


def _apart(group: MeasuredGroup, stride: int) -> float:
    return abs(log(group.stride / stride))


def time_at(sizes: Floats, seconds: ArrayLike, size: float) -> float:
    """Return the time of a size between those measured: on the line between its neighbours."""
    return float(np.interp(size, sizes, np.asarray(seconds)))


def miss_at(sizes: Floats, seconds: Floats, size: float) -> float:
    """Return the relative interpolation error of a time between two sizes.

    Each inner size is compared with the line between its neighbours: a change of algorithm shows as
    a deviation. The result is the larger deviation of the two sizes around ``size``, at least the
    median of all; 0 for fewer than three sizes.
    """
    missed = {
        k: abs(time_at(np.delete(sizes, k), np.delete(seconds, k), sizes[k]) / seconds[k] - 1)
        for k in range(1, len(sizes) - 1)
    }
    if not missed:
        return 0.0
    above = int(np.searchsorted(sizes, size))
    around = [missed[k] for k in (above - 1, above) if k in missed]
    return float(max([median_of(list(missed.values())), *around]))


def merged(groups: Iterable[MeasuredGroup]) -> list[MeasuredGroup]:
    """Put together what several runs measured of the same group: the geometric mean of a size."""
    return [
        _joined(duplicates)
        for duplicates in grouped((group.key, group) for group in groups).values()
    ]


def _joined(duplicates: Sequence[MeasuredGroup]) -> MeasuredGroup:
    if len(duplicates) == 1:
        return duplicates[0]
    rows = grouped(
        (size, ends)
        for group in duplicates
        for size, *ends in zip(group.bytes, group.seconds, group.low, group.high, strict=True)
    )
    sizes = sorted(rows)
    columns = [list(zip(*rows[size], strict=True)) for size in sizes]
    return msgspec.structs.replace(
        duplicates[0],
        bytes=sizes,
        seconds=[float(np.exp(np.mean(np.log(seconds)))) for seconds, _, _ in columns],
        low=[None if None in ends else min(end for end in ends if end) for _, ends, _ in columns],
        high=[None if None in ends else max(end for end in ends if end) for _, _, ends in columns],
    )


class Disturbance(msgspec.Struct, frozen=True):
    """A phase of a grid collective, measured in one group alone and in all groups at once.

    Attributes
    ----------
    op
        The whole operation.
    phase
        ``LG`` or ``CG``; ``total``: the whole operation against the sum of its phases, which may
        overlap or hinder each other.
    phase_op, phase_ranks, phase_bytes
        Operation of a group, its ranks, and the block of one rank.
    groups
        How many worked at once; of ``total`` the rows.
    sharing
        Most groups with a member on the same node; 0 if unknown, and for ``total``.
    factor, low, high
        All at once / one alone, with its 95 % interval; None if unknown.
    """

    op: str
    phase: str
    phase_op: str
    phase_ranks: _AtLeast1
    phase_bytes: int
    groups: _AtLeast1
    sharing: int
    factor: _Above0
    low: _Above0 | None = None
    high: _Above0 | None = None


def together_of(
    disturbances: Sequence[Disturbance], op: str, rows: int, length: int, size: int
) -> Ends | None:
    """Return the ratio of a whole operation to the sum of its phases; None if not measured.

    Of this grid only: the overlap of phases differs between grids.
    """
    same_grid = [
        disturbance
        for disturbance in disturbances
        if (disturbance.phase_ranks, disturbance.groups) == (length, rows)
    ]
    return factor_of(same_grid, TOTAL, op, length, rows, size, 0)


def factor_of(
    disturbances: Sequence[Disturbance],
    phase: str,
    op: str,
    ranks: int,
    groups: int,
    size: int,
    sharing: int,
) -> Ends | None:
    """Return the factor of a phase with its interval; None if no similar one was measured.

    That is the factor of the same kind of group, the same operation and the same ``sharing``, of
    the nearest numbers of ranks and groups, interpolated between the nearest sizes, all in
    logarithms.
    """
    alike = [
        disturbance
        for disturbance in disturbances
        if (disturbance.phase, disturbance.phase_op, disturbance.sharing) == (phase, op, sharing)
        and disturbance.factor > 0
    ]
    if not alike:
        return None

    def distance(shape: tuple[int, int]) -> tuple[float, tuple[int, int]]:
        return abs(log(shape[0] / ranks)) + abs(log(shape[1] / groups)), shape

    nearest = min(
        {(disturbance.phase_ranks, disturbance.groups) for disturbance in alike}, key=distance
    )
    points = grouped(
        (log2(max(disturbance.phase_bytes, 1)), disturbance)
        for disturbance in alike
        if (disturbance.phase_ranks, disturbance.groups) == nearest
    )
    at = sorted(points)
    x = log2(max(size, 1))
    rows = [
        np.mean([_ends(disturbance) for disturbance in points[log_size]], axis=0) for log_size in at
    ]
    ends = [float(np.interp(x, at, [row[k] for row in rows])) for k in range(3)]
    return ends[0], ends[1], ends[2]


def _ends(comparison: Disturbance) -> Ends:
    low = comparison.factor if comparison.low is None else comparison.low
    high = comparison.factor if comparison.high is None else comparison.high
    return comparison.factor, low, high


class Leaving(msgspec.Struct, frozen=True):
    """One operation of so many ranks and bytes.

    Attributes
    ----------
    op, ranks, bytes
        What was measured; ``bytes`` is the block of one rank.
    parts
        Exit time of each member, counted from the root, as a fraction of the operation's time; of
        more than `MAX_MEMBERS` members, an evenly spaced subset.
    group
        Of grids: ``CG``, a row or all ranks, or ``LG``, a column; empty if not recorded.
    """

    op: str
    ranks: Annotated[int, Meta(ge=2)]
    bytes: int
    parts: Annotated[list[Annotated[float, Meta(ge=0, le=1)]], Meta(min_length=1)]
    group: str = ""

    def of(self, member: int, ranks: int) -> float:
        """Return the part of a member of an operation of so many ranks."""
        return self.parts[min(member * len(self.parts) // ranks, len(self.parts) - 1)]


def nearest(
    leavings: Iterable[Leaving], op: str, ranks: int, size: int, group: str = "CG"
) -> Leaving | None:
    """Return the nearest entry to an operation; None if there is none."""

    def away(leaving: Leaving) -> tuple[float, float]:
        distance = abs(log2(max(leaving.bytes, 1)) - log2(max(size, 1)))
        return abs(log2(leaving.ranks) - log2(max(ranks, 1))), distance

    fitting = (leaving for leaving in leavings if leaving.op == op and leaving.group in ("", group))
    return min(fitting, key=away, default=None)
