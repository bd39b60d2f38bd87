"""Groups of ranks whose times were measured themselves, beside the formulas fitted to all of them.

A formula describes all groups of a kind; what was measured of one group is nearer to the truth of
that group, and of groups like it. Between two sizes the time is on the line between them, which it
is as long as the library does not change its algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["MeasuredGroup", "find", "like", "merged", "miss_at", "time_at"]

Array = NDArray[np.float64]


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
        The filled nodes that they amount to; 0 where nodes are not known.
    bytes, seconds, low, high
        Blocks in ascending order, and the medians with their 95 % intervals, None where that is
        not known. All have the same length.
    """

    op: str
    group: str
    ranks: int
    stride: int
    nodes: int
    ppn: int
    bytes: list[float]
    seconds: list[float]
    low: list[float | None]
    high: list[float | None]

    @property
    def key(self) -> tuple[str, str, int, int, int, int]:
        """What tells it from other groups."""
        return self.op, self.group, self.ranks, self.stride, self.nodes, self.ppn

    @property
    def sizes(self) -> Array:
        """Blocks as an array."""
        return np.array(self.bytes)


def find(
    known: Sequence[MeasuredGroup], op: str, group: str, ranks: int, stride: int,
    place: tuple[int, int],
) -> MeasuredGroup | None:  # fmt: skip
    """Return the group that was measured: as many ranks, as far apart, on as many nodes.

    ``place`` is nodes and ranks on each; where either side does not know them, they may be any.
    """
    for one in known:
        if (one.op, one.group, one.ranks, one.stride) == (op, group, ranks, stride) and (
            0 in (one.nodes, place[0]) or (one.nodes, one.ppn) == place
        ):
            return one
    return None


def like(
    known: Sequence[MeasuredGroup], op: str, group: str, ranks: int, stride: int
) -> list[MeasuredGroup]:  # fmt: skip
    """Return a group of each number of ranks, in ascending order: that with the nearest stride.

    Libraries have algorithms of their own for powers of two: where ``ranks`` is one, or is none,
    so are the others, if there are two of them.
    """
    found: dict[int, MeasuredGroup] = {}
    for one in known:
        if (one.op, one.group) == (op, group) and one.ranks > 1:
            other = found.get(one.ranks)
            if other is None or _apart(one, stride) < _apart(other, stride):
                found[one.ranks] = one
    same = [p for p in found if _is_power(p) == _is_power(ranks)]
    return [found[p] for p in sorted(same if len(same) > 1 else found)]


def _is_power(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0


def _apart(one: MeasuredGroup, stride: int) -> float:
    return abs(math.log(one.stride / stride))


def time_at(sizes: Array, seconds: ArrayLike, size: float) -> float:
    """Return the time of a size between those measured: on the line between its neighbours."""
    return float(np.interp(size, sizes, np.asarray(seconds)))


def miss_at(sizes: Array, seconds: Array, size: float) -> float:
    """Return how far a time between two sizes may be from the line, as a part of it.

    Each size but the first and the last is held against the line between its neighbours: where the
    algorithm changes, it is off. Taken is the larger one of the two sizes around ``size``, and not
    less than the median of all; 0 of fewer than three sizes.
    """
    missed = {
        k: abs(time_at(np.delete(sizes, k), np.delete(seconds, k), sizes[k]) / seconds[k] - 1)
        for k in range(1, len(sizes) - 1)
    }
    if not missed:
        return 0.0
    above = int(np.searchsorted(sizes, size))
    around = [missed[k] for k in (above - 1, above) if k in missed]
    return float(max([float(np.median(list(missed.values()))), *around]))


def merged(groups: Iterable[MeasuredGroup]) -> list[MeasuredGroup]:
    """Put together what several runs measured of the same group: the geometric mean of a size."""
    found: dict[tuple[str, str, int, int, int, int], list[MeasuredGroup]] = {}
    for one in groups:
        found.setdefault(one.key, []).append(one)
    return [_joined(parts) for parts in found.values()]


def _joined(parts: Sequence[MeasuredGroup]) -> MeasuredGroup:
    if len(parts) == 1:
        return parts[0]
    rows: dict[float, list[tuple[float, float | None, float | None]]] = {}
    for one in parts:
        columns = zip(one.bytes, one.seconds, one.low, one.high, strict=True)
        for size, seconds, low, high in columns:
            rows.setdefault(size, []).append((seconds, low, high))
    sizes = sorted(rows)
    lows = [[row[1] for row in rows[size]] for size in sizes]
    highs = [[row[2] for row in rows[size]] for size in sizes]
    return msgspec.structs.replace(
        parts[0], bytes=sizes,
        seconds=[float(np.exp(np.mean(np.log([row[0] for row in rows[s]])))) for s in sizes],
        low=[None if None in ends else min(end for end in ends if end) for ends in lows],
        high=[None if None in ends else max(end for end in ends if end) for ends in highs],
    )  # fmt: skip
