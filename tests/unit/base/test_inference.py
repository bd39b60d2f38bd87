"""One verdict for all comparisons, and intervals of means against those of SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from isochrone.base.inference import group_medians, means, verdict


@pytest.mark.parametrize(
    ("ratio", "low", "high", "rule", "word"),
    [
        (1.1, 1.02, 1.2, {}, "slower"),
        (0.9, 0.8, 0.98, {}, "faster"),
        (1.0, 0.9, 1.1, {}, "not known"),
        (1.1, 1.02, 1.2, {"sure": False}, "not known"),  # one of many may be so by chance
        (1.01, 0.97, 1.04, {"margin": 0.05}, "same"),
        (1.01, 1.005, 1.015, {"threshold": 0.02}, "not known"),
        (0.99, 0.985, 0.995, {"threshold": 0.02}, "not known"),
        (1.0 + 1e-8, 1.0 + 1e-8, 1.0 + 1e-8, {"rounding": 1e-4}, "not known"),
        (1.2, math.nan, math.nan, {}, "not known"),
        (0.0, 0.0, 0.0, {}, "faster"),  # a clock that is too coarse
    ],
)
def test_one_verdict_says_what_an_interval_shows(
    ratio: float, low: float, high: float, rule: dict[str, float], word: str
) -> None:
    assert verdict(ratio, low, high, **rule) == word  # type: ignore[arg-type]


def test_means_have_students_interval_and_that_of_one_more_value() -> None:
    values = np.random.default_rng(1).normal(2, 0.3, (6, 3))
    values[4:, 1] = values[1:, 2] = np.nan
    found = means(values)
    for k, n in enumerate((6, 4)):
        known = values[:n, k]
        wanted = stats.ttest_1samp(known, 0).confidence_interval(0.95)
        assert (found.interval()[0][k], found.interval()[1][k]) == pytest.approx(tuple(wanted))
        half = (wanted.high - wanted.low) / 2 * math.sqrt(n + 1)
        coming = [end[k] for end in found.next_interval()]
        assert coming == pytest.approx([known.mean() - half, known.mean() + half])
    assert found.middle[2] == values[0, 2]
    assert np.isnan(found.interval()[0][2])


def test_medians_of_groups_are_over_what_all_launches_have() -> None:
    values = np.array([[1.0, 2.0, 9.0, 4.0], [3.0, 5.0, np.nan, 7.0]])
    groups = [np.array([0, 1, 2]), np.array([3]), np.array([2])]
    found = group_medians(values, groups)
    assert found[:, :2].tolist() == [[1.5, 4.0], [4.0, 7.0]]
    assert np.isnan(found[:, 2]).all()
