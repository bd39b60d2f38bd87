"""The additive fit tells what belongs to an end from what belongs to a link."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.results.latency_map.costs import fit_costs
from made_up.latency_maps import flat, leaving, noisy, tree


def on_one_level(times: np.ndarray) -> np.ndarray:
    return np.zeros(times.shape, dtype=np.int8)


def test_a_slow_end_gets_the_cost_and_nobody_else() -> None:
    times = flat(8)
    times += 2 * leaving(np.arange(8) == 5)
    fit = fit_costs(times, on_one_level(times), 1)
    assert fit.base[0] == pytest.approx(3)
    assert fit.cost == pytest.approx([0, 0, 0, 0, 0, 2, 0, 0], abs=0.01)


def test_a_slow_link_costs_its_ends_nothing() -> None:
    times = flat(8)
    times[2, 6] = times[6, 2] = 9
    fit = fit_costs(times, on_one_level(times), 1)
    assert fit.cost == pytest.approx(np.zeros(8), abs=0.01)
    assert fit.expected[2, 6] == pytest.approx(3, rel=0.01)


def test_where_the_pairs_leave_it_open_the_fewest_costs_are_taken() -> None:
    """One slow link among four ends: two slow ends and two fast ones would explain it as well."""
    times = flat(4)
    times[0, 1] = times[1, 0] = 6
    fit = fit_costs(times, on_one_level(times), 1)
    assert fit.cost == pytest.approx(np.zeros(4), abs=0.05)


def test_levels_are_fitted_along_with_the_costs() -> None:
    times = tree([4, 4], [1, 3]) + 2 * leaving(np.arange(16) == 0)
    level = (np.arange(16)[:, None] // 4 != np.arange(16) // 4).astype(np.int8)
    fit = fit_costs(times, level, 2)
    assert fit.base == pytest.approx([1, 3], rel=0.01)
    assert fit.cost[0] == pytest.approx(2, rel=0.01)


def test_the_spread_is_that_of_the_noise() -> None:
    times = noisy(flat(32), 0.1, seed=3)
    assert fit_costs(times, on_one_level(times), 1).spread == pytest.approx(0.1, rel=0.15)


def test_pairs_that_are_not_to_be_used_change_nothing() -> None:
    times = flat(8) + 2 * leaving(np.arange(8) == 5)
    times[1, 2] = times[2, 1] = np.nan
    fit = fit_costs(times, on_one_level(times), 1)
    assert fit.cost[5] == pytest.approx(2, rel=0.01)


def test_without_pairs_there_is_nothing_to_know() -> None:
    fit = fit_costs(np.full((3, 3), np.nan), np.zeros((3, 3), dtype=np.int8), 1)
    assert np.isnan(fit.base).all()
    assert fit.spread == np.inf
