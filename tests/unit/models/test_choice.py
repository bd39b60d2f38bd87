"""Which formula describes one segment: the simplest of those that predict what was left out."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.base.errors import InputError
from isochrone.models import Form, Observations
from isochrone.models.data.terms import design_matrix
from isochrone.models.formulas.linear import fit
from isochrone.models.formulas.pool import Candidate
from isochrone.models.selection.choice import Fitted, Judge, errors_of, simplest
from isochrone.models.selection.cross_validation import SegmentFit
from isochrone.models.selection.splits import Options, Region, Splits

RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
SIZES = (8.0, 64, 512, 4096, 32768)


def points(ranks: tuple[int, ...] = RANKS) -> dict[str, np.ndarray]:
    p, b = np.meshgrid(np.array(ranks, float), np.array(SIZES))
    return {"p": p.ravel(), "b": b.ravel()}


def candidate(*terms: str, made_for: bool = True) -> Candidate:
    return Candidate("own", Form(terms, tuple("abcdef"[: len(terms)])), made_for)


LINEAR = candidate("1", "p", "p*b")
TREE = candidate("1", "log2(p)", "log2(p)*b")
MORE = candidate("1", "p", "b", "p*b", "p*p*b")
TRUE = [2e-6, 1e-6, 3e-10]


def times(chosen: Candidate, noise: float, seed: int = 0) -> np.ndarray:
    exact = design_matrix(chosen.form.terms, points()) @ np.array(TRUE)
    return exact * (1 + noise * np.random.default_rng(seed).standard_normal(len(exact)))


def observed(variables: dict[str, np.ndarray], seconds: np.ndarray, noise: float) -> Observations:
    repeats = np.ones(len(seconds), dtype=np.int64)
    return Observations({}, variables, seconds, repeats, noise)


def chosen(
    candidates: list[Candidate], variables: dict[str, np.ndarray], seconds: np.ndarray, noise: float
) -> tuple[SegmentFit, list[tuple[SegmentFit, float]]]:
    options = Options(Splits(), "relative", robust=False)
    judge = Judge(observed(variables, seconds, noise), candidates, options)
    (part,) = judge.in_regions([everywhere(seconds)]).parts
    return part, judge.rivals(part)


def everywhere(seconds: np.ndarray) -> Region:
    return Region({}, np.ones(len(seconds), dtype=bool))


def taken(candidates: list[Candidate], seconds: np.ndarray, noise: float) -> Candidate:
    return chosen(candidates, points(), seconds, noise)[0].candidate


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("truth", [LINEAR, TREE], ids=["linear", "tree"])
def test_the_true_formula_is_taken_and_no_longer_one(truth: Candidate, seed: int) -> None:
    assert taken([MORE, LINEAR, TREE], times(truth, 0.03, seed), 0.03) is truth


def test_a_formula_with_all_terms_of_the_one_taken_is_no_rival() -> None:
    """What it has more cannot be told from nothing; weights are parts of one."""
    seconds = times(LINEAR, 0.3)
    first, rivals = chosen([MORE, LINEAR, TREE], points(), seconds, 0.3)
    named = {rival.fit.terms for rival, _ in rivals}
    assert MORE.form.terms not in named or first.candidate is MORE
    weights = [weight for _, weight in rivals]
    assert weights == sorted(weights, reverse=True)
    assert 0 <= sum(weights) < 1


def test_rivals_are_those_that_noise_cannot_tell_apart() -> None:
    few = points((4, 6, 8))
    exact = design_matrix(LINEAR.form.terms, few) @ np.array(TRUE)
    noisy = exact * (1 + 0.1 * np.random.default_rng(1).standard_normal(len(exact)))
    _, rivals = chosen([LINEAR, TREE], few, noisy, 0.1)
    assert len(rivals) == 1
    _, rivals = chosen([LINEAR, TREE], points(), times(LINEAR, 0.001), 0.001)
    assert rivals == []


def test_a_formula_made_for_the_operation_is_taken_before_a_shorter_one_that_is_not() -> None:
    """One coefficient more is worth it, three are not."""
    seconds = times(LINEAR, 0.02)
    own = candidate("1", "p", "b", "p*b")
    foreign = candidate("1", "p", "p*b", made_for=False)
    assert taken([own, foreign], seconds, 0.02) is own
    assert taken([MORE, foreign], seconds, 0.02) is foreign


def test_a_formula_that_falls_below_zero_with_more_ranks_is_not_taken() -> None:
    """Although it fits best: at four times the most ranks it gives no time."""
    variables = {"p": points()["p"]}
    p = variables["p"]
    falling = candidate("1", "p", "p*p")
    seconds = 1e-6 * (1 + p - 0.014 * p**2)
    first, _ = chosen([falling, candidate("1", "sqrt(p)")], variables, seconds, 0.01)
    assert first.candidate.form.terms == ("1", "sqrt(p)")
    alone, _ = chosen([falling], variables, seconds, 0.01)
    assert alone.candidate is falling


def test_if_nothing_can_be_fitted_it_says_why() -> None:
    alone = {"p": np.full(9, 4.0), "b": np.arange(1.0, 10)}
    with pytest.raises(InputError, match="collinear"):
        chosen([candidate("1", "p")], alone, np.arange(1.0, 10), 0.0)


def test_numbers_of_ranks_are_left_out_one_by_one_and_all_beyond_half() -> None:
    variables, seconds = points(), times(LINEAR, 0.05)
    part = SegmentFit(LINEAR, fit(LINEAR.form.terms, variables, seconds), everywhere(seconds))
    found = errors_of([part], observed(variables, seconds, 0.0))
    by_ranks, beyond, by_size = found
    assert len(by_ranks) == len(by_size) == len(seconds)
    assert len(beyond) == 2 * len(SIZES)  # 24 and 32
    near = variables["p"] <= 16
    again = fit(LINEAR.form.terms, {k: v[near] for k, v in variables.items()}, seconds[near])
    far = {key: values[~near] for key, values in variables.items()}
    predicted = design_matrix(again.terms, far) @ again.coefficients
    assert beyond == pytest.approx(np.abs(predicted / seconds[~near] - 1), rel=0.2)


def test_two_values_of_a_variable_are_left_out_point_by_point() -> None:
    """A single number of ranks determines no formula of them: that says nothing against it."""
    variables = points((4, 8))
    seconds = design_matrix(LINEAR.form.terms, variables) @ np.array(TRUE)
    part = SegmentFit(LINEAR, fit(LINEAR.form.terms, variables, seconds), everywhere(seconds))
    assert Fitted(observed(variables, seconds, 0.0), [part]).error < 1e-9


def fitted(taken: Candidate, error: float) -> Fitted:
    """A fit of so many terms, with a held-out error and as good a SICc as others."""
    seconds = times(LINEAR, 0.0)
    part = SegmentFit(taken, fit(taken.form.terms, points(), seconds), everywhere(seconds))
    found = Fitted(observed(points(), seconds, 0.0), [part])
    vars(found).update(error=error, sicc=-len(taken.form.terms), overdetermined=True)
    return found


@pytest.mark.parametrize(
    ("least", "other", "as_good"),
    [(0.1, 0.119, True), (0.1, 0.121, False), (0.001, 0.0019, True), (0.001, 0.0021, False)],
)
def test_errors_are_as_good_within_a_fifth_or_a_thousandth_of_the_time(
    least: float, other: float, as_good: bool
) -> None:
    longer, shorter = fitted(MORE, least), fitted(LINEAR, other)
    assert (simplest([longer, shorter]) is shorter) == as_good
