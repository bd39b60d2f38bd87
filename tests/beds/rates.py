"""Rates of events over random samples, judged so that a test fails when the rate is wrong.

The bound follows from the number of samples: with 20 of them a rate of 0.02 may show once or twice,
with 200 of them hardly ten times. A true rate at the limit fails about one run in ten thousand; the
seeds are fixed, so a test that passes goes on passing.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy.special import bdtr, bdtrc

CHANCE = 1e-4


def at_most(events: int, trials: int, rate: float) -> None:
    """Assert that so many events do not contradict a rate of at most ``rate``."""
    beyond = 1.0 if events == 0 else float(bdtrc(events - 1, trials, rate))
    assert beyond > CHANCE, f"{events} of {trials}: more than {rate:.1%}"


def at_least(events: int, trials: int, rate: float) -> None:
    """Assert that so many events do not contradict a rate of at least ``rate``."""
    assert bdtr(events, trials, rate) > CHANCE, f"{events} of {trials}: less than {rate:.1%}"


def near(held: Sequence[float], rate: float) -> None:
    """Assert that the mean of shares, one of each trial, does not contradict a rate.

    Shares of one trial may depend on each other, so trials are counted.
    """
    mean = sum(held) / len(held)
    deviation = (rate * (1 - rate) / len(held)) ** 0.5
    assert abs(mean - rate) < 4 * deviation, f"{mean:.1%} of {len(held)} trials: not {rate:.1%}"
