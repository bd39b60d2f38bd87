"""Weighted least squares: outliers, weights, and collinear terms."""

from __future__ import annotations

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models.formulas import linear
from made_up.times import SIZES, grid, noisy, times, truth


def test_a_robust_fit_is_not_moved_by_outliers() -> None:
    variables, segment = grid("gather"), truth("gather")
    generator = np.random.default_rng(6)
    far, covered = [], np.zeros(3)
    for seed in range(100):
        seconds = noisy(times(segment, variables), variables, 0.02, 1, seed).seconds
        seconds[generator.choice(len(seconds), 6, replace=False)] *= 5
        found = linear.fit(segment.terms, variables, seconds, robust=True)
        far.append(np.abs(found.coefficients / segment.coefficients - 1).max())
        truths = np.array(segment.coefficients)
        covered += (found.low <= truths) & (truths <= found.high)
    assert np.mean(far) < 0.03
    assert covered.min() >= 85


def test_relative_weights_are_not_drawn_down_by_noise() -> None:
    """Weights 1/y² of measured times would be 2 x 0.2² = 8 % too low; fitted ones are not."""
    variables, segment = grid("hockney"), truth("hockney")
    variables = {"b": np.repeat(variables["b"], 200)}
    seconds = noisy(times(segment, variables), variables, 0.2, 1, 7).seconds
    found = linear.fit(segment.terms, variables, seconds)
    assert found.coefficients == pytest.approx(segment.coefficients, rel=0.05)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"p": np.full(80, 8.0)}, "p is always 8: measure other values of it"),
        ({"b": np.zeros(80)}, "0 everywhere"),
    ],
)
def test_terms_that_cannot_be_told_apart_are_named(change: dict, says: str) -> None:
    variables = {**grid("bcast-log"), **change}
    data = noisy(np.linspace(1, 2, 80), variables, 0, 1, 0)
    with pytest.raises(InputError, match=says):
        models.fit(data, "bcast-log")


def test_powers_of_two_alone_do_not_tell_reduce_from_bcast(golden: Golden) -> None:
    b, p = np.meshgrid(np.array(SIZES, float), [2.0, 4, 8, 16, 32])
    variables = {"b": b.ravel(), "p": p.ravel()}
    terms = ("b", "floor(log2(p-1))*b", "log2(p)*b")
    number = [set(form.terms) for form in models.family("allreduce").forms].index(set(terms))
    with golden.refusal():
        linear.fit(terms, variables, times(truth("allreduce", number), variables))


def test_messages_in_and_out_must_differ_somewhere(golden: Golden) -> None:
    variables = grid("hotspot-directional")
    variables["out"] = variables["in"]
    data = noisy(times(truth("hotspot-directional"), variables), variables, 0, 1, 0)
    with golden.refusal():
        models.fit(data, "hotspot-directional")


def test_the_fewest_terms_that_depend_on_each_other_are_named(golden: Golden) -> None:
    """With one number of ranks b and p*b are the same; the constant has no part in it."""
    variables = {**grid("gather"), "p": np.full(80, 8.0)}
    with golden.refusal():
        linear.fit(("1", "b", "p*b"), variables, np.linspace(1, 2, 80))
