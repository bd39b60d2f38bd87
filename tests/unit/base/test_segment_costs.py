"""Squared deviations of all segments are those that least squares leave."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.base.segment_costs import Sums, costs_between

FORMS = ((0,), (0, 1), (0, 2), (0, 1, 2), (1, 3), (0, 1, 2, 3))


def data(seed: int, values: int = 24) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of four columns and a measured one, the places, and the starts of the values.

    Every value has one to three rows, relative to their size, as of times that span decades.
    """
    dice = np.random.default_rng(seed)
    repeats = dice.integers(1, 4, values)
    x = np.repeat(2.0 ** np.linspace(0, 20, values), repeats)
    p = dice.integers(2, 64, len(x)).astype(float)
    y = (1e-6 + 2e-10 * x * np.log2(p)) * (1 + 0.05 * dice.standard_normal(len(x)))
    rows = np.column_stack([np.ones(len(x)), x, x * p, np.log2(p), y]) / y[:, None]
    rows[:, -1] += 0.1 * dice.standard_normal(len(x))
    starts = np.concatenate([[0], np.cumsum(repeats)])
    return rows, np.arange(values + 1), starts


def least_squares(rows: np.ndarray) -> float:
    length = np.linalg.norm(rows[:, :-1], axis=0)
    found = np.linalg.lstsq(rows[:, :-1] / length, rows[:, -1], rcond=None)[0]
    return float(np.sum((rows[:, -1] - rows[:, :-1] / length @ found) ** 2))


@pytest.mark.parametrize("seed", range(3))
def test_a_segment_costs_what_least_squares_leave(seed: int) -> None:
    rows, places, starts = data(seed)
    found = costs_between(Sums(rows, starts), FORMS, places, 3)
    for k, form in enumerate(FORMS):
        for first, last in ((0, 24), (0, 9), (5, 17), (20, 24)):
            part = rows[starts[first] : starts[last], [*form, -1]]
            assert found[k, first, last] == pytest.approx(least_squares(part), rel=1e-6)


def test_segments_of_fewer_values_than_asked_for_or_rows_than_terms_are_impossible() -> None:
    rows, places, _ = data(0)
    starts, rows = np.arange(25), rows[:24]  # one row a value
    (costs,) = costs_between(Sums(rows, starts), [(0, 1, 2)], places, 3)
    lengths = places[None, :] - places[:, None]
    assert np.all(np.isinf(costs[lengths < 4]))  # three terms take four rows
    assert np.all(np.isfinite(costs[lengths >= 4]))


def test_terms_that_depend_on_each_other_are_impossible() -> None:
    rows, places, starts = data(0)
    rows[:, 2] = 3 * rows[:, 1]
    found = costs_between(Sums(rows, starts), [(0, 1), (0, 1, 2)], places, 3)
    assert np.isfinite(found[0]).any()
    assert np.all(np.isinf(found[1]))


def test_breaks_are_only_tried_at_places() -> None:
    """Neighbours are joined where there are more values than places."""
    rows, _, starts = data(0)
    places = np.array([0, 8, 16, 24])
    sums = Sums(rows, starts)
    coarse = costs_between(sums, FORMS, places, 3)
    fine = costs_between(sums, FORMS, np.arange(25), 3)
    np.testing.assert_allclose(coarse[1], fine[1][np.ix_(places, places)], rtol=1e-9)
