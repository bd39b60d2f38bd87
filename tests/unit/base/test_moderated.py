"""Spreads of alike things help each other, and those of unlike things do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from isochrone.base.inference import MIN_TIME_SPREAD, moderated


def test_alike_spreads_become_one_that_is_known_well() -> None:
    dice = np.random.default_rng(1)
    sample = np.var(0.02 * dice.standard_normal((5, 500)), axis=0, ddof=1)
    squared, freedom = moderated(sample, 4)
    assert np.sqrt(squared) == pytest.approx(0.02, rel=0.25)
    assert np.all(freedom > 40)


def test_a_few_things_that_scatter_far_more_keep_that() -> None:
    dice = np.random.default_rng(2)
    scale = np.where(np.arange(200) < 10, 0.3, 0.01)
    sample = np.var(scale * dice.standard_normal((6, 200)), axis=0, ddof=1)
    squared, _ = moderated(sample, 5)
    assert np.sqrt(np.median(squared[:10])) > 5 * np.sqrt(np.median(squared[10:]))


def test_false_alarms_are_as_rare_as_is_said() -> None:
    """One more value of 400 things, each against its own mean and spread: one in 1,000."""
    dice = np.random.default_rng(3)
    alarms = 0
    for _ in range(100):
        sample = 0.02 * dice.standard_normal((6, 400))
        squared, freedom = moderated(np.var(sample[:5], axis=0, ddof=1), 4)
        limit = stdtrit(freedom, 0.999) * np.sqrt(squared * (1 + 1 / 5))
        alarms += int(np.sum(sample[5] - np.mean(sample[:5], axis=0) > limit))
    assert 20 < alarms < 70, "40 are expected"


def test_exact_times_have_the_least_spread_and_few_things_their_own() -> None:
    assert moderated(np.zeros(9), 4)[0] == pytest.approx(MIN_TIME_SPREAD**2, rel=1e-6)
    squared, freedom = moderated(np.array([0.01, 0.04]), 4)
    assert squared.tolist() == [0.01, 0.04]
    assert np.all(freedom == 4)
