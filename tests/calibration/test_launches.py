"""How often intervals over launches hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from beds import rates
from isochrone.changes.launches import over_launches, pool
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves
from made_up.launches import SIZES, launches

TRUTH = 1e-6 + np.array(SIZES) / 5e9


def starts(number: int, seed: int) -> list[Run]:
    """Launches that differ by 10 %, with repetitions that differ by 10 %."""
    return launches(number, np.random.default_rng(seed), between=0.1 / np.sqrt(2), rho=0.0)


@pytest.mark.parametrize("number", [3, 5])
def test_the_interval_of_the_typical_time_holds_the_truth_in_95_of_100(
    number: int, trials: int
) -> None:
    """The sizes of a launch share a part of their luck, so draws are what is counted."""
    held = []
    for seed in range(2 * trials):
        found = pool(starts(number, seed)).points
        held.append(np.mean((found.low <= TRUTH) & (found.high >= TRUTH)))
    rates.near(held, 0.95)


def test_the_interval_of_one_launch_holds_the_truth_far_less(trials: int) -> None:
    """However many repetitions it has: this is what launches are pooled for."""
    held = []
    for seed in range(2 * trials):
        (curve,) = curves(starts(1, seed)[0])
        held.append(np.mean((curve.column("low") <= TRUTH) & (curve.column("high") >= TRUTH)))
    assert np.mean(held) < 0.6


def test_repetitions_of_all_launches_thrown_together_hold_the_truth_far_less(trials: int) -> None:
    """Twelve repetitions of one launch are no twelve observations of the machine."""
    held = []
    for seed in range(2 * trials):
        together = starts(5, seed)
        seconds = np.concatenate([run.tables["sample"]["seconds"] for run in together])
        logs = np.log(seconds.reshape(-1, len(SIZES)))
        found = over_launches([{} for _ in SIZES], logs)
        held.append(np.mean((found.low <= TRUTH) & (found.high >= TRUTH)))
    assert np.mean(held) < 0.7


def test_the_interval_for_the_next_start_holds_it_in_95_of_100(trials: int) -> None:
    """And that of the typical time does not: it gets ever narrower, the next start does not."""
    held, typical = [], []
    for seed in range(2 * trials):
        *before, coming = starts(6, seed)
        (curve,) = curves(coming)
        found, median = pool(before).points, curve.column("median")
        held.append(np.mean((found.next_low <= median) & (median <= found.next_high)))
        typical.append(np.mean((found.low <= median) & (median <= found.high)))
    rates.near(held, 0.95)
    assert np.mean(typical) < 0.8
