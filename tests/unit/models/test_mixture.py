"""The interval of a time that one of several formulas gives: spread within and between them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from isochrone.models.formulas.segment import Rival, Segment

P = {"p": np.array([4.0])}
FREEDOM = 10


def segment(seconds: float, *rivals: tuple[float, float], sigma: float = 0.1) -> Segment:
    """A formula that gives ``seconds``, and others with the times and weights of ``rivals``."""
    others = [
        Rival("own", ["p"], ["α"], [time / 4], [[0.0]], sigma, FREEDOM, weight)
        for time, weight in rivals
    ]
    return Segment(
        "own",
        ["p"],
        [seconds / 4],
        rivals=others,
        covariance=[[0.0]],
        sigma=sigma,
        degrees_of_freedom=FREEDOM,
    )


def ends(of: Segment, level: float = 0.95) -> tuple[float, float]:
    _, low, high = of.evaluate(P, "relative", level)
    return float(low[0]), float(high[0])


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_of_one_formula_it_is_students_in_log_time(level: float) -> None:
    """Of small errors; the factor is the same on both sides."""
    low, high = ends(segment(2e-6, sigma=0.1), level)
    reach = student.ppf((1 + level) / 2, FREEDOM)
    assert high == pytest.approx(2e-6 * (1 + 0.1 * reach))
    assert low * high == pytest.approx(4e-12)


def test_rivals_that_agree_change_nothing_and_one_without_weight_neither() -> None:
    alone = ends(segment(2e-6))
    assert ends(segment(2e-6, (2e-6, 0.5))) == pytest.approx(alone)
    assert ends(segment(2e-6, (9e-6, 0.0))) == pytest.approx(alone)


def test_the_variance_between_formulas_is_added_to_that_within() -> None:
    """Without noise, of two as likely formulas: half the distance of their logarithms."""
    low, high = ends(segment(1e-6, (4e-6, 0.5), sigma=0.0))
    reach = student.ppf(0.975, FREEDOM)
    half = reach * np.hypot(np.log(4) / 2, np.log1p(0.001 * reach) / reach)
    assert high == pytest.approx(2e-6 * np.exp(half))
    assert low == pytest.approx(2e-6 * np.exp(-half))


def test_the_time_of_the_formula_is_in_its_interval() -> None:
    low, high = ends(segment(1e-6, (4e-6, 0.999), sigma=0.01))
    assert low <= 1e-6 < 4e-6 < high
