"""Parts of collective calls: what one measured setting says of another, and what several say."""

from __future__ import annotations

import pytest

from isochrone.collective_io.predict.call_parts import Observation, PartTimes, fit


def seen(
    rounds: float, counts: float, *, reading: bool = False, busiest: float = 1e6
) -> Observation:
    """A call of which the counts matter here."""
    features = {"rounds": rounds, "calls": rounds + 1, "ranks": 16.0, "busiest": busiest}
    return Observation(features, {"counts": counts}, 1.0, reading)


def test_the_setting_that_was_measured_is_predicted_as_measured() -> None:
    times = fit([seen(4, 0.05)])
    found = times.ask(False, "counts", seen(4, 0).features)
    assert found is not None
    assert found.seconds == pytest.approx(0.05)
    assert found.low < 0.05 < found.high


def test_from_one_setting_all_that_can_be_meant_is_within_the_interval() -> None:
    """With 8 times the rounds, counting may take as long as before, or 33 / 5 times as long."""
    found = fit([seen(4, 0.05)]).ask(False, "counts", seen(32, 0).features)
    assert found is not None
    assert found.low < 0.05 * 2
    assert found.high > 0.05 * 33 / 5


def test_several_settings_say_which_law_it_is() -> None:
    """Counting is by rounds here: three settings show it, and the interval shrinks."""
    times = fit([seen(rounds, 0.01 * (rounds + 1)) for rounds in (1, 4, 8)])
    found = times.ask(False, "counts", seen(32, 0).features)
    assert found is not None
    assert found.seconds == pytest.approx(0.33, rel=0.1)
    assert found.high / found.low < 1.8


def test_a_part_that_depends_on_nothing_is_found_as_well() -> None:
    """Counting takes as long whatever the rounds: that is predicted, not more rounds, more time."""
    times = fit([seen(rounds, 0.05) for rounds in (1, 4, 16)])
    found = times.ask(False, "counts", seen(64, 0).features)
    assert found is not None
    assert found.seconds == pytest.approx(0.05, rel=0.35)


def test_what_was_not_measured_is_not_known() -> None:
    times = fit([seen(4, 0.05)])
    assert times.ask(False, "file", seen(4, 0).features) is None
    assert times.ask(True, "counts", seen(4, 0).features) is None  # a read is another thing
    assert PartTimes().ask(False, "counts", seen(4, 0).features) is None


def test_a_part_of_no_time_has_a_prediction() -> None:
    """Lustre's driver counts nothing: its part is as good as zero, and no logarithm of it."""
    found = fit([seen(4, 0.0)]).ask(False, "counts", seen(8, 0).features)
    assert found is not None
    assert 0 < found.seconds < 0.01


def test_of_one_scattered_time_the_others_are_worth_more() -> None:
    """One launch of four that took 40 % longer moves the prediction by less than that."""
    rows = [seen(rounds, 0.01 * (rounds + 1)) for rounds in (1, 4, 8)] + [seen(16, 0.17 * 1.4)]
    found = fit(rows).ask(False, "counts", seen(8, 0).features)
    assert found is not None
    assert found.seconds == pytest.approx(0.09, rel=0.25)
