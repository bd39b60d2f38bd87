"""Every family of models: intervals and predictions under noise, over random measurements."""

from __future__ import annotations

import numpy as np
import pytest

from beds import rates
from isochrone import models
from isochrone.base import registry
from made_up.times import grid, noisy, times, truth

NAMES = registry.names("*.families")
FORMS = [(name, k) for name in NAMES for k in range(len(models.family(name).forms))]
FEW_SUMS = [(name, k) for name, k in FORMS if not models.family(name).sum_of or k in (0, 5)]
"""Of sums of families few, since their parts are there."""


@pytest.mark.few(15)
@pytest.mark.parametrize(("name", "form"), FEW_SUMS)
def test_intervals_cover_the_truth_in_spite_of_noise(
    name: str, form: int, trials: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2 % noise, 10 repetitions: a 95 % interval covers each true coefficient in at least 92 %, and
    points that were left out are predicted to 1.5 % on average; segments are searched for.
    """
    # What is beyond the data has tests of its own, and costs two more fits.
    monkeypatch.setattr("isochrone.models.selection.backtest.PARTS", ())
    variables, segment = grid(name), truth(name, form)
    exact = times(segment, variables)
    covered, wrong = np.zeros(len(segment.terms), int), []
    for seed in range(trials):
        model = models.fit(noisy(exact, variables, 0.02, 10, seed), name)
        wrong.append(model.quality["held_out"]["point"]["average"])
        found = model.segments[0]
        if len(model.segments) == 1 and found.terms == segment.terms:
            assert found.low is not None
            assert found.high is not None
            truths = np.array(segment.coefficients)
            covered += (np.array(found.low) <= truths) & (truths <= np.array(found.high))
    rates.at_least(int(covered.min()), trials, 0.92)
    assert np.mean(wrong) < 0.015


@pytest.mark.few(9)
@pytest.mark.parametrize("name", NAMES)
def test_its_prediction_interval_holds_new_measurements(name: str, trials: int) -> None:
    """95 % of new medians, measured as those of the fit, are inside."""
    variables = grid(name)
    exact = times(truth(name), variables)
    inside = []
    for seed in range(trials // 4):
        model = models.fit(noisy(exact, variables, 0.02, 10, seed), name)
        found = model.predict(variables)
        (fresh,) = noisy(exact, variables, 0.02, 10, 1000 + seed).observations()
        predicted = model.predict(fresh.variables)
        assert np.all(found.low < found.high)
        inside += ((predicted.low <= fresh.seconds) & (fresh.seconds <= predicted.high)).tolist()
    rates.at_least(sum(inside), len(inside), 0.95)
    rates.at_most(sum(inside), len(inside), 0.95)
