"""Whether nodes are slow, or only behind a slow way that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.text import listed, printable
from isochrone.latency_map.units import RankPairs

__all__ = ["ALONE", "not_known", "undecided"]

ALONE: Final = 2
"""Slow nodes that have nothing in common but that, where too few pairs were measured to see groups.
"""

SEEN: Final = 3
"""Pairs among slow nodes that speak for those of them that have none."""

MOSTLY: Final = 0.7
"""Part of the pairs among slow nodes that must be as slow as they are."""

NAMED: Final = 8
"""Names in a warning."""


def undecided(
    units: Sequence[NDArray[np.int64]],
    pairs: RankPairs,
    expected: NDArray[np.float64],
    healthy: NDArray[np.float64],
) -> list[bool]:
    """Say of each slow unit whether it may only be behind a slow way that it shares with others.

    Where groups are not seen, each node behind a slow way to all others looks slow. Those behind
    one way are fast among themselves, which nodes that are slow themselves are not.

    Parameters
    ----------
    units
        Ranks of what seems to be slow by itself: nodes, or single ranks.
    pairs
        The measured pairs.
    expected, healthy
        Seconds of each pair if all units are slow, and if none is.
    """
    unit = np.full(pairs.ranks, -1)
    for number, ranks in enumerate(units):
        unit[ranks] = number
    one, other = unit[pairs.i], unit[pairs.j]
    both = (one >= 0) & (other >= 0) & (one != other)
    slow = pairs.seconds**2 > expected * healthy
    among = [slow[both & ((one == number) | (other == number))] for number in range(len(units))]
    others = slow[both] if both.sum() >= SEEN else np.zeros(1, dtype=bool)
    return [float(np.mean(own if len(own) else others)) <= MOSTLY for own in among]


def not_known(undecided: Sequence[str]) -> str:
    """Warn of what is undecided, by its names."""
    names = listed([printable(name, 60) for name in undecided], NAMED)
    return f"whether {names} are slow, or a way that they share, is not known"
