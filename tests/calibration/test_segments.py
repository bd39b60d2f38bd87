"""How often the true breakpoints are found."""

from __future__ import annotations

import numpy as np
import pytest

from beds import rates
from isochrone import models
from made_up.times import RANKS, SIZES, noisy, times, truth

LINES = ((3e-6, 4.5e-10), (9e-6, 3e-10), (2.5e-5, 1.6e-10), (1.2e-4, 1e-10))
FINE = tuple(10_240 * k for k in (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 30, 36, 42, 50))


def mesh(sizes: tuple[int, ...], ranks: tuple[int, ...]) -> dict[str, np.ndarray]:
    b, p = np.meshgrid(np.array(sizes, float), np.array(ranks, float))
    return {"b": b.ravel(), "p": p.ravel()}


def within_a_step(found: list[models.Segment], name: str, bounds: list[float], grid_: set) -> bool:
    """Whether the segments end at the bounds, to one step of the measured values."""
    steps = sorted(grid_)
    tops = [segment.range.get(name, (None, None))[1] for segment in found[:-1]]
    return all(
        top is not None
        and abs(steps.index(top) - (np.searchsorted(steps, bound, "right") - 1)) <= 1
        for top, bound in zip(tops, bounds, strict=True)
    )


@pytest.mark.parametrize("bounds", [[4096], [512, 32768], [128, 4096, 65536]])
def test_protocol_switches_of_a_message_are_found(bounds: list[float], trials: int) -> None:
    """1, 2 and 3 breaks in b at 2 % noise: right in 97 % of all cases, within one step."""
    b = 2.0 ** np.arange(21)
    start, rate = np.array(LINES)[np.searchsorted(bounds, b, "left")].T
    right = 0
    for seed in range(trials):
        found = models.fit(noisy(start + rate * b, {"b": b}, 0.02, 10, seed), "hockney").segments
        right += len(found) == len(bounds) + 1 and within_a_step(found, "b", bounds, set(b))
    rates.at_least(right, trials, 0.97)


@pytest.mark.parametrize("bounds", [[45000.0], [30000.0, 160000.0], [25000.0, 85000.0, 220000.0]])
def test_protocol_switches_of_a_collective_are_found(bounds: list[float], trials: int) -> None:
    """The same within a formula of p and b, while p and p*b are tried, too."""
    variables = mesh(FINE, RANKS)
    factor = np.array([1, 1.6, 0.7, 1.5])[np.searchsorted(bounds, variables["b"], "left")]
    exact = times(truth("bcast-log"), variables) * factor
    right = 0
    for seed in range(trials):
        found = models.fit(noisy(exact, variables, 0.02, 10, seed), "bcast-log").segments
        right += (
            len(found) == len(bounds) + 1
            and all(set(segment.range) == {"b"} for segment in found)
            and within_a_step(found, "b", bounds, set(map(float, FINE)))
        )
    rates.at_least(right, trials, 0.97)


def test_the_change_of_algorithm_of_lam_is_found_in_p(trials: int) -> None:
    """Linear up to 4 ranks and a tree beyond: break and forms in 97 % of all cases."""
    variables = mesh(SIZES, (2, 3, 4, 6, 8, 12, 16, 24, 32, 48))
    few, many = times(truth("bcast", 0), variables), times(truth("bcast", 1, 1.7), variables)
    exact = np.where(variables["p"] <= 4, few, many)
    right = 0
    for seed in range(trials):
        found = models.fit(noisy(exact, variables, 0.02, 10, seed), "bcast").segments
        right += [(segment.range, segment.terms[1]) for segment in found] == [
            ({"p": (None, 4)}, "p*b"),
            ({"p": (6, None)}, "log2(p)*b"),
        ]
    rates.at_least(right, trials, 0.97)
