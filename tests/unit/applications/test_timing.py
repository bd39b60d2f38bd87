"""Times of emulated applications: intervals that hold what they say, and nothing without one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from isochrone.applications.emulation.recorded import App, Launched, applications, launched
from isochrone.applications.emulation.summary import Emulation
from isochrone.applications.emulation.summary import emulation as summary
from isochrone.applications.emulation.timing import (
    ENOUGH,
    MIN_REPEATS,
    Slowdown,
    by_set,
    iterations,
    slowdowns,
)
from isochrone.base.documents import plain
from isochrone.base.inference import estimate
from made_up.emulations import BULLY, QUIET, VICTIM, Truth, emulation, together

PAIR = (
    Truth("victim", ranks=1, iterations=4, slowed={"bully": 1.5}, jitter=0.0),
    Truth("bully", ranks=1, iterations=4, background=True, jitter=0.0),
)


def of(found: Emulation, app: int, *beside: int) -> Slowdown:
    (one,) = [one for one in found.slowdowns if (one.number, one.others) == (app, beside)]
    return one


def test_what_the_machine_does_to_a_whole_repeat_cancels_out_in_a_slowdown() -> None:
    """The same applications in a machine that is up to twice as slow from repeat to repeat."""
    steady = summary(emulation(PAIR, drift=0.0, seed=3))
    drifting = summary(emulation(PAIR, drift=0.7, seed=3))
    assert drifting.walls[0].seconds.high > 1.5 * drifting.walls[0].seconds.low
    for found in (steady, drifting):
        slow = of(found, 0, 1).wall
        assert slow.high / slow.low < 1.3


@pytest.mark.parametrize("repeats", range(1, MIN_REPEATS))
def test_few_repeats_give_medians_and_no_interval(repeats: int) -> None:
    found = summary(emulation(PAIR, repeats=repeats))
    assert found.repeats == repeats
    assert found.walls
    assert not any(one.seconds.known for one in found.walls)
    assert not any(one.wall.differs for one in found.slowdowns)
    for one in plain(found)["slowdowns"]:
        assert (one["ratio"], one["low"], one["high"], one["differs"]) == (None, None, None, False)


def test_a_ratio_differs_only_if_its_interval_is_known_and_does_not_hold_1() -> None:
    assert estimate([1.1, 1.2, 1.3, 1.4, 1.5]).differs
    assert not estimate([0.99, 1.2, 1.3, 1.4, 1.5]).differs
    assert not estimate([1.1, 1.2, 1.3, 1.4]).differs


def test_what_differs_in_the_last_digits_that_are_written_down_is_the_same() -> None:
    """Simulated times repeat exactly, and nothing else would make an interval of no width."""
    assert not estimate([1 + 1e-8] * 5).differs
    assert estimate([1 + 1e-3] * 5).differs


def test_a_background_application_is_compared_by_its_iterations() -> None:
    """Beside others it does twice as many, and is not slower for that."""
    found = summary(emulation(PAIR, noise=0.0, drift=0.0))
    assert of(found, 1, 0).wall.median == pytest.approx(1.0)
    alone, beside = (one for one in found.walls if one.app == "bully")
    assert beside.seconds.median == pytest.approx(alone.seconds.median)


def test_a_slowdown_is_of_repeats_in_which_the_application_also_ran_alone() -> None:
    run = emulation(PAIR, repeats=6)
    apps, found = applications(run), launched(run)
    cut = [one for one in found if one.repeat != 2 or len(one.together) > 1]
    assert {one.wall.n for one in slowdowns(by_set(apps, cut))} == {5}
    assert slowdowns(by_set(apps, [one for one in found if len(one.together) > 1])) == []


def test_the_tail_is_compared_from_100_iterations_on() -> None:
    few, enough = replace(VICTIM, iterations=99), replace(VICTIM, iterations=100)
    assert of(summary(emulation([few, BULLY])), 0, 1).tail is None
    tail = of(summary(emulation([enough, BULLY], noise=0.0)), 0, 1).tail
    assert tail is not None
    assert tail.low < 1.5 < tail.high


def one_launch(times: list[float]) -> Launched:
    return Launched(0, 0, (0,), 0, sum(times), len(times), 1.0, np.array(times))


@pytest.mark.parametrize("name", ENOUGH)
def test_a_percentile_is_given_from_enough_iterations_on(name: str) -> None:
    """So many that the slowest of them lies beyond it with 97.5 %."""
    apps = [App(0, "a", (0,), 1, background=False, phases=())]
    for n, known in ((ENOUGH[name] - 1, False), (ENOUGH[name], True)):
        (found,) = iterations(by_set(apps, [one_launch([float(k + 1) for k in range(n)])]))
        assert found.n == n
        assert found.max == n
        assert math.isnan(found.percentiles[name]) != known


def test_percentiles_need_thousands_of_iterations_for_the_rarest() -> None:
    assert ENOUGH == {"p50": 6, "p90": 36, "p99": 368, "p99.9": 3688}


def test_percentiles_are_of_all_repeats() -> None:
    found = summary(emulation([VICTIM], repeats=5))
    assert [one.n for one in found.iterations] == [5 * VICTIM.iterations]
    assert found.iterations[0].percentiles["p50"] == pytest.approx(1e-3, rel=0.25)


def test_two_applications_are_a_pair_and_all_at_once() -> None:
    assert together(2) == [(0,), (1,), (0, 1)]
    assert summary(emulation([VICTIM, QUIET])).columns() == ["victim", "quiet"]
    assert summary(emulation()).columns() == ["victim", "bully", "quiet", "all others"]
