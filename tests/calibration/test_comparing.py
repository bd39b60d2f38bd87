"""Error rates of comparisons: equal things, and things that became slower."""

from __future__ import annotations

import numpy as np
import pytest

from beds import rates
from isochrone.changes.compare import Comparison, compare
from made_up.launches import launches


def words(found: Comparison) -> set[str]:
    return {point.verdict for point in found.points}


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("between", [0.05, 0.3])
def test_of_equal_machines_nothing_is_called_different(
    number: int, between: float, trials: int
) -> None:
    """Autocorrelated repetitions, launches that differ: at most 5 % have even one false word."""
    dice = np.random.default_rng(10 * number + int(100 * between))
    false = 0
    for _ in range(trials):
        before, after = (launches(number, dice, between=between) for _ in range(2))
        found = compare(before, after)
        changed = [part.difference.verdict for part in found.parts]
        false += bool(changed) or not words(found) <= {"same", "not known"}
    print(f"A/A, {number} launches that differ by {between:.0%}: {false} of {trials} false")
    rates.at_most(false, trials, 0.05)


@pytest.mark.parametrize(
    ("factor", "between", "least"),
    [(1.05, 0.01, 0.6), (1.1, 0.02, 0.95), (1.5, 0.1, 0.95), (2, 0.2, 0.95)],
)
def test_five_launches_a_side_find_what_became_slower(
    factor: float, between: float, least: float, trials: int
) -> None:
    dice = np.random.default_rng(3)
    found = wrong = 0
    for _ in range(trials):
        sides = [launches(5, dice, factor=f, between=between) for f in (1.0, factor)]
        verdicts = {part.difference.verdict for part in compare(*sides).parts}
        wrong += "faster" in verdicts
        found += "slower" in verdicts
    print(f"{factor:g}x, launches that differ by {between:.0%}: found {found} of {trials}")
    rates.at_most(wrong, trials, 0.02)
    rates.at_least(found, trials, least)
