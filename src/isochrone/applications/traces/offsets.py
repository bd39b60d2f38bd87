"""Partners of ranks as offsets on the most balanced grid of them, the same at all recordings.

Ranks are numbered along the last dimension first, as MPI_Cart_create does, or along the first.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product, starmap
from typing import NamedTuple

import numpy as np

from isochrone.applications.description.grids import Order, coarser
from isochrone.base.arrays import Ints

Vector = tuple[int, ...]
Messages = Sequence[tuple[int, int, float]]

MAX_GRID_DIMENSIONS = 4
"""Of a grid of ranks: three of space, and a fourth in codes of lattice quantum chromodynamics."""


class Grid(NamedTuple):
    """How ranks form the most balanced grid of them."""

    dimensions: int
    periodic: bool
    order: Order

    def members(self, ranks: int, apart: int = 1) -> Ints:
        """Return its ranks whose coordinates are multiples of `apart`, as a grid."""
        return coarser(ranks, self.dimensions, apart, self.order)

    @property
    def numbering(self) -> dict[str, bool]:
        """How its ranks are numbered, as a description writes it."""
        return {"first-fastest": True} if self.order == "F" else {}


_ORDERS: tuple[Order, ...] = ("C", "F")

GRIDS = [*starmap(Grid, product(range(1, MAX_GRID_DIMENSIONS + 1), (False, True), _ORDERS))]
"""All that are tried, those of few dimensions first."""


@dataclass(frozen=True)
class Offsets:
    """Offsets of the partners of all ranks, and the mean size of messages of each recording.

    `uneven` is the largest relative distance of a message from that mean.
    """

    grid: Grid
    sizes: list[dict[Vector, float]]
    uneven: float


def offsets(
    messages: Sequence[Messages],
    ranks: Sequence[int],
    apart: Sequence[int] = (),
    grids: Iterable[Grid] = GRIDS,
) -> Offsets | None:
    """Return the offsets, or None if messages are none that all ranks of a grid send alike.

    Parameters
    ----------
    messages, ranks
        Of each recording; the last one has all offsets.
    apart
        Of each: those ranks send whose coordinates are multiples of that. Empty: all.
    grids
        Those that are tried.
    """
    aparts = apart or [1] * len(ranks)
    for grid in grids:
        members = [grid.members(p, of) for p, of in zip(ranks, aparts, strict=True)]
        mapped = [_by_offset(*pair, grid.periodic) for pair in zip(messages, members, strict=True)]
        sizes = [pair[0] for pair in mapped if pair is not None]
        if len(sizes) < len(mapped):
            continue
        if grid.periodic:
            sizes = [
                {_same_way(offset, of.shape, sizes[-1]): size for offset, size in means.items()}
                for means, of in zip(sizes, members, strict=True)
            ]
        if all(set(means) <= set(sizes[-1]) for means in sizes):
            missing = any(
                offset not in means and _senders(offset, of.shape, grid.periodic)
                for means, of in zip(sizes, members, strict=True)
                for offset in sizes[-1]
            )
            if not missing and any(map(any, sizes[-1])):
                return Offsets(grid, sizes, max(pair[1] for pair in mapped if pair is not None))
    return None


def _by_offset(
    messages: Messages, members: Ints, periodic: bool
) -> tuple[dict[Vector, float], float] | None:
    """Return the mean size of messages by offset, if all ranks that have a neighbour there send.

    And the largest relative distance from that mean.
    """
    sides = members.shape
    coordinates = {int(rank): place for place, rank in np.ndenumerate(members)}
    sent: dict[Vector, list[tuple[int, float]]] = defaultdict(list)
    counts: Counter[tuple[int, int]] = Counter()
    for a, b, size in messages:
        if a not in coordinates or b not in coordinates:
            return None
        ends = zip(coordinates[a], coordinates[b], strict=True)
        steps = [target - source for source, target in ends]
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
        for offset, entries in sent.items()
        for _, size in entries
        if means[offset]
    )
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


def faces(offset: Vector, dimensions: int) -> str:
    """Return what the face of a part of a grid that lies in a direction is a multiple of."""
    along = [f"side(p, {dimensions}, {k})" for k, step in enumerate(offset) if not step]
    return "1/(" + "*".join(along) + ")" if along else "1"
