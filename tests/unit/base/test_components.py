"""What is usual of columns of one kind: variances within and between them, and their tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from isochrone.base.inference import Components, components, means, tail_freedom

WITHIN, BETWEEN = 0.02, 0.05
"""Standard deviations of the columns that are drawn."""


def columns(dice: np.random.Generator, count: int, most: int = 6) -> np.ndarray:
    """Draw columns of one to ``most`` values; NaN are none."""
    values = BETWEEN * dice.standard_normal(count) + WITHIN * dice.standard_normal((most, count))
    values[np.arange(most)[:, None] >= dice.integers(1, most + 1, count)] = np.nan
    return values


def test_the_variances_of_two_columns_are_those_of_the_analysis_of_variance() -> None:
    """Means 2 and 6; squares within 2 + 2 on 2 degrees, between 16 on 1: (16 - 2) / 2 = 7."""
    found = components(means(np.array([[1.0, 5.0], [3.0, 7.0]])))
    assert (found.middle, found.within, found.between, found.columns) == pytest.approx((4, 2, 7, 2))


def test_both_variances_are_recovered_from_columns_of_unequal_numbers() -> None:
    found = components(means(columns(np.random.default_rng(1), 2000)))
    assert math.sqrt(found.within) == pytest.approx(WITHIN, rel=0.05)
    assert math.sqrt(found.between) == pytest.approx(BETWEEN, rel=0.05)


def test_a_column_that_is_far_off_does_not_make_the_others_look_different() -> None:
    """A node that takes twice as long each night would hide a new slow one."""
    values = columns(np.random.default_rng(2), 40)
    usual = components(means(values)).between
    values[:, 0] += math.log(2)
    assert components(means(values)).between == pytest.approx(usual, rel=0.3)


def test_columns_that_differ_by_chance_only_have_no_variance_between_them() -> None:
    """Their difference is then not laid to one of them: it has no reliability."""
    values = np.array([[0.0, 0.1, 0.0], [0.1, 0.0, 0.1]])
    found = components(means(values))
    assert found.between == 0
    assert found.reliability(np.array([1.0, 50.0])).tolist() == [0, 0]


def test_a_mean_is_the_more_reliable_the_more_values_it_has() -> None:
    found = Components(0.0, within=1.0, between=3.0, columns=9)
    assert found.reliability(np.array([0, 1, 3])).tolist() == [0, 0.75, 0.9]


def test_the_range_of_a_column_of_few_values_or_none_holds_the_next_value() -> None:
    """Beyond the upper limit of 5 % are 5 %, for each number of values; 4000 draws: 5 ± 1 %."""
    dice = np.random.default_rng(3)
    beyond = np.zeros((3, 2))
    for _ in range(200):
        found = components(means(columns(dice, 30)))
        for n in range(3):
            lasting = BETWEEN * dice.standard_normal(20)
            values = lasting + WITHIN * dice.standard_normal((3, 20))
            middle = values[:n].mean(axis=0) if n else np.full(20, np.nan)
            expected, squared, freedom = found.next_one(np.full(20, float(n)), middle)
            limit = expected + stdtrit(freedom, 0.95) * np.sqrt(squared)
            beyond[n] += np.sum(values[2] > limit), 20
    assert beyond[:, 0] / beyond[:, 1] == pytest.approx(0.05, abs=0.01)


def limit_at(chance: float, freedom: float) -> float:
    """Return the quantile of Student's distribution, scaled to a variance of 1."""
    return float(stdtrit(min(freedom, 1e9), 1 - chance) * math.sqrt(1 - 2 / freedom))


@pytest.mark.parametrize("seed", range(5))
def test_normal_columns_have_hardly_longer_tails_even_with_one_bad_value(seed: int) -> None:
    """A slow night of one node would else make the limits of all others far wider.

    The limit at a chance of 1e-4 is less than 1.3 times that of normal tails, with a bad value 1.5.
    """
    values = np.random.default_rng(seed).standard_normal((8, 60))
    middle = values.mean(axis=0)
    normal = limit_at(1e-4, 1e9)
    assert limit_at(1e-4, tail_freedom(values, middle)) < 1.3 * normal
    values[3, 7] = 50
    assert limit_at(1e-4, tail_freedom(values, middle)) < 1.5 * normal


@pytest.mark.parametrize("freedom", [3, 5])
def test_long_tails_are_seen_and_their_limit_is_passed_as_rarely_as_it_should(freedom: int) -> None:
    """At a chance of 1e-4, that of the estimated tails is passed by 0.2e-4 to 5e-4 of the values.

    The limit of normal tails is passed by more than 10e-4.
    """
    dice = np.random.default_rng(freedom)
    values = dice.standard_t(freedom, (30, 200)) * math.sqrt(1 - 2 / freedom)
    found = tail_freedom(values, values.mean(axis=0))
    assert found <= 2 * freedom
    more = dice.standard_t(freedom, 10**6) * math.sqrt(1 - 2 / freedom)
    assert 0.2e-4 < np.mean(more > limit_at(1e-4, found)) < 5e-4
    assert np.mean(more > limit_at(1e-4, 1e9)) > 10e-4


def test_columns_of_three_values_say_nothing_of_tails() -> None:
    values = np.random.default_rng(1).standard_t(3, (3, 500))
    assert tail_freedom(values, values.mean(axis=0)) == math.inf
