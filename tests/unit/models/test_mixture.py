"""The interval of a time that one of several formulas gives holds as many draws as it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from isochrone.models.segment import interval

DRAWS = 200_000


def drawn(
    centre: np.ndarray, spread: np.ndarray, freedom: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Draw times of one point, each from a formula that is chosen by its weight."""
    dice = np.random.default_rng(1)
    which = dice.choice(len(centre), DRAWS, p=weights)
    return centre[which] + spread[which] * dice.standard_t(freedom[which])


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("centre", "spread", "freedom", "weights"),
    [
        ([10.0, 10.0], [1.0, 1.0], [5.0, 5.0], [0.5, 0.5]),
        ([10.0, 30.0], [1.0, 2.0], [4.0, 9.0], [0.7, 0.3]),  # two peaks, far apart
        ([10.0, 12.0, 50.0], [1.0, 3.0, 0.1], [3.0, 30.0, 8.0], [0.6, 0.3, 0.1]),
        ([1e-6, 2e-6], [1e-8, 1e-7], [20.0, 6.0], [0.9, 0.1]),  # microseconds
    ],
)
def test_it_holds_its_part_of_the_draws_and_as_many_are_on_either_side(
    centre: list[float],
    spread: list[float],
    freedom: list[float],
    weights: list[float],
    level: float,
) -> None:
    parts = [np.array(one) for one in (centre, spread, freedom, weights)]
    low, high = interval(parts[0][:, None], parts[1][:, None], *parts[2:], level)
    times = drawn(*parts)
    assert np.mean(times < low) == pytest.approx((1 - level) / 2, abs=0.003)
    assert np.mean(times > high) == pytest.approx((1 - level) / 2, abs=0.003)


def test_of_one_formula_it_is_students() -> None:
    low, high = interval(
        np.array([[3.0, 5.0]]), np.array([[1.0, 2.0]]), np.array([7.0]), np.ones(1), 0.9
    )
    assert low == pytest.approx(student.ppf(0.05, 7, [3, 5], [1, 2]))
    assert high == pytest.approx(student.ppf(0.95, 7, [3, 5], [1, 2]))


def test_a_rival_without_weight_changes_nothing_and_one_with_all_of_it_everything() -> None:
    centre, spread = np.array([[1.0], [9.0]]), np.array([[0.1], [0.2]])
    freedom = np.array([5.0, 8.0])
    for weights, own in (([1.0, 0.0], 0), ([0.0, 1.0], 1)):
        found = interval(centre, spread, freedom, np.array(weights), 0.95)
        alone = interval(centre[[own]], spread[[own]], freedom[[own]], np.ones(1), 0.95)
        assert np.ravel(found) == pytest.approx(np.ravel(alone))


def test_a_formula_without_spread_is_no_obstacle() -> None:
    """Data without noise: the interval then is where the formulas are."""
    low, high = interval(
        np.array([[1.0], [2.0]]), np.zeros((2, 1)), np.array([5.0, 5.0]), np.array([0.5, 0.5]), 0.95
    )
    assert low == pytest.approx(1)
    assert high == pytest.approx(2)
