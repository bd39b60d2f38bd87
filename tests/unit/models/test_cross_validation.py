"""Leaving points out in closed form is fitting again without them."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone import models
from isochrone.models.formulas import linear
from isochrone.models.selection.cross_validation import leave_out
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
            x = models.data.terms.design_matrix(terms, {k: v[mine] for k, v in variables.items()})
            assert without[mine] == pytest.approx(x @ again.coefficients, rel=1e-9)


def one_by_one(fitted: linear.Fit, seconds: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Leave out each group by its own block of the hat matrix, as the formula stands in books."""
    residuals = (seconds - fitted.predicted) * fitted.weights
    changed = np.full(len(seconds), np.nan)
    for group in np.unique(groups):
        mine = groups == group
        q = fitted.orthonormal[mine]
        block = np.eye(mine.sum()) - q @ q.T
        if np.linalg.eigvalsh(block).min() > 1e-9:
            changed[mine] = np.linalg.solve(block, residuals[mine])
    return np.asarray(seconds - changed / fitted.weights)


@pytest.mark.parametrize("family", ["gather", "ring", "hotspot", "loggp"])
def test_groups_of_any_size_and_order_are_left_out_as_one_by_one(family: str) -> None:
    """Groups of 1 to 30 rows whose numbers follow no order; one that holds all but two rows."""
    variables = grid(family)
    seconds = noisy(times(truth(family), variables), variables, 0.05, 1, 5).seconds
    fitted = linear.fit(models.family(family).forms[-1].terms, variables, seconds)
    generator = np.random.default_rng(3)
    uneven = generator.integers(0, 12, len(seconds)) ** 2 - 40
    nearly_all = np.where(np.arange(len(seconds)) < 2, 7, -1)
    for groups in (uneven, nearly_all):
        found, expected = leave_out(fitted, seconds, groups), one_by_one(fitted, seconds, groups)
        assert np.array_equal(np.isnan(found), np.isnan(expected))
        assert found == pytest.approx(expected, rel=1e-9, nan_ok=True)
    assert np.isnan(leave_out(fitted, seconds, nearly_all)[2:]).all()


def test_the_work_grows_with_the_rows_and_not_with_their_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten thousand groups are solved in one call, each row being looked at once."""
    b = np.repeat(np.arange(1.0, 10_001), 2)
    p = np.tile((2.0, 4.0), 10_000)
    fitted = linear.fit(("1", "b", "p"), {"b": b, "p": p}, 1e-6 + 1e-9 * b + 1e-7 * p)
    calls = []
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda a: (calls.append(a.shape), eigh(a))[1])
    leave_out(fitted, fitted.predicted, np.repeat(np.arange(10_000), 2))
    assert calls == [(10_000, 3, 3)]
