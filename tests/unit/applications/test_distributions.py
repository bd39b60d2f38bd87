"""Distributions as equally likely values: their mean is exact, their shape that of scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from isochrone.applications.description import distributions
from isochrone.applications.description.quantities import number, seconds, size
from isochrone.applications.description.shapes import KeyPath


def values(written: Any, read: Any = seconds) -> np.ndarray[Any, Any]:
    return np.array(
        distributions.values(distributions.Spread.read(written, KeyPath("here")), read, {})
    )


CONTINUOUS: list[tuple[Any, Any]] = [
    ({"exponential": {"mean": "50us"}}, stats.expon(scale=50e-6)),
    ({"gamma": {"shape": 4, "scale": "5us"}}, stats.gamma(4, scale=5e-6)),
    ({"gamma": {"shape": 0.1, "scale": "5us"}}, stats.gamma(0.1, scale=5e-6)),
    ({"lognormal": {"median": "200us", "sigma": 0.8}}, stats.lognorm(0.8, scale=200e-6)),
    ({"lognormal": {"median": "3us", "sigma": 2.75}}, stats.lognorm(2.75, scale=3e-6)),
    ({"normal": {"mean": "20us", "stddev": "5us"}}, stats.truncnorm(-4, np.inf, 20e-6, 5e-6)),
    ({"normal": {"mean": "20us", "stddev": "40us"}}, stats.truncnorm(-0.5, np.inf, 2e-5, 4e-5)),
    ({"normal": {"mean": 0, "stddev": "5us"}}, stats.halfnorm(scale=5e-6)),
]


@pytest.mark.parametrize(("written", "truth"), CONTINUOUS, ids=[str(c[0]) for c in CONTINUOUS])
def test_the_mean_is_exact_and_the_shape_right(written: Any, truth: Any) -> None:
    """The mean to ten digits; every value lies in its part of equal probability."""
    found = values(written)
    assert len(found) == distributions.BINS
    assert found.mean() == pytest.approx(truth.mean(), rel=1e-9)
    reached = truth.cdf(found)
    parts = np.arange(distributions.BINS) / distributions.BINS
    assert (reached >= parts - 1e-9).all()
    assert (reached <= parts + 1 / distributions.BINS + 1e-9).all()


def test_a_lognormal_by_mean_and_stddev_has_them() -> None:
    """Its standard deviation, too, but for what the outermost parts average away."""
    found = values({"lognormal": {"mean": "100us", "stddev": "30us"}})
    assert found.mean() == pytest.approx(100e-6, rel=1e-9)
    assert found.std() == pytest.approx(30e-6, rel=1e-3)


@pytest.mark.parametrize("tasks", [0.5, 3, 1e4, 1e8])
def test_poisson_many_tasks(tasks: float) -> None:
    """Mean and variance of the number of tasks are its only parameter."""
    found = values({"poisson": {"tasks": tasks, "each": "1us"}}) / 1e-6
    assert found.mean() == pytest.approx(tasks, rel=1e-9)
    assert found.var() == pytest.approx(tasks, rel=0.02)


def test_no_tasks_take_no_time() -> None:
    assert set(values({"poisson": {"tasks": 0, "each": "1us"}})) == {0.0}


def test_constants_are_one_value() -> None:
    assert values("30us").tolist() == [3e-5]
    assert values({"constant": "30us"}).tolist() == [3e-5]
    assert values({"normal": {"mean": "30us", "stddev": 0}}).tolist() == [3e-5]


def test_values_that_were_seen_are_kept() -> None:
    """As they are if all are as likely, by number if weights are multiples, else as parts."""
    assert values({"empirical": ["3us", "1us"]}).tolist() == [1e-6, 3e-6]
    assert values({"empirical": {"1us": 1, "3us": 3}}).tolist() == [1e-6, 3e-6, 3e-6, 3e-6]
    odd = values({"empirical": {"1us": 0.3, "2us": 0.7000001}})
    assert len(odd) == distributions.BINS
    assert odd.mean() == pytest.approx((0.3 * 1e-6 + 0.7000001 * 2e-6) / 1.0000001, rel=1e-9)


def test_a_value_without_weight_does_not_come() -> None:
    assert set(values({"empirical": {"1us": 0, "3us": 2}})) == {3e-6}


def test_sizes_are_whole_bytes() -> None:
    found = values({"exponential": {"mean": "1KiB"}}, size)
    assert (found == np.round(found)).all()
    assert found.mean() == pytest.approx(1024, abs=0.5)


def test_factors_are_plain_numbers() -> None:
    assert values({"normal": {"mean": 1, "stddev": 0.1}}, number).mean() == pytest.approx(1)
