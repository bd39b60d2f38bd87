"""Arrays divided into equal blocks, one per rank."""

from math import prod
from typing import NamedTuple

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.collective_io.workload import Ints, Runs, expanded


class Axis(Record):
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


class Grid(Record):
    """A file that holds one array in C order (last axis fastest); ranks own blocks in C order.

    Attributes
    ----------
    axes
        From the slowest to the fastest.
    element
        Bytes of an element.
    """

    axes: tuple[Axis, ...]
    element: int = 1

    def __post_init__(self) -> None:
        sizes = [n for axis in self.axes for n in (axis.blocks, axis.length)]
        if min(*sizes, self.element) < 1:
            raise InputError("numbers of blocks, elements and bytes must be at least 1")
        if any(not 0 <= axis.overlap < axis.length for axis in self.axes):
            raise InputError("the overlap must be smaller than a block")
        if self.extent[1] >= 2**62:
            raise InputError("the file exceeds 4 EiB")

    @property
    def ranks(self) -> int:
        """Number of ranks: one a block."""
        return prod(axis.blocks for axis in self.axes)

    @property
    def extent(self) -> tuple[int, int]:
        """First byte of the array, and byte after its last."""
        return 0, self.element * prod(axis.extent for axis in self.axes)

    @property
    def interleaved(self) -> bool:
        """Whether a rank begins before the last byte of the previous rank (ROMIO's test)."""
        units = self.element * np.cumprod([1, *(a.extent for a in reversed(self.axes[1:]))])[::-1]
        coordinates = np.unravel_index(np.arange(self.ranks), [axis.blocks for axis in self.axes])
        step, before_last = np.array([(axis.step, axis.length - 1) for axis in self.axes]).T
        start = (step * units) @ np.array(coordinates)
        last = start + before_last @ units + self.element - 1
        return bool(np.any(start[1:] < last[:-1]))

    def touches(self, starts: Ints, ends: Ints) -> Runs:
        """Ranks that access each window, found axis by axis from the slowest."""
        low, high = np.maximum(starts, 0), np.minimum(ends, self.extent[1])
        window = np.flatnonzero(low < high)
        return _meet(*self._divided(), _Spans(window, low[window], high[window]))

    def touched(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Return the first byte touched in each window, and the one after the last: no gaps."""
        return np.clip(starts, *self.extent), np.clip(ends, *self.extent)

    def _divided(self) -> tuple[tuple[Axis, ...], int]:
        """Return the axes without the fastest ones that are in one block, and their bytes.

        Along those, a block is contiguous in the file.
        """
        axis_count = len(self.axes)
        while axis_count > 1 and self.axes[axis_count - 1].blocks == 1:
            axis_count -= 1
        return self.axes[:axis_count], self.element * prod(a.length for a in self.axes[axis_count:])


class _Spans(NamedTuple):
    """Bytes ``start`` … ``end - 1`` of a (sub-)array, and the window they belong to."""

    window: Ints
    start: Ints
    end: Ints


def _meet(axes: tuple[Axis, ...], element: int, spans: _Spans) -> Runs:
    """Turn bytes of an array into the ranks that own them."""
    if len(axes) == 1:
        return _meet_line(axes[0], element, spans)
    axis, below = axes[0], axes[1:]
    unit = element * prod(a.extent for a in below)
    low, high = axis.block_range(spans.start // unit, (spans.end - 1) // unit)
    pick, block = expanded(low, high - low + 1)
    first, last = block * axis.step * unit, (block * axis.step + axis.length) * unit
    window = spans.window[pick]
    start, end = np.maximum(spans.start[pick], first), np.minimum(spans.end[pick], last)
    # a beginning and an end within a unit, and whole units, which all blocks below take part in
    inside = prod(a.blocks for a in below)
    inner, outer = -(-start // unit) * unit, end // unit * unit
    has_units = outer > inner
    units = (outer - inner)[has_units] // unit
    pieces = prod(a.length for a in below[:-1])
    runs = [
        Runs(
            window[has_units],
            block[has_units] * inside,
            (block[has_units] + 1) * inside,
            units * (pieces * below[-1].length * element),
            units * pieces,
        )
    ]
    for partial, a, b in (
        (start < inner, start, np.minimum(end, inner)),
        ((outer < end) & (outer >= inner), outer, end),
    ):
        key = np.flatnonzero(
            partial
        )  # the position among the blocks travels in place of the window
        if len(key):
            offset = a[key] % unit
            inner_runs = _meet(below, element, _Spans(key, offset, offset + b[key] - a[key]))
            base, of = block[inner_runs.window] * inside, window[inner_runs.window]
            runs.append(Runs(of, base + inner_runs.first, base + inner_runs.last, *inner_runs[3:]))
    return Runs(*(np.concatenate(column) for column in zip(*runs, strict=True)))


def _meet_line(axis: Axis, element: int, spans: _Spans) -> Runs:
    """Turn bytes of a line into the ranks that own them: one piece each."""
    low, high = axis.block_range(spans.start // element, (spans.end - 1) // element)
    distinct = np.minimum(high - low + 1, 2) if not axis.overlap else high - low + 1
    pick, block = expanded(low, distinct)
    if not axis.overlap:  # only the first and the last block can be touched in part
        block = np.where(block > low[pick], high[pick], block)
    start = np.maximum(spans.start[pick], block * axis.step * element)
    end = np.minimum(spans.end[pick], (block * axis.step + axis.length) * element)
    edges = Runs(spans.window[pick], block, block + 1, end - start, np.ones_like(block))
    if axis.overlap:
        return edges
    between = high - low > 1
    window = spans.window[between]
    lengths = np.full(len(window), axis.length * element)
    middle = Runs(window, low[between] + 1, high[between], lengths, np.ones_like(lengths))
    return Runs(*(np.concatenate(pair) for pair in zip(edges, middle, strict=True)))
