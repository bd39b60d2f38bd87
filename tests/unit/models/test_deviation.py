"""Deviations are those of the definition."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.models.deviation import deviation, r_squared


def test_deviations_are_those_of_the_definition() -> None:
    found = deviation(np.array([1.1, 2.0, 0.1]), np.array([1.0, 2.0, 3.0]))
    assert (found.minimum, found.maximum) == pytest.approx((0, 29))  # too little counts as too much
    assert found.average == pytest.approx(29.1 / 3)
    assert r_squared(np.array([1.0, 2.0]), np.array([1.0, 3.0])) == pytest.approx(0.5)
