"""A prediction beyond the data says what going beyond was worth where it could be tried."""

from __future__ import annotations

import numpy as np

from beds.golden import Golden
from isochrone import models
from isochrone.models import Model, Segment
from isochrone.models.prediction.doubtful import missed, trial
from isochrone.models.selection.backtest import Backtest
from made_up.steps import SIZES, stepped


def test_more_ranks_say_what_the_last_trial_missed(golden: Golden) -> None:
    """Of p ≤ 32: the trial from half of it comes with its values and its error."""
    model = models.fit(stepped((2, 3, 4, 6, 8, 12, 16, 24, 32)))
    inside = model.predict(p=20, b=1024)
    assert inside.warnings == []
    said = model.predict(p=64, b=[8, 1024]).warnings
    golden(said[0])
    (tried,) = [text for text in said if "extrapolation test: " in text]
    golden(tried)


def test_too_few_numbers_of_ranks_are_said_once(golden: Golden) -> None:
    model = models.fit(stepped((2, 4, 8)))
    assert model.backtests == []
    said = model.predict(p=[16, 32], b=1024).warnings
    few = [text for text in said if text.startswith("extrapolation was not tested")]
    assert len(few) == 1
    golden(few[0])


def test_a_published_formula_was_not_to_be_tried(golden: Golden) -> None:
    model = Model([Segment("ring", ["1", "p"], [1e-6, 1e-6], fitted={"p": (2, 16)})])
    golden(model.predict(p=64).warnings)


def backtest(upto: float, values: list[float], average: float, most: float = 0.0) -> Backtest:
    return Backtest({"op": "bcast"}, "p", upto, values, average, max(most, average))


def test_a_trial_is_told_with_both_errors_if_they_differ(golden: Golden) -> None:
    golden(trial(backtest(16, [32], 0.184)))
    golden(trial(backtest(8, [9, 12, 14, 16], 0.002, 0.31)))


def test_an_error_that_grows_is_told_with_both_trials() -> None:
    last, first = backtest(16, [32], 0.1), backtest(8, [16, 32], 0.3)
    (grown,) = missed([last, first])
    assert grown.index("p ≤ 16") < grown.index("p ≤ 8")
    (steady,) = missed([last, backtest(8, [16, 32], 0.05)])
    assert "p ≤ 8" not in steady


def test_nothing_is_said_of_ranks_where_sizes_are_exceeded() -> None:
    model = models.fit(stepped((2, 3, 4, 6, 8)))
    said = model.predict(p=4, b=2 * max(SIZES)).warnings
    assert said
    assert not any("ranks" in text or "tried" in text for text in said)
    assert np.all(np.isfinite(model.predict(p=4, b=8).high))


def test_the_range_is_that_of_all_data_and_how_far_ranks_are_beyond_it(golden: Golden) -> None:
    """Of two formulas one was fitted to fewer ranks; beyond 8 times nothing was tested."""
    few = Segment(
        "ring",
        ["1", "p", "b"],
        [1e-6, 1e-6, 1e-9],
        range={"b": (None, 1024)},
        fitted={"p": (2, 16), "b": (8, 1024)},
    )
    many = Segment(
        "ring",
        ["1", "p", "b"],
        [2e-6, 1e-6, 1e-9],
        range={"b": (1024, None)},
        fitted={"p": (4, 64), "b": (2048, 65536)},
    )
    model = Model([few, many])
    golden([model.predict(p=p, b=64).warnings for p in (512, 640, 32)])
