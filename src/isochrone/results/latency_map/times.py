"""The measured pairs of a map, each once: of ranks, or of the nodes that they are on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from isochrone.results.latency_map.partitions import Partition

__all__ = ["Times"]

Vector = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Times:
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
    roof
        Groups beyond which nothing was measured; all units in one where everything was.
    """

    units: int
    i: Index
    j: Index
    seconds: Vector
    error: Vector
    roof: Partition

    def some(self, most: int) -> Times:
        """Return at most so many of the pairs, drawn evenly; itself if it has no more."""
        if len(self.i) <= most:
            return self
        chosen = np.sort(np.random.default_rng(1).permutation(len(self.i))[:most])
        return replace(
            self, i=self.i[chosen], j=self.j[chosen], seconds=self.seconds[chosen],
            error=self.error[chosen],
        )  # fmt: skip
