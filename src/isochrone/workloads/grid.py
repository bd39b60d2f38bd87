"""Arrays cut into equal blocks, one per rank: what most file patterns are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from isochrone.base.errors import InputError
from isochrone.workloads import Ints
from isochrone.workloads.access_pattern import Runs

__all__ = ["Axis", "Grid", "merge"]


@dataclass(frozen=True)
class Axis:
    """One dimension of the array.

    Attributes
    ----------
    blocks
        Number of blocks side by side.
    length
        Elements of a block.
    overlap
        Elements that a block shares with the next one.
    """

    blocks: int
    length: int
    overlap: int = 0

    @property
    def step(self) -> int:
        """Elements from the start of a block to the start of the next one."""
        return self.length - self.overlap

    @property
    def extent(self) -> int:
        """Elements of the whole array."""
        return (self.blocks - 1) * self.step + self.length

    def block_range(self, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Return the first and the last block that hold an index from ``first`` to ``last``."""
        low = -((self.length - 1 - first) // self.step)
        return np.maximum(low, 0), np.minimum(last // self.step, self.blocks - 1)


@dataclass(frozen=True)
class Grid:
    """A file that holds one array in C order (last axis fastest); ranks own blocks in C order.

    Attributes
    ----------
    axes
        From the slowest to the fastest.
    element
        Bytes of an element.
    header
        Bytes before the array.
    """

    axes: tuple[Axis, ...]
    element: int = 1
    header: int = 0

    def __post_init__(self) -> None:
        sizes = [n for axis in self.axes for n in (axis.blocks, axis.length)]
        if min(*sizes, self.element) < 1 or self.header < 0:
            raise InputError("an array without blocks, elements or bytes", hint="give sizes from 1")
        if any(not 0 <= axis.overlap < axis.length for axis in self.axes):
            raise InputError("blocks overlap as much as they are long", hint="overlap less")
        if self.extent[1] >= 2**62:
            raise InputError("a file beyond 4 EiB")

    @property
    def ranks(self) -> int:
        """Number of ranks: one a block."""
        return math.prod(axis.blocks for axis in self.axes)

    @property
    def extent(self) -> tuple[int, int]:
        """First byte of the array, and byte after its last."""
        size = self.element * math.prod(axis.extent for axis in self.axes)
        return self.header, self.header + size

    @property
    def interleaved(self) -> bool:
        """Whether a rank begins before the last byte of the rank before it, as ROMIO asks."""
        units = self.element * np.cumprod([1, *(a.extent for a in reversed(self.axes[1:]))])[::-1]
        place = np.unravel_index(np.arange(self.ranks), [axis.blocks for axis in self.axes])
        moves = zip(place, self.axes, units, strict=True)
        start = np.zeros(self.ranks, np.int64)
        for k, axis, unit in moves:
            start += k * (axis.step * int(unit))
        lengths = [(axis.length - 1) * int(u) for axis, u in zip(self.axes, units, strict=True)]
        end = start + sum(lengths) + self.element - 1
        return bool(np.any(start[1:] < end[:-1]))

    def touches(self, starts: Ints, ends: Ints) -> Runs:
        """Say which ranks touch each window, by following the axes from the slowest."""
        low = np.maximum(starts, self.extent[0]) - self.header
        high = np.minimum(ends, self.extent[1]) - self.header
        window = np.flatnonzero(low < high)
        return merge(self._meet(0, Runs(window, low[window], high[window])))

    def _meet(self, depth: int, bytes_: Runs) -> Runs:
        """Turn byte ranges of the sub-array of axes ``depth`` … into ranges of its blocks."""
        axis = self.axes[depth]
        below = self.axes[depth + 1 :]
        unit = self.element * math.prod(a.extent for a in below)
        window, start, end = bytes_
        low, high = axis.block_range(start // unit, (end - 1) // unit)
        if not below:
            return Runs(window, low, high + 1)
        each = high - low + 1
        pick = np.repeat(np.arange(len(window)), each)
        block = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each) + low[pick]
        start = np.maximum(start[pick], block * axis.step * unit)
        end = np.minimum(end[pick], (block * axis.step + axis.length) * unit)
        window = window[pick]
        inside = math.prod(a.blocks for a in below)
        whole = end - start >= unit
        parts = [Runs(window[whole], block[whole] * inside, (block[whole] + 1) * inside)]
        offset = start % unit
        wraps = ~whole & (offset + (end - start) > unit)
        for chosen, a, b in (
            (~whole, offset, np.minimum(offset + (end - start), unit)),
            (wraps, np.zeros_like(offset), offset + (end - start) - unit),
        ):
            if chosen.any():  # the position among the blocks travels in the place of the window
                key = np.flatnonzero(chosen)
                found = self._meet(depth + 1, Runs(key, a[chosen], b[chosen]))
                base = block[found.window] * inside
                parts.append(Runs(window[found.window], base + found.first, base + found.last))
        return Runs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def merge(runs: Runs) -> Runs:
    """Join runs of the same window that touch or overlap."""
    if not len(runs.window):
        return runs
    order = np.lexsort((runs.first, runs.window))
    window, first, last = (column[order] for column in runs)
    span = int(last.max()) + 2  # windows are set apart, so that one running maximum serves all
    reach = np.maximum.accumulate(window * span + last)
    starts = np.ones(len(window), bool)
    starts[1:] = window[1:] * span + first[1:] > reach[:-1]
    head = np.flatnonzero(starts)
    tail = np.append(head[1:], len(window)) - 1
    return Runs(window[head], first[head], reach[tail] - window[head] * span)
