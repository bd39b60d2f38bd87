"""Pairs against their levels."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.latency_map import topology
from isochrone.latency_map.pairs import clock_step
from made_up.latency_maps import block, latency_map


def test_levels_have_a_median_at_each_size() -> None:
    run = latency_map(block(2, 4), noise=0.0, nbytes=(64, 16384))
    near, far = topology.medians_of_levels(run, "median", 16384, topology.analyse(run))
    assert near == pytest.approx(2.4e-6)
    assert far == pytest.approx(19.6e-6)


def test_times_that_are_multiples_of_a_step_show_it() -> None:
    """The step of a clock, or of the last printed digit; scatter has none."""
    chance = np.random.default_rng(1)
    times = 2e-6 * np.exp(0.1 * chance.standard_normal(60))
    assert clock_step(times) == 0
    assert clock_step(np.round(times / 10.7e-9) * 10.7e-9) == pytest.approx(10.7e-9)
    assert clock_step(np.round(times, 8)) == pytest.approx(1e-8)
    assert clock_step(np.repeat([2e-6, 8e-6], 30)) == 0


def test_the_step_of_a_clock_shows_behind_digits_and_averages() -> None:
    """Protects the resolution of an AMD clock of 96 MHz, whose ticks are averaged and rounded."""
    dice = np.random.default_rng(3)
    ticks = dice.integers(1, 6, 120) / 96e6
    averaged = np.round((ticks + dice.uniform(-5e-10, 5e-10, 120)) * 3e9) / 3e9
    assert clock_step(averaged) == pytest.approx(1 / 96e6, rel=0.01)
    levels = np.repeat([10e-9, 20e-9, 30e-9], 40) * dice.uniform(0.99, 1.01, 120)
    assert clock_step(levels) == 0
