"""What is called a leak of memory, of series whose growth is known."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))

from memory_growth import Growth, growth

MIB = 2.0**20
TIMES = np.arange(0.0, 1800.0, 1.0)


def noisy(sizes: NDArray[np.float64], seed: int = 1) -> Growth:
    """Judge sizes with the noise of an allocator: pages taken and given back."""
    pages = 4096 * np.random.default_rng(seed).integers(0, 16, len(TIMES))
    return growth(TIMES, 20 * MIB + sizes + pages)


def test_what_stays_is_no_leak(subtests: pytest.Subtests) -> None:
    for seed in range(20):
        with subtests.test(str(seed)):
            found = noisy(np.zeros(len(TIMES)), seed)
            assert not found.leaks
            assert abs(found.per_minute) < 1024


@pytest.mark.parametrize("per_minute", [64 * 1024, MIB, 100 * MIB])
def test_a_leak_is_found_with_its_size(per_minute: float) -> None:
    """From 64 KiB a minute on; in the interval is what it is."""
    found = noisy(per_minute * TIMES / 60)
    assert found.leaks
    assert found.low <= per_minute <= found.high
    assert found.per_minute == pytest.approx(per_minute, rel=0.1)


@pytest.mark.parametrize("at", [30.0, 300.0, 1100.0, 1700.0])
def test_a_step_is_no_leak(at: float) -> None:
    """Caches are filled at the beginning, and a pool is made larger once at any time."""
    assert not noisy(np.where(at < TIMES, 50 * MIB, 0.0)).leaks


@pytest.mark.parametrize("period", [7.0, 90.0, 240.0])
def test_what_is_given_back_is_no_leak(period: float) -> None:
    """A saw, as of a list that is written and emptied."""
    assert not noisy(5 * MIB * (TIMES % period) / period).leaks


def test_a_leak_below_a_saw_is_found() -> None:
    saw = 5 * MIB * (TIMES % 20) / 20
    assert noisy(saw + MIB * TIMES / 60).leaks


def test_what_fills_up_to_a_limit_is_no_leak() -> None:
    """As a recorder does that keeps so many calls and no more."""
    assert not noisy(np.minimum(20 * MIB, 4 * MIB * TIMES / 60)).leaks


def test_too_little_is_not_judged() -> None:
    with pytest.raises(ValueError, match="too few"):
        growth(TIMES[:20], np.zeros(20))
