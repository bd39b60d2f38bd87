"""Deviations are those of the definition."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.models.selection.errors import deviation, r_squared


def test_deviations_are_those_of_the_definition() -> None:
    found = deviation(np.array([1.1, 2.0, 0.1]), np.array([1.0, 2.0, 3.0]))
    assert (found.minimum, found.maximum) == pytest.approx((0, 29))  # too little counts as too much
    assert found.average == pytest.approx(29.1 / 3)
    assert r_squared(np.array([1.0, 2.0]), np.array([1.0, 3.0])) == pytest.approx(0.5)


def test_a_point_that_a_limit_cut_short_spoils_no_summary() -> None:
    """It has 3 of 100 repetitions; the mean of all points would be 2,500."""
    measured = np.array([1.0, 1.0, 1.0, 1e4])
    found = deviation(np.array([1.01, 1.02, 1.03, 1.0]), measured, np.array([3, 100, 100, 3]))
    assert found.median == pytest.approx(0.02)
    assert (
        deviation(np.array([1.01, 1.02, 1.03, 1.0]), measured, np.array([3, 3, 9, 200])).median
        > 9e3
    )
