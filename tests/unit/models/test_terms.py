"""The grammar of terms: names out of files become columns of numbers, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.models.data.terms import evaluate_term, unit, variables_of


def test_growth_under_congestion_can_be_written_as_a_root() -> None:
    """The square root of p, and p to the power of 1.5 as a product."""
    variables = {"p": np.array([4.0, 9.0]), "b": np.array([10.0, 10.0])}
    assert evaluate_term("sqrt(p)", variables).tolist() == [2, 3]
    assert evaluate_term("p*sqrt(p)*b", variables).tolist() == [80, 270]
    assert unit("sqrt(p)*b") == "s/B"
    assert variables_of(["sqrt(p)"]) == ["p"]


def test_steps_of_trees_of_a_larger_radix_are_counted_exactly() -> None:
    """9 ranks are reached in two steps of three: the logarithm is a little more than 2."""
    p = {"p": np.array([2.0, 3, 4, 9, 10, 27, 64, 65, 512])}
    assert evaluate_term("ceil(log3(p))", p).tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 6]
    assert evaluate_term("ceil(log4(p))", p).tolist() == [1, 1, 1, 2, 2, 3, 3, 4, 5]
    assert evaluate_term("ceil(log8(p))", p).tolist() == [1, 1, 1, 2, 2, 2, 2, 3, 3]
    assert evaluate_term("cbrt(p)", {"p": np.array([8.0, 27.0])}) == pytest.approx([2, 3])


@pytest.mark.parametrize("term", ["sqrt(x)", "sqrt(p", "sqrt(2)", "log4(p)", "p^1.5"])
def test_what_the_grammar_does_not_know_is_refused(term: str, golden: Golden) -> None:
    with golden.refusal():
        evaluate_term(term, {"p": np.ones(1)})
