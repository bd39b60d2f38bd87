"""What cannot be told where too few pairs were measured to see groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.text import listed, printable
from isochrone.results.latency_map.units import RankPairs

__all__ = ["few_pairs", "undecided"]

ALONE: Final = 2
"""Slow nodes that are taken to have nothing in common but that, whatever groups there are."""

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

    Where groups cannot be seen, each node behind a slow way to all others looks slow. Those behind
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
    if len(units) <= ALONE:
        return [False] * len(units)
    unit = np.full(pairs.ranks, -1)
    for number, ranks in enumerate(units):
        unit[ranks] = number
    one, other = unit[pairs.i], unit[pairs.j]
    both = (one >= 0) & (other >= 0) & (one != other)
    slow = pairs.seconds**2 > expected * healthy
    among = [slow[both & ((one == number) | (other == number))] for number in range(len(units))]
    others = slow[both] if both.sum() >= SEEN else np.zeros(1, dtype=bool)
    return [float(np.mean(own if len(own) else others)) <= MOSTLY for own in among]


def few_pairs(untold: Sequence[str]) -> str:
    """Warn of a map of few pairs; ``untold`` are the names of what is undecided."""
    text = "too few pairs were measured to see groups that the machine did not tell"
    if not untold:
        return text
    names = listed([printable(name, 60) for name in untold], NAMED)
    return f"{text}: whether {names} are slow, or a way that they share, is not known"
