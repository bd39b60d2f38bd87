"""A formula is not evaluated where it has no meaning, and says so without a word of numpy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models import Model, Segment
from isochrone.models.data.terms import variables_of
from made_up.times import noisy


@pytest.fixture(autouse=True)
def numpy_is_silent() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def tree(**fitted: tuple[float, float]) -> Model:
    """A tree whose formula falls below zero at a single rank."""
    return Model([Segment("tree", ["1", "log2(p)"], [-6e-9, 1e-6], fitted=fitted)])


def test_a_single_rank_has_no_time_if_none_was_measured() -> None:
    for model in (tree(), tree(p=(2, 16)), Model([Segment("ring", ["1", "p"], [1e-6, 1e-6])])):
        found = model.predict({"p": [1, 2, 4]})
        assert np.isnan(found.seconds).tolist() == [True, False, False]
        assert np.isnan(found.low[0])
        assert np.isnan(found.high[0])
        assert found.warnings[0].startswith("p = 1 ")


def test_a_single_rank_that_was_measured_is_predicted() -> None:
    p = np.array([1.0, 2, 3, 4, 6, 8, 12, 16])
    variables = {"p": p, "b": np.zeros(8)}
    model = models.fit(noisy(2e-7 + 1e-6 * np.ceil(np.log2(p)), variables, 0.0, 1, 0), "tree")
    found = model.predict({"p": [1, 2]})
    assert found.seconds == pytest.approx([2e-7, 1.2e-6])
    assert found.warnings == []


def test_a_time_of_zero_or_less_is_none(golden: Golden) -> None:
    """The row has no number; what the formula gives is kept apart."""
    model = Model([Segment("hockney", ["1", "b"], [-1.0, 2.0**-10])])
    found = model.predict({"b": [0, 1024, 2048, 4096]})
    assert np.isnan(found.seconds).tolist() == [True, True, False, False]
    golden(found.warnings)
    assert found.by_formula == pytest.approx([-1, 0, 1, 3])


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"p": 0}, "'p' is 0, which is not a valid number of ranks"),
        ({"p": 2.5}, "'p' is 2.5, which is not a valid number of ranks"),
        ({"p": -4}, "'p' has a value that is negative"),
        ({"p": 1e300}, r"'p' is 1e\+300, which is not a valid number of ranks"),
        ({"p": np.nan}, "'p' has a value that is negative or not a number"),
    ],
)
def test_half_a_rank_or_none_is_refused(variables: dict[str, float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        tree().predict(variables)


@pytest.mark.parametrize("w", [0, 0.5])
def test_a_window_without_messages_is_refused(w: float, golden: Golden) -> None:
    model = Model([Segment("loggp", ["1", "1/w", "b"], [1e-6, 1e-6, 1e-9])])
    with golden.refusal():
        model.predict({"w": w, "b": 8})


@pytest.mark.parametrize(
    "term", ["log2(b)", "1/b", "ceil(log2(b))", "floor(log2(p-1))*b", "p*p*b*b*b*b*b", "1/p*b"]
)
def test_no_term_makes_numpy_complain(term: str, golden: Golden) -> None:
    """At none of the ends of what may be asked: no time there is said in words."""
    model = Model([Segment("own", [term], [1e-9])])
    ends = {"b": [0, 0, 1e18, 1e18], "p": [1, 2, 1, 1e18]}
    given = {name: v for name, v in ends.items() if name in variables_of([term])}
    found = model.predict(given)
    assert np.all(np.isnan(found.seconds) | (found.seconds > 0))
    assert not np.isnan(found.seconds).any() or found.warnings
    golden(found.warnings)


def test_the_goodness_of_fit_counts_what_the_formula_gives(golden: Golden) -> None:
    """A formula that falls below zero within its data is judged by these values, and warned of."""
    b = np.array([0.0, 1, 2, 3, 4, 5])
    seconds = np.array([1e-9, 1e-9, 1e-6, 2e-6, 3e-6, 4e-6])
    model = models.fit(
        noisy(seconds, {"b": b}, 0.0, 1, 0),
        "hockney",
        weights="absolute",
        splits=models.parse_splits(["none"]),
    )
    golden(model.warnings)
    assert 0.9 < model.quality["r2"] < 1
    assert np.isnan(model.predict({"b": 0}).seconds).all()
