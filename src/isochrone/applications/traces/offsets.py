"""Partners of ranks as offsets on the most balanced grid of them, the same at all recordings.

Ranks are numbered along the last dimension first, as MPI_Cart_create does, or along the first.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from isochrone.applications.description.grids import balanced

Vector = tuple[int, ...]
Messages = Sequence[tuple[int, int, float]]

Order = Literal["C", "F"]
"""Which dimension the numbers of ranks follow first: the last or the first, as in numpy."""

MAX_GRID_DIMENSIONS = 4
"""Of a grid of ranks: three of space, and a fourth in codes of lattice quantum chromodynamics."""


@dataclass(frozen=True)
class Offsets:
    """Offsets of the partners of all ranks, and the mean size of messages of each recording.

    `uneven` is the largest relative distance of a message from that mean.
    """

    dimensions: int
    periodic: bool
    order: Order
    sizes: list[dict[Vector, float]]
    uneven: float


def offsets(messages: Sequence[Messages], ranks: Sequence[int]) -> Offsets | None:
    """Return the offsets, or None if messages are none that all ranks of a grid send alike."""
    orders: tuple[Order, ...] = ("C", "F")
    grids = product(range(1, MAX_GRID_DIMENSIONS + 1), (False, True), orders)
    for dimensions, periodic, order in grids:
        mapped = [_by_offset(m, p, dimensions, order, periodic)
                 for m, p in zip(messages, ranks, strict=True)]  # fmt: skip
        sizes = [pair[0] for pair in mapped if pair is not None]
        if periodic and sizes:
            sizes = [
                {_same_way(offset, balanced(p, dimensions), sizes[-1]): size
                 for offset, size in means.items()}
                for means, p in zip(sizes, ranks, strict=False)
            ]  # fmt: skip
        if len(sizes) == len(mapped) and all(set(means) <= set(sizes[-1]) for means in sizes):
            missing = any(
                offset not in means and _senders(offset, balanced(p, dimensions), periodic)
                for means, p in zip(sizes, ranks, strict=True) for offset in sizes[-1]
            )  # fmt: skip
            if not missing and any(map(any, sizes[-1])):
                uneven = max(pair[1] for pair in mapped if pair is not None)
                return Offsets(dimensions, periodic, order, sizes, uneven)
    return None


def _by_offset(
    messages: Messages, ranks: int, dimensions: int, order: Order, periodic: bool
) -> tuple[dict[Vector, float], float] | None:
    """Return the mean size of messages by offset, if all ranks that have a neighbour there send.

    And the largest relative distance from that mean.
    """
    sides = balanced(ranks, dimensions)
    sent: dict[Vector, list[tuple[int, float]]] = defaultdict(list)
    counts: Counter[tuple[int, int]] = Counter()
    for a, b, size in messages:
        steps = [int(axis[1] - axis[0]) for axis in np.unravel_index([a, b], sides, order)]
        if periodic:
            steps = _around(steps, sides, counts[a, b])
            counts[a, b] += 1
        if max(map(abs, steps)) > 1:
            return None
        sent[tuple(steps)].append((a, size))
    for offset, entries in sent.items():
        expected = _senders(offset, sides, periodic)
        if len(entries) != expected or len({a for a, _ in entries}) != expected:
            return None
    means = {offset: sum(s for _, s in entries) / len(entries) for offset, entries in sent.items()}
    uneven = (
        abs(size / means[offset] - 1)
        for offset, entries in sent.items() for _, size in entries if means[offset]
    )  # fmt: skip
    return means, max(uneven, default=0.0)


def _same_way(offset: Vector, sides: Sequence[int], present: Collection[Vector]) -> Vector:
    """Return an offset the other way around along sides of two ranks, if only that is known."""
    turned = tuple(-step if side == 2 else step for step, side in zip(offset, sides, strict=True))
    return turned if offset not in present and turned in present else offset


def _around(steps: Sequence[int], sides: Sequence[int], count: int) -> list[int]:
    """Return steps as the shorter way around, after so many messages between the same ranks.

    Along a side of two ranks every second one goes the other way; along two such sides, all ways.
    """
    wrapped = []
    for step, side in zip(steps, sides, strict=True):
        if side == 2 and step:
            step, count = 1 - 2 * (count % 2), count // 2
        elif side > 2:
            step = (step + side // 2) % side - side // 2
        wrapped.append(step)
    return wrapped


def _senders(offset: Vector, sides: Sequence[int], periodic: bool) -> int:
    """Return how many ranks have a neighbour there."""
    steps = list(zip(offset, sides, strict=True))
    if periodic:
        return math.prod(sides) if any(step % side for step, side in steps) else 0
    return math.prod(max(side - abs(step), 0) for step, side in steps)
