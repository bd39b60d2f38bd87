"""Leaving points out in closed form is fitting again without them."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone import models
from isochrone.models import linear
from isochrone.models.cross_validation import leave_out
from made_up.times import grid, noisy, times, truth


def test_left_out_is_what_a_fit_without_the_point_predicts() -> None:
    """The closed form agrees with fitting again, for single points and for whole groups."""
    variables = grid("gather")
    seconds = noisy(times(truth("gather"), variables), variables, 0.02, 1, 5).seconds
    terms = models.family("gather").forms[0].terms
    fitted = linear.fit(terms, variables, seconds, weights="absolute")
    groups = np.unique(variables["p"], return_inverse=True)[1]
    for number, without in (
        (np.arange(len(seconds)), leave_out(fitted, seconds)),
        (groups, leave_out(fitted, seconds, groups)),
    ):
        for group in (0, 3, 7):
            mine = number == group
            rest = {key: values[~mine] for key, values in variables.items()}
            again = linear.fit(terms, rest, seconds[~mine], weights="absolute")
            x = models.terms.design_matrix(terms, {k: v[mine] for k, v in variables.items()})
            assert without[mine] == pytest.approx(x @ again.coefficients, rel=1e-9)
