"""How often equal maps are called so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from beds import rates
from isochrone.changes.compare import compare
from isochrone.runfile.run import Run
from made_up.latency_maps import Matrix, block, map_of, noisy, tree

FACTORS = (1.0, 1.06, 0.95, 1.02, 0.97)
"""What launches of a map differ by, as a whole."""


def machine(slow: Sequence[tuple[object, float]] = ()) -> Matrix:
    """Two switches of 3 nodes of 4 ranks; ``slow`` are masks of pairs with their factors."""
    times = tree([4, 3, 2], [1, 4, 12])
    for mask, factor in slow:
        times = np.where(mask, times * factor, times)
    return times


def runs(times: Matrix, hosts: Sequence[str], seed: int, noise: float = 0.05) -> list[Run]:
    return [map_of(noisy(f * times, noise, seed + k), hosts) for k, f in enumerate(FACTORS)]


def parts(before: Sequence[Run], after: Sequence[Run]) -> list[tuple[str, str, int]]:
    found = compare(before, after).parts
    return [(part.kind, part.who, len(part.points)) for part in found]


@pytest.mark.filterwarnings("error")
def test_equal_maps_are_called_so_in_19_of_20_comparisons(trials: int) -> None:
    false = 0
    for seed in range(trials):
        sides = [runs(machine(), block(6, 4), 1000 * seed + k) for k in (0, 500)]
        false += bool(compare(*sides).parts)
    rates.at_most(false, trials, 0.05)
