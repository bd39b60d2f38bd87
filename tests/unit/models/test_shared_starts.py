"""Points of one start have errors in common: intervals of a fit to few starts must know it."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone import models
from isochrone.models import Samples
from isochrone.models.data.load import joined
from isochrone.models.formulas import linear
from isochrone.models.selection.auto import with_shared_starts

RANKS = (2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0)
SIZES = 8.0 * 4 ** np.arange(10)
TERMS = ("1", "b", "p*b")
TRUTH = np.array([5e-6, 1e-9, 4e-10])


def one_launch(p: float, dice: np.random.Generator, between: float, within: float) -> Samples:
    """Gathers of all sizes on p ranks, in one start that is faster or slower as a whole."""
    seconds = TRUTH[0] + TRUTH[1] * SIZES + TRUTH[2] * p * SIZES
    factor = np.exp(dice.normal(0, between) + dice.normal(0, within, len(SIZES)))
    return Samples({"b": SIZES, "p": np.full(len(SIZES), p)}, {}, seconds * factor, "collective")


def fitted(
    dice: np.random.Generator, number: int, between: float, within: float
) -> tuple[linear.Fit, linear.Fit]:
    """Fit one start for each number of ranks: as independent points, and as what they are."""
    parts = [one_launch(p, dice, between, within) for p in RANKS[:number]]
    (points,) = joined(parts).observations()
    found = linear.fit(TERMS, points.variables, points.seconds)
    return found, with_shared_starts(found, points)


@pytest.mark.parametrize("between", [0.02, 0.1])
@pytest.mark.parametrize("number", [5, 8])
def test_a_start_for_each_number_of_ranks_is_not_as_many_as_it_has_sizes(
    between: float, number: int
) -> None:
    """95 % intervals of the time for each rank hold it in 95 % of 200 fits; those that take all
    points for independent do in half of them.
    """
    dice = np.random.default_rng(1)
    before, after = [], []
    for _ in range(200):
        for fit, covered in zip(fitted(dice, number, between, 0.01), (before, after), strict=True):
            covered.append(fit.low[2] <= TRUTH[2] <= fit.high[2])
    assert np.mean(before) < 0.65
    assert np.mean(after) >= 0.93


def test_intervals_stay_as_they_are_where_starts_add_nothing() -> None:
    """Not wider than by a tenth, typically."""
    dice = np.random.default_rng(2)
    wider = []
    for _ in range(100):
        independent, shared = fitted(dice, 8, 0, 0.02)
        wider.append((shared.high - shared.low) / (independent.high - independent.low))
    assert np.median(wider) < 1.1


def test_a_model_of_one_start_for_each_number_of_ranks_has_wider_intervals() -> None:
    dice = np.random.default_rng(3)
    data = joined([one_launch(p, dice, 0.1, 0.01) for p in RANKS])
    shared = models.fit(data, "gather", splits=models.parse_splits(["none"])).segments[0]
    data.start[:] = 0
    independent = models.fit(data, "gather", splits=models.parse_splits(["none"])).segments[0]
    assert shared.degrees_of_freedom < independent.degrees_of_freedom / 5


def test_points_of_several_starts_are_left_as_they_are() -> None:
    dice = np.random.default_rng(4)
    parts = [one_launch(p, dice, 0.1, 0.01) for p in RANKS for _ in range(2)]
    (points,) = joined(parts).observations()
    found = linear.fit(TERMS, points.variables, points.seconds)
    assert with_shared_starts(found, points) is found
