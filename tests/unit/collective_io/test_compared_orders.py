"""What a comparison of orders says: deviations, ranks, and what the prediction's word costs."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.collective_io.orders.compared_orders import (
    ComparedOrder,
    ComparedOrders,
    rank_correlation,
)
from isochrone.collective_io.pages.orders import verdict


def order(predicted: float, times: list[float], *names: str) -> ComparedOrder:
    return ComparedOrder(
        names, [0, 1], ["a", "b"], [2, 1], predicted, 0.9 * predicted, 1.1 * predicted, times
    )


def compared(*orders: ComparedOrder, **more: str) -> ComparedOrders:
    return ComparedOrders(sorted(orders, key=lambda one: one.predicted), **more)


def test_deviations_are_of_what_was_measured() -> None:
    found = compared(order(0.9, [1.0, 1.0, 1.0]), order(2.4, [2.0, 2.0, 2.0], "given"))
    assert found.orders[0].deviation == pytest.approx(-0.1)
    assert found.deviations() == pytest.approx((0.15, 0.2))
    document = plain(found.document([]))
    assert document["mean_deviation"] == pytest.approx(0.15)
    assert document["worst_deviation"] == pytest.approx(0.2)
    assert document["regret"] == 0
    assert document["orders"][1]["measured"] == 2
    json.dumps(document, allow_nan=False)


def test_the_regret_is_what_is_lost_and_the_gain_reached_a_part_of_the_best(golden: Golden) -> None:
    """The expected best takes 1.2, the fastest 1.0, the given one 2.0: 0.8 of 1.0 is reached."""
    times = [[1.2, 1.21, 1.19], [1.0, 1.01, 0.99], [2.0, 2.02, 1.98]]
    found = compared(order(0.5, times[0]), order(0.6, times[1]), order(0.9, times[2], "given"))
    assert found.fastest == 1
    assert found.missed().ratio - 1 == pytest.approx(0.2)
    assert found.gain_reached() == pytest.approx(0.8)
    words = verdict(found)
    golden(words[0])


def test_the_best_is_found_in_words(golden: Golden) -> None:
    found = compared(order(1, [1.0, 1.1]), order(2, [3.0, 3.1], "given"))
    golden(verdict(found)[0])


def test_what_launches_cannot_tell_apart_is_not_called_a_miss(golden: Golden) -> None:
    """Which of the two is faster changes from turn to turn."""
    found = compared(order(1, [1.0, 1.2, 1.1]), order(2, [1.1, 1.05, 1.0]))
    assert found.fastest == 1
    golden(verdict(found)[0])


def test_orders_that_are_expected_to_be_alike_are_said_to_be(golden: Golden) -> None:
    one, other, last = order(1, [1.0, 1.0]), order(1 + 1e-9, [1.5, 1.5]), order(3, [2.0, 2.0])
    assert compared(one, other, last).tied == 2
    said = verdict(compared(one, other, last))[1]
    golden(said)
    assert said.endswith("They took 1.00 s to 1.50 s")
    found = compared(one, other)
    golden(verdict(found)[0])
    assert math.isnan(found.correlation.value)
    assert plain(found.document([]))["rank_correlation"] is None


def test_without_launches_there_are_expectations_only(golden: Golden) -> None:
    found = compared(order(1, []), order(2, []))
    document = plain(found.document([]))
    assert document["rank_correlation"] is document["regret"] is document["origin"] is None
    assert document["orders"][0]["measured"] is document["orders"][0]["deviation"] is None
    golden(verdict(found))


def test_one_launch_has_no_interval(golden: Golden) -> None:
    found = plain(compared(order(1, [1.0]), order(2, [2.0])).document([]))
    assert found["orders"][0]["measured_low"] is found["regret_low"] is None
    missed = compared(order(1, [2.0]), order(2, [1.0]))
    golden(verdict(missed)[0])


def test_the_interval_of_a_median_encloses_it_and_is_that_of_the_launches() -> None:
    one = order(1, [1.0, 1.1, 1.2, 1.3, 9.0])
    low, high = one.interval
    assert 1.0 <= low < one.measured == 1.2 < high <= 9.0


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=12))
def test_the_rank_correlation_is_that_of_scipy_with_ties(pairs: list[tuple[int, int]]) -> None:
    left, right = np.array(pairs, float).T
    found = rank_correlation(left, right[:, None]).value
    if len(set(left)) == 1 or len(set(right)) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(left, right).statistic)


def test_the_interval_of_the_rank_correlation_is_wide_where_launches_scatter() -> None:
    dice = np.random.default_rng(1)
    predicted = np.arange(1.0, 11.0)
    calm = predicted[:, None] * (1 + 0.01 * dice.standard_normal((10, 5)))
    wild = predicted[:, None] * np.exp(1.0 * dice.standard_normal((10, 5)))
    sure, unsure = rank_correlation(predicted, calm), rank_correlation(predicted, wild)
    assert sure.value == pytest.approx(1)
    assert sure.low > 0.95
    assert unsure.low < unsure.value <= unsure.high
    assert unsure.high - unsure.low > 3 * (sure.high - sure.low)


def test_three_orders_are_too_few_for_an_interval() -> None:
    found = rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([[1.0], [2.0], [3.0]]))
    assert found.value == pytest.approx(1)
    assert math.isnan(found.low)
