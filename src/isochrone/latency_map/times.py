"""The measured pairs of a map, each once: of ranks, or of the nodes that they are on."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Floats, Ints
from isochrone.base.record import Record
from isochrone.base.stats import distinct
from isochrone.latency_map.partitions import Partition

NEAREST = 16
"""Partners of a unit that even a draw of pairs keeps: small groups would be lost in it."""

READABLE = 1 / 3
"""Part of the pairs that groups can be read out of. Of made-up machines of 60 and 150 nodes in
groups of 10, all groups come out with more than half of the pairs, most with 40 %, pieces of them
with less; below 15 % also groups that do not exist, and slow switches to them."""


class Times(Record):
    """The measured pairs of a map of units, each once.

    Attributes
    ----------
    units
        Number of units.
    i, j
        Ends of each pair, ``i < j``.
    seconds
        Round trip of each pair.
    error
        Standard error of each, in log time.
    root
        Groups beyond which nothing was measured; all units in one where everything was.
    freedom
        Degrees of freedom that the errors were estimated with; 0 if that is not known.
    place
        Place of each unit by name, where so few pairs were measured that names are hypotheses.
    """

    units: int
    i: Ints
    j: Ints
    seconds: Floats
    error: Floats
    root: Partition
    freedom: float = 0.0
    place: Ints | None = None

    @property
    def sparse(self) -> bool:
        """Whether so few pairs of a whole map were measured that it does not show its groups."""
        return len(self.i) < READABLE * self.units * (self.units - 1) / 2

    @cached_property
    def _by_unit(self) -> tuple[Ints, Ints]:
        """The pairs ordered by their ends, and where those of each unit begin."""
        ends = np.concatenate([self.i, self.j])
        order = np.argsort(ends, kind="stable")
        return order % max(len(self.i), 1), np.searchsorted(ends[order], np.arange(self.units + 1))

    def of_unit(self, unit: int) -> Ints:
        """Return the pairs of a unit, in their order."""
        order, edges = self._by_unit
        return np.sort(order[edges[unit] : edges[unit + 1]])

    def some(self, most: int) -> Times:
        """Return the nearest partners of each unit and an even draw of the other pairs.

        Itself if it has no more than ``most`` pairs.
        """
        if len(self.i) <= most:
            return self
        ends = np.concatenate([self.i, self.j])
        order = np.lexsort((np.tile(self.seconds, 2), ends))
        place = np.arange(len(order)) - np.searchsorted(ends[order], ends[order])
        near = order[place < NEAREST] % len(self.i)
        drawn = np.random.default_rng(1).permutation(len(self.i))[:most]
        chosen = distinct(np.concatenate([near, drawn]))
        return replace(
            self, i=self.i[chosen], j=self.j[chosen], seconds=self.seconds[chosen],
            error=self.error[chosen],
        )  # fmt: skip
