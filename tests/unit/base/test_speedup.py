"""The ratio of two arrangements: known ratios are found, noise common to both does no harm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from isochrone.base.inference import speedup


def test_a_known_ratio_is_found_and_enclosed() -> None:
    dice = np.random.default_rng(3)
    given = 2.0 * (1 + 0.02 * dice.standard_normal(20))
    proposed = 1.0 * (1 + 0.02 * dice.standard_normal(20))
    found = speedup(given.tolist(), proposed.tolist())
    assert found.ratio == pytest.approx(2, rel=0.02)
    assert found.low < 2 < found.high
    assert found.high - found.low < 0.1
    assert found.launches == 20


def test_what_disturbs_both_neighbours_does_not_hide_the_gain() -> None:
    """Launches are drawn in pairs; drawn apart, the slow half would meet the fast half."""
    moment = [1.0] * 3 + [5.0] * 3
    found = speedup([2 * m for m in moment], moment)
    assert (found.low, found.ratio, found.high) == pytest.approx((2, 2, 2))


def test_one_launch_of_each_gives_a_ratio_without_a_width() -> None:
    found = speedup([3.0], [2.0])
    assert (found.low, found.ratio, found.high) == (1.5, 1.5, 1.5)


def test_the_interval_is_that_of_the_bootstrap_of_scipy() -> None:
    """Our own one only saves the import of scipy.stats."""

    def ratio(left: np.ndarray, right: np.ndarray, axis: int) -> np.ndarray:
        return np.median(left, axis=axis) / np.median(right, axis=axis)

    dice = np.random.default_rng(4)
    sides = 2 * dice.lognormal(0, 0.1, 30), dice.lognormal(0, 0.1, 30)
    theirs = bootstrap(
        sides,
        ratio,
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=9999,
        random_state=np.random.default_rng(5),
    ).confidence_interval
    ours = speedup(*(side.tolist() for side in sides))
    width = theirs.high - theirs.low
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.1 * width)
