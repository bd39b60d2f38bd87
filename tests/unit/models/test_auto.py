"""Pieces of one operation come from any families, and end along any variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.models import Samples
from isochrone.models.data.load import joined

RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
SIZES = tuple(8 * 4**k for k in range(9))
"""8 B to 512 KiB."""

ALPHA, BETA = 1.5e-6, 4e-10
Law = Callable[[np.ndarray, np.ndarray], np.ndarray]


def steps(p: np.ndarray) -> np.ndarray:
    return np.ceil(np.log2(p))


def grid(ranks: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    p, b = np.meshgrid(np.array(ranks, float), np.array(sizes, float))
    return p.ravel(), b.ravel()


def measured(law: Law, op: str, noise: float = 0.005, seed: int = 1) -> Samples:
    """Measure each combination five times."""
    p, b = (np.repeat(axis, 5) for axis in grid(RANKS, SIZES))
    factor = 1 + noise * np.random.default_rng(seed).standard_normal(len(p))
    return Samples({"p": p, "b": b}, {"op": np.full(len(p), op)}, law(p, b) * factor, "collective")


def off(model: models.Model, law: Law, p: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs(model.predict(p=p, b=b).seconds / law(p, b) - 1)


def doubling_then_ring(p: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Allgather as MPICH picks it: recursive doubling up to 80 KiB in all, then a ring."""
    doubling = 1e-6 + np.log2(p) * ALPHA + (p - 1) * 1.3 * BETA * b
    return np.where(p * b <= 80 * 1024, doubling, 1e-6 + (p - 1) * (ALPHA + BETA * b))


@pytest.mark.slow
def test_pieces_of_different_families_are_fitted_to_half_a_per_cent() -> None:
    """Each piece pays for its own terms: recursive doubling first, then a ring."""
    model = models.fit(measured(doubling_then_ring, "allgather"))
    short, long = model.segments
    assert "log2(p)" in short.terms
    assert "p" in long.terms
    assert short.family != long.family
    assert off(model, doubling_then_ring, *grid(RANKS, SIZES)).max() < 0.005
    assert off(model, doubling_then_ring, *grid((64, 128), SIZES)).max() < 0.01


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("law", "terms"),
    [
        (lambda p, b: 1e-6 + np.sqrt(p) * (ALPHA + BETA * b), {"1", "sqrt(p)", "sqrt(p)*b"}),
        (lambda p, b: 1e-6 + p * ALPHA + 0.1 * p**1.5 * BETA * b, {"1", "p", "b", "p*sqrt(p)*b"}),
        (lambda p, b: 1e-6 + np.log2(p) * (ALPHA + BETA * b), {"1", "log2(p)", "log2(p)*b"}),
        (
            lambda p, b: 1e-6 + steps(p) * (ALPHA + BETA * b),
            {"1", "ceil(log2(p))", "ceil(log2(p))*b"},
        ),
    ],
    ids=["root", "root cubed", "smooth logarithm", "whole steps"],
)
def test_growth_is_told_from_others(law: Law, terms: set[str]) -> None:
    """Of an operation that nothing is known of, so that no family is made for it."""
    model = models.fit(measured(law, "own"))
    (segment,) = model.segments
    assert set(segment.terms) == terms
    assert off(model, law, *grid((64, 128), SIZES)).max() < 0.01


@pytest.mark.slow
@pytest.mark.few(1)
def test_a_break_along_all_bytes_is_found() -> None:
    edge = 80_000

    def law(p: np.ndarray, b: np.ndarray) -> np.ndarray:
        short = 2e-6 + steps(p) * (ALPHA + 1.3 * BETA * b)
        return np.where(p * b <= edge, short, 16e-6 + steps(p) * (ALPHA + 0.4 * BETA * b))

    model = models.fit(measured(law, "reduce"))
    short, long = model.segments
    assert list(short.range) == ["p*b"]
    (_, below), (above, _) = short.range["p*b"], long.range["p*b"]
    assert below is not None
    assert above is not None
    assert below <= edge < above
    found = np.unique(np.multiply(*grid(RANKS, SIZES)))
    assert above == found[found > edge][0] or np.isclose(above, found[found > edge][0])


@pytest.mark.slow
def test_a_break_is_a_gap_that_holds_the_intervals_of_both_pieces() -> None:
    """Between the largest size below and the smallest above, the data do not say which it is."""

    def law(p: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.where(b <= 3000, 1e-6, 9e-6) + steps(p) * (ALPHA + BETA * b)

    model = models.fit(measured(law, "bcast"))
    (_, below), (above, _) = (segment.range["b"] for segment in model.segments)
    assert (below, above) == (2048, 8192)
    inside = model.predict(p=16, b=[2500, 4000, 8000])
    either = [
        segment.evaluate(
            {"p": np.full(3, 16.0), "b": np.array([2500.0, 4000, 8000])}, model.weights
        )[0]
        for segment in model.segments
    ]
    for times in either:
        assert np.all((inside.low <= times) & (times <= inside.high))
    outside = model.predict(p=16, b=[2048, 8192])
    wide = (outside.high - outside.low) / outside.seconds
    assert np.all(wide < 0.05)
    assert any("between 2 KiB and 8 KiB" in warning for warning in inside.warnings)
    assert not any("between 2 KiB" in warning for warning in outside.warnings)


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(8))
def test_terms_that_cannot_be_told_from_nothing_are_not_taken(seed: int) -> None:
    """A true gather has no `p*p*b`, whatever the noise."""

    def law(p: np.ndarray, b: np.ndarray) -> np.ndarray:
        return 3e-6 + (1e-10 + BETA * p) * b

    model = models.fit(measured(law, "gather", 0.05, seed))
    (segment,) = model.segments
    assert segment.terms == ["1", "b", "p*b"]


def no_law(p: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Times that have nothing to do with their variables."""
    points = np.unique(np.column_stack([p, b]), axis=0, return_inverse=True)[1].ravel()
    dice = np.random.default_rng(1).uniform(0, 4, points.max() + 1)
    return np.asarray(1e-6 * 10 ** dice[points])


def test_what_no_formula_describes_is_refused(golden: Golden) -> None:
    with golden.refusal():
        models.fit(measured(no_law, "bcast"))


@pytest.mark.slow
def test_of_several_operations_only_that_is_left_out_which_no_formula_describes(
    golden: Golden,
) -> None:
    """One of ten operations must not take the model of the others away, nor go in silence."""
    both = joined([measured(no_law, "bcast"), measured(doubling_then_ring, "allgather")])
    model = models.fit(both)
    assert model.selectors["op"] == ["allgather"]
    golden(model.warnings)


def test_two_numbers_of_ranks_are_fitted_by_what_the_sizes_say() -> None:
    """Without one of them the other tells nothing of ranks: that is no error of a formula."""
    p, b = (np.repeat(axis, 5) for axis in grid((4, 8), SIZES))
    seconds = 1e-6 + steps(p) * (ALPHA + BETA * b)
    model = models.fit(Samples({"p": p, "b": b}, {}, seconds, "collective"))
    assert off(model, lambda p, b: 1e-6 + steps(p) * (ALPHA + BETA * b), p, b).max() < 1e-6
