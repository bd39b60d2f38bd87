"""How often noise is taken for a level of the machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from beds import rates
from isochrone.latency_map.hierarchy import explain
from isochrone.latency_map.pairs import Times
from made_up.latency_maps import (
    MICROSECOND,
    flat,
    noisy,
)

LARGE = [pytest.param(size, marks=pytest.mark.full) for size in (16, 33)]


def find_partitions(
    matrix: np.ndarray, recorded: Sequence[np.ndarray] = (), uncertainty: float = 0.0
) -> list[np.ndarray]:
    """Return the hierarchy of a map of ranks, the closest first, all in one group last."""
    i, j = np.nonzero(np.triu(np.isfinite(matrix), 1))
    error, root = np.full(len(i), uncertainty), np.zeros(len(matrix), dtype=np.int64)
    times = Times(len(matrix), i, j, matrix[i, j] * MICROSECOND, error, root)
    return list(explain(times, recorded).chain)


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 8, *LARGE])
def test_noise_is_not_taken_for_structure(size: int, trials: int) -> None:
    """Under 30 % of noise an unstructured machine shows a level in less than 2 of 100 maps.

    Four ranks are the hardest: one of the three ways to pair them separates in every fifth map.
    """
    maps = (noisy(flat(size), 0.3, seed) for seed in range(trials))
    rates.at_most(sum(len(find_partitions(matrix)) > 1 for matrix in maps), trials, 0.02)


@pytest.mark.parametrize("size", [4, 8, LARGE[0]])
def test_heavy_tailed_noise_is_not_taken_for_structure(size: int, trials: int) -> None:
    """Round trips on an overloaded machine are far from normal."""
    generator = np.random.default_rng(9)
    levels = []
    for _ in range(trials):
        late = np.triu(generator.exponential(2.0, (size, size)), 1)
        levels.append(len(find_partitions(flat(size) + late + late.T)))
    rates.at_most(sum(count > 1 for count in levels), trials, 0.03)
