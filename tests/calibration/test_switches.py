"""How often protocol switches are found where they are, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from beds import rates
from isochrone.sweep.curves import Curve, Point, curves
from isochrone.sweep.switches import switches
from made_up.sweeps import SIZES, line, point_to_point, switching

EVEN = tuple(range(0, 1025, 32))
"""The sizes of mpptest."""


def with_noise(time: object, sizes: tuple[int, ...], noise: float, seed: int) -> Curve:
    """Make a curve whose medians themselves are off, as those of a busy machine are."""
    dice = np.random.default_rng(seed)
    points = []
    for nbytes in sizes:
        middle = float(time(nbytes) * dice.lognormal(0, noise))  # type: ignore[operator]
        rate = nbytes / middle if middle else None
        points.append(
            Point(
                bytes=nbytes,
                n=20,
                median=middle,
                low=0.995 * middle,
                high=1.005 * middle,
                min=0.98 * middle,
                mean=1.01 * middle,
                max=1.1 * middle,
                bandwidth=rate,
            )
        )
    return Curve({"pair": [0, 1]}, 2, tuple(points))


@pytest.mark.parametrize("sizes", [SIZES, EVEN, SIZES[:9]], ids=["powers", "mpptest", "few"])
def test_a_straight_line_has_no_switch_in_95_of_100_trials(
    sizes: tuple[int, ...], trials: int
) -> None:
    """2 % of noise on the medians themselves, far beyond their intervals."""
    false = sum(bool(switches(with_noise(line(), sizes, 0.02, seed))) for seed in range(trials))
    rates.at_most(false, trials, 0.04)


def test_repetitions_with_2_percent_of_noise_make_no_switch(trials: int) -> None:
    found = [switches(curves(point_to_point(line(), seed=seed))[0]) for seed in range(trials)]
    rates.at_most(sum(map(bool, found)), trials, 0.02)


def test_a_true_switch_is_found_between_the_two_sizes_around_it(trials: int) -> None:
    """Nearly always, and in the right place."""
    exact = 0
    for seed in range(trials):
        found = switches(with_noise(switching, SIZES, 0.02, seed))
        exact += [(s.after, s.before) for s in found] == [(65536, 131072)]
    rates.at_least(exact, trials, 0.95)


@pytest.mark.parametrize("change", [0.03, 0.05])
def test_a_slope_that_changes_by_a_few_per_cent_is_named(change: float, trials: int) -> None:
    """With 0.5 % of noise, nearly always."""

    def time(nbytes: int) -> float:
        return 1e-6 + nbytes / 6e9 + max(0, nbytes - 32768) / 6e9 * change

    sizes = (*range(0, 65537, 1024), *range(73728, 262145, 8192))
    found = [switches(with_noise(time, sizes, 0.005, seed)) for seed in range(trials)]
    named = [len(f) == 1 and 16384 <= f[0].after <= 65536 for f in found]
    rates.at_least(sum(named), trials, 0.95)


def test_a_shared_processor_is_no_protocol(trials: int) -> None:
    """From some size on most repetitions lost their processor; the fastest ones show what it takes.

    Unless all of them lost it: then nobody can tell.
    """
    dice = np.random.default_rng(11)
    wrong = 0
    for _ in range(trials):
        repetitions = np.outer(1e-6 + np.array(SIZES) / 8e9, dice.lognormal(0, 0.1, 20))
        slow_from = dice.integers(4, len(SIZES))
        share = np.where(np.arange(len(SIZES)) < slow_from, 0.1, 0.8)[:, None]
        lost = dice.random(repetitions.shape) < share
        repetitions += lost * 2e-2 * dice.lognormal(0, 0.02, repetitions.shape)
        points = []
        for nbytes, times in zip(SIZES, np.sort(repetitions), strict=True):
            low, middle, high = times[5], float(np.median(times)), times[14]
            points.append(
                Point(
                    bytes=nbytes,
                    n=20,
                    median=middle,
                    low=low,
                    high=high,
                    min=times[0],
                    mean=times.mean(),
                    max=times[-1],
                    bandwidth=nbytes / middle,
                )
            )
        wrong += bool(switches(Curve({"pair": [0, 1]}, 2, tuple(points))))
    rates.at_most(wrong, trials, 0.05)
