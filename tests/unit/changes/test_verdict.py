"""The statistics of a comparison against those of SciPy, and the three words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from isochrone.base.inference import Contrast, contrast, holm
from isochrone.changes.components import Differences


def test_many_things_at_once_are_welchs_test_of_each() -> None:
    dice = np.random.default_rng(1)
    left, right = dice.normal(0, 0.1, (5, 7)), dice.normal(0.05, 0.3, (3, 7))
    left[4, 2] = right[0, 3] = np.nan
    found = contrast(left, right)
    for k in range(7):
        sides = [side[~np.isnan(side)] for side in (right[:, k], left[:, k])]
        wanted = ttest_ind(*sides, equal_var=False)
        assert found.p[k] == pytest.approx(wanted.pvalue)
        interval = wanted.confidence_interval(0.95)
        assert (found.low[k], found.high[k]) == pytest.approx((interval.low, interval.high))


def test_from_five_launches_on_the_sharper_of_two_tests_counts() -> None:
    """Each has half of the chance; which one it is may differ from column to column."""
    dice = np.random.default_rng(2)
    left, right = dice.normal(0, 0.1, (5, 9)), dice.normal(0.05, 0.1, (6, 9))
    left[1, :4] += 0.8
    found = contrast(left, right)
    wanted = [ttest_ind(right, left, equal_var=False, trim=trim).pvalue for trim in (0.0, 0.2)]
    one, other = (np.isclose(found.p, np.minimum(2 * p, 1)) for p in wanted)
    assert (one | other).all()
    assert one.any()
    assert (other & ~one).any()


def test_one_disturbed_launch_does_not_hide_what_the_others_agree_on() -> None:
    left = np.log([[1.0], [1.01], [0.99], [1.005], [2.5]])
    right = np.log([[1.2], [1.21], [1.19], [1.2], [1.205]])
    found = contrast(left, right)
    assert found.p[0] < 0.05
    assert found.low[0] > 0
    assert np.exp(found.change[0]) == pytest.approx(1.19, rel=0.02)


@pytest.mark.filterwarnings("error")
def test_a_side_with_one_launch_or_none_gives_no_chance() -> None:
    found = contrast(np.array([[0.0, np.nan]]), np.array([[1.0, 1.0], [1.1, 1.2]]))
    assert np.isnan(found.p).all()
    assert np.isnan(found.low).all()
    assert found.change[0] == pytest.approx(1.05)


def test_p_values_are_corrected_as_holm_did() -> None:
    assert holm(np.array([0.01, 0.04, 0.03, np.nan])) == pytest.approx(
        [0.03, 0.06, 0.06, np.nan], nan_ok=True
    )


@pytest.mark.parametrize(
    ("low", "high", "p", "word"),
    [
        (0.97, 1.04, 0.9, "same"),
        (1.01, 1.04, 0.001, "same"),  # different, but by less than matters
        (0.90, 1.20, 0.9, "not known"),
        (1.02, 1.20, 0.2, "not known"),  # many points: one of them may be so by chance
        (1.02, 1.20, 0.01, "slower"),
        (0.80, 0.98, 0.01, "faster"),
    ],
)
def test_three_words_and_what_each_means(low: float, high: float, p: float, word: str) -> None:
    logs = [np.log([x]) for x in ((low * high) ** 0.5, 1.0, low, high)]
    logs[1] = np.array([0.1])
    found = Contrast(logs[0], logs[1], logs[2], logs[3], np.array([p]), *np.zeros((2, 1)))
    assert Differences(found, np.array([p]), 0.05)[0].verdict == word


def test_the_times_are_those_whose_ratio_is_given() -> None:
    """Protects from times of all launches beside a ratio without the slowest and the fastest."""
    before = np.log([[5.0], [1.0], [1.01], [1.02], [1.03]])
    after = np.log([[1.1], [1.11], [1.12], [1.13], [1.14]])
    found = contrast(before, after)
    assert found.after - found.before == pytest.approx(found.change)
    assert np.exp(found.before[0]) < 1.1
