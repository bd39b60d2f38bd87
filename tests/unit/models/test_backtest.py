"""Extrapolation is tried within the data; intervals beyond them are as wide as that was wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from isochrone import models
from isochrone.models import Family, Form, Model, Samples
from isochrone.models.formulas.segment import Widening

RANKS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
SIZES = (8.0, 64, 512, 4096, 32768, 262144)
Law = Callable[[np.ndarray, np.ndarray], np.ndarray]

RING = Family(name="own-ring", forms=(Form(("1", "p", "p*b"), ("τ", "α", "β")),))


def linear(p: np.ndarray, b: np.ndarray) -> np.ndarray:
    return 2e-6 + p * (5e-7 + 1e-10 * b)


def tree(p: np.ndarray, b: np.ndarray) -> np.ndarray:
    return 2e-6 + np.log2(p) * (1.5e-6 + 4e-10 * b)


def measured(
    law: Law, noise: float = 0.02, ranks: tuple[int, ...] = RANKS, seed: int = 1
) -> Samples:
    p, b = (np.repeat(axis.ravel(), 5) for axis in np.meshgrid(np.array(ranks, float), SIZES))
    factor = 1 + noise * np.random.default_rng(seed).standard_normal(len(p))
    return Samples(
        {"p": p, "b": b}, {"op": np.full(len(p), "bcast")}, law(p, b) * factor, "collective"
    )


def covered(model: Model, law: Law, ranks: int) -> float:
    p, b = np.full(len(SIZES), float(ranks)), np.array(SIZES)
    found = model.predict(p=p, b=b)
    return float(np.mean((found.low <= law(p, b)) & (law(p, b) <= found.high)))


def width(model: Model, ranks: int) -> float:
    found = model.predict(p=ranks, b=SIZES)
    return float(np.median((found.high - found.low) / found.seconds))


def test_a_right_formula_is_hardly_widened() -> None:
    """At twice the ranks by no more than a twentieth of the time; and its intervals hold."""
    for seed in range(10):
        model = models.fit(measured(linear, seed=seed), RING)
        (segment,) = model.segments
        assert segment.beyond["p"].evaluate(np.array([1.0])) < 0.05
        assert covered(model, linear, 64) == covered(model, linear, 128) == 1


def test_a_formula_that_is_wrong_is_widened_by_what_was_missed() -> None:
    """A line through the steps of a tree, without breaks: too much by far with more ranks."""
    model = models.fit(measured(tree), RING)
    (segment,) = model.segments
    assert "p" in segment.beyond
    without = Model([msgspec.structs.replace(segment, beyond={})])
    assert covered(without, tree, 64) <= 0.5
    assert covered(model, tree, 64) >= 0.8
    assert covered(model, tree, 128) >= 0.8
    assert width(model, 64) > 2 * width(without, 64)


def test_inside_the_data_nothing_is_widened() -> None:
    model = models.fit(measured(tree), RING)
    (segment,) = model.segments
    variables = {"p": np.array([2.0, 16, 32]), "b": np.full(3, 512.0)}
    wide = segment.evaluate(variables, "relative")
    segment.beyond = {}
    for one, other in zip(wide, segment.evaluate(variables, "relative"), strict=True):
        assert one == pytest.approx(other)


def test_the_trials_are_without_what_is_beyond_a_half_and_a_quarter() -> None:
    """Their errors are those of a fit that never saw the rest."""
    model = models.fit(measured(tree), RING)
    half, quarter = model.backtests
    assert (half.variable, half.upto, half.values) == ("p", 16, [24, 32])
    assert (quarter.upto, quarter.values) == (8, [10, 12, 16, 24, 32])
    data = measured(tree)
    near = models.fit(measured(tree, ranks=RANKS[:9], noise=0), RING)
    asked = {"p": np.repeat([24.0, 32], len(SIZES)), "b": np.tile(SIZES, 2)}
    off = np.abs(tree(**asked) / near.predict(asked).seconds - 1)
    assert half.average == pytest.approx(off.mean(), rel=0.1)
    assert half.maximum == pytest.approx(off.max(), rel=0.2)
    assert len(data.seconds) == 5 * len(RANKS) * len(SIZES)


def test_too_few_numbers_of_ranks_are_no_trial() -> None:
    """Of four, two are left without what is beyond a half: through these runs anything."""
    assert models.fit(measured(linear, ranks=(2, 4, 6, 8)), RING).backtests == []
    assert len(models.fit(measured(linear, ranks=(2, 3, 4, 6, 8)), RING).backtests) == 1


def test_data_without_ranks_have_no_trial() -> None:
    b = np.repeat(np.array(SIZES), 3)
    model = models.fit(Samples({"b": b}, {}, 1e-6 + 1e-9 * b, "point-to-point"), "hockney")
    assert model.backtests == []
    assert not model.segments[0].beyond


def test_a_widening_grows_with_the_distance_and_is_what_was_seen_at_one_and_two_doublings() -> None:
    widening = Widening([0.1], [0.3])
    octaves = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
    assert widening.evaluate(octaves) == pytest.approx([0, 0.05, 0.1, 0.2, 0.3, 0.5])


def test_of_widenings_by_size_in_an_older_file_the_largest_counts() -> None:
    widening = Widening([0.1, 0.4, 0.2], [0.1, 0.5, 0.2])
    assert widening.evaluate(np.array([1.0, 2.0])) == pytest.approx([0.4, 0.5])


def test_trials_widenings_rivals_and_switches_are_written_and_read_again(tmp_path: Path) -> None:
    """And predictions of the file are those of the model."""

    def law(p: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.where(b <= 3000, 0, 2e-5) + tree(p, b)

    forms = tuple(
        Form(terms, ("τ", "α", "β"))
        for terms in (("1", "sqrt(p)", "sqrt(p)*b"), ("1", "p", "sqrt(p)*b"), ("1", "p", "p*b"))
    )
    own = Family(name="own", forms=forms, splits=("b",))
    model = models.fit(measured(law, noise=0.1), own)
    models.write(model, tmp_path / "m.json")
    again = models.read(tmp_path / "m.json")
    assert again == model
    assert again.backtests
    for key in ("rivals", "beyond", "switch", "reach"):
        assert any(getattr(segment, key) for segment in again.segments), key
    asked = {"p": [4, 32, 64], "b": [512, 2000, 32768]}
    one, other = model.predict(asked), again.predict(asked)
    for field in ("seconds", "low", "high"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    assert one.warnings == other.warnings


def test_a_trial_whose_formula_gives_no_time_counts_as_wrong_by_all_of_it(tmp_path: Path) -> None:
    """A line that falls to zero; a model file holds no NaN."""

    def law(p: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.where(p <= 16, 1e-4 - 6e-6 * p, 1e-4 + 1e-6 * p)

    line = Family(name="line", forms=(Form(("1", "p"), ("τ", "α")),))
    data = measured(law, noise=0)
    model = models.fit(Samples({"p": data.variables["p"]}, {}, data.seconds, "collective"), line)
    assert model.backtests[0].average == model.backtests[0].maximum == 1
    models.write(model, tmp_path / "m.json")
    assert models.read(tmp_path / "m.json") == model
