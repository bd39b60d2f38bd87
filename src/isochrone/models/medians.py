"""Medians of many groups at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["medians_by"]

Array = NDArray[np.float64]


def medians_by(values: Array, group: NDArray[np.int64]) -> Array:
    """Return the median of each group, shape (groups,): all are sorted at once.

    Groups are numbered from 0, and none is empty.
    """
    counts = np.bincount(group)
    ordered = values[np.lexsort((values, group))]
    start = np.cumsum(counts) - counts
    return np.asarray((ordered[start + (counts - 1) // 2] + ordered[start + counts // 2]) / 2)
