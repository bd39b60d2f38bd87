"""Repetitions in two groups: how often they are found, and how often wrongly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from isochrone.models.data.quality import two_groups

POINTS = 40

Make = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]

ONE_PEAK: dict[str, Make] = {
    "lognormal": lambda r, n: r.lognormal(0, 0.1, n),
    "wide lognormal": lambda r, n: r.lognormal(0, 1.5, n),
    "even": lambda r, n: r.uniform(1, 2, n),
    "exponential tail": lambda r, n: 1 + r.exponential(0.3, n),
    "steep and heavy tail": lambda r, n: 1 + 0.1 * r.pareto(0.5, n),
    "Weibull": lambda r, n: 1 + r.weibull(0.5, n),
    "Student's t": lambda r, n: np.exp(0.05 * r.standard_t(2, n)),
    "outliers": lambda r, n: r.lognormal(0, 0.03, n) * np.where(r.random(n) < 0.05, 3, 1),
    "many outliers": lambda r, n: (
        r.lognormal(0, 0.03, n) * np.where(r.random(n) < 0.1, r.uniform(2, 10, n), 1)
    ),
    "slowest rank": lambda r, n: r.lognormal(0, 0.1, (*n, 8)).max(axis=2),
    "coarse clock": lambda r, n: np.maximum(np.round(r.lognormal(0, 0.4, n) * 3), 1) / 3,
}


def points(rows: np.ndarray) -> np.ndarray:
    return np.repeat(np.arange(len(rows)), rows.shape[1])


@pytest.mark.parametrize("name", ONE_PEAK)
@pytest.mark.parametrize("repeats", [6, 10, 20, 50])
def test_one_peak_is_not_taken_for_two(name: str, repeats: int) -> None:
    """In at most 2 of 200 data sets of 40 points each, whatever the tail."""
    generator = np.random.default_rng(repeats)
    alarms = 0
    for _ in range(200):
        rows = ONE_PEAK[name](generator, (POINTS, repeats))
        alarms += len(two_groups(rows.ravel(), points(rows)).points) > 0
    assert alarms <= 2


@pytest.mark.parametrize(
    ("ratio", "noise", "slow", "affected", "repeats"),
    [
        (2, 0.05, 0.5, 40, 10),
        (2, 0.05, 0.3, 40, 10),
        (2, 0.1, 0.3, 40, 20),
        (3, 0.1, 0.5, 4, 30),
        (1.3, 0.02, 0.5, 40, 10),
        (1.5, 0.05, 0.3, 40, 20),
    ],
)
def test_two_groups_are_found(
    ratio: float, noise: float, slow: float, affected: int, repeats: int
) -> None:
    """Two paths of a protocol at all points, or at a tenth of them: in 90 of 100 data sets."""
    generator = np.random.default_rng(1)
    found, apart = 0, []
    for _ in range(100):
        second = generator.random((POINTS, repeats)) < slow
        second[affected:] = False
        rows = generator.lognormal(0, noise, (POINTS, repeats)) * np.where(second, ratio, 1)
        groups = two_groups(rows.ravel(), points(rows))
        found += len(groups.points) > 0
        assert set(groups.points) <= set(range(affected)) or len(groups.points) > affected
        apart += groups.ratio.tolist()
    assert found >= 90
    assert np.median(apart) == pytest.approx(ratio, rel=0.1)


def test_points_of_different_numbers_of_repetitions_are_judged_together() -> None:
    """Those with too few are left out; the rows may come in any order."""
    generator = np.random.default_rng(2)
    numbers = generator.integers(1, 30, POINTS)
    point = np.repeat(np.arange(POINTS), numbers)
    seconds = generator.lognormal(0, 0.02, len(point)) * np.where(np.arange(len(point)) % 2, 2, 1)
    order = generator.permutation(len(point))
    found = two_groups(seconds[order], point[order])
    assert set(found.points) <= set(np.flatnonzero(numbers >= 6).tolist())
    assert len(found.points) >= 0.8 * np.sum(numbers >= 8)


def test_single_times_have_no_groups() -> None:
    assert not len(two_groups(np.array([1.0, 2.0]), np.array([0, 1])).points)
