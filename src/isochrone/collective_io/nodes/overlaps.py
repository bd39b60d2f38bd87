"""What runs of ranks have for file domains, looked up millions of times."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.collective_io.workload import Ints
from isochrone.collective_io.workload.traffic import Sums

__all__ = ["Overlaps"]

Amounts = NDArray[Any]

MAX_ENTRIES: Final = 10_000_000
"""Larger tables are not made: numbers are searched for then."""


class Overlaps:
    """Amounts of runs of ranks by domain.

    Of each domain only the ranks from the first to the last that have something for it are held.

    Parameters
    ----------
    amounts
        Amounts that the same ranks have for the same domains.
    """

    def __init__(self, *amounts: Sums) -> None:
        self._amounts = amounts
        self.first, self.last = amounts[0].span()
        self._width = self.last - self.first
        self._base = np.cumsum(self._width + 1) - (self._width + 1)
        entries = int((self._width + 1).sum())
        self._tables: list[Amounts] = []
        if entries <= MAX_ENTRIES:
            domain = np.repeat(np.arange(len(self.first)), self._width + 1)
            rank = np.arange(entries) + np.repeat(self.first - self._base, self._width + 1)
            self._tables = [one.before(domain, rank) for one in amounts]

    def between(self, domain: Ints, first: Ints, last: Ints) -> list[Amounts]:
        """Return what the ranks ``first`` … ``last - 1`` have for each domain, by amount."""
        if not self._tables:
            return [one.between(domain, first, last) for one in self._amounts]
        start, width, base = (c.take(domain) for c in (self.first, self._width, self._base))
        low = base + np.minimum(np.maximum(first - start, 0), width)
        high = base + np.minimum(np.maximum(last - start, 0), width)
        return [np.maximum(table.take(high) - table.take(low), 0) for table in self._tables]
