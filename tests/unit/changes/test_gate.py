"""A gate passes what is known to be well, fails what is slower, and says what it cannot judge."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.changes.compare import Comparison, compare
from isochrone.changes.gate import Gate, Limit, judge
from isochrone.runfile.run import Run
from made_up.launches import SIZES, launches

SLOWER = [Limit("slower", 0.05)]


def compared(
    number: int, factor: float | Sequence[float] = 1.0, between: float = 0.02, seed: int = 1
) -> Comparison:
    dice = np.random.default_rng(seed)
    options = {"between": between, "within": 0.02}
    before = launches(number, dice, **options)
    return compare(before, launches(number, dice, factor=factor, **options))


@pytest.mark.parametrize("number", [1, 2])
def test_with_one_or_two_starts_a_side_nothing_can_be_judged(number: int) -> None:
    gate = judge(compared(number), SLOWER)
    assert not gate.passed
    (doubt,) = gate.doubts
    assert doubt.startswith("fewer than 3 launches")


@pytest.mark.slow
def test_twice_the_time_never_passes_however_much_launches_differ() -> None:
    """One point of eight, or all; three or five launches a side."""
    one = [2.0 if k == 3 else 1.0 for k in range(len(SIZES))]
    passed: list[Gate] = []
    for number in (3, 5):
        for between in (0.02, 0.1, 0.2, 0.3):
            for factor in (2.0, one):
                gates = [judge(compared(number, factor, between, s), SLOWER) for s in range(15)]
                passed += [gate for gate in gates if gate.passed]
    assert len(passed) <= 12  # of 240: 5 %


def test_five_equal_launches_a_side_pass_in_19_of_20_comparisons() -> None:
    for between in (0.02, 0.1):
        passed = [judge(compared(5, 1.0, between, seed), SLOWER).passed for seed in range(60)]
        assert sum(passed) >= 52  # at a true rate of 95 %, fewer are less likely than 1 %


def without(run: Run, sizes: Sequence[int]) -> Run:
    """Let a run lose its points of some sizes."""
    table = run.tables["sample"]
    run.tables["sample"] = table.where(~np.isin(table["bytes"], sizes))
    return run


@pytest.mark.parametrize("number", range(12))
def test_what_one_side_lost_never_passes(number: int) -> None:
    """Points of all launches of a side, or the end of any launch."""
    dice = np.random.default_rng(number)
    sides = [launches(5, dice, between=0.02, within=0.02) for _ in "ab"]
    side = sides[number % 2]
    if number % 3:
        lost = dice.choice(SIZES, int(dice.integers(1, len(SIZES))), replace=False)
        side[:] = [without(run, lost) for run in side]
    else:
        side[int(dice.integers(5))].end = None
    gate = judge(compare(*sides), SLOWER)
    assert not gate.passed
    assert gate.doubts


def test_sizes_that_launches_chose_themselves_may_differ() -> None:
    dice = np.random.default_rng(3)
    options = {"bytes": "auto:0:1048576"}
    sides = [launches(5, dice, between=0.02, within=0.02, options=options) for _ in "ab"]
    sides[1] = [without(run, SIZES[3:4]) for run in sides[1]]
    assert judge(compare(*sides), SLOWER).passed


def test_a_limit_allows_what_is_below_it_and_only_in_its_direction() -> None:
    found = compared(5, 1.3)
    assert [part.kind for part in judge(found, SLOWER).failed] == ["all"]
    assert judge(found, [Limit("slower", 0.5)]).passed
    assert judge(found, [Limit("faster", 0.05)]).passed
    assert judge(compared(5, 0.7), [Limit("faster", 0.05)]).failed
    assert judge(compared(1), []).passed


def test_what_is_beyond_the_limit_is_never_within_the_margin() -> None:
    """+3 % that is proved is the same within 5 %, but not for a gate at 1 %."""
    dice = np.random.default_rng(1)
    options = {"between": 0.002, "within": 0.002}
    sides = [launches(5, dice, factor=f, **options) for f in (1.0, 1.03)]
    assert {point.verdict for point in compare(*sides).points} == {"same"}
    assert judge(compare(*sides, at_most=0.01), [Limit("slower", 0.01)]).failed


def test_launches_that_differ_too_much_are_said_to_blind_it(golden: Golden) -> None:
    found = compared(3, 1.0, 0.6)
    (doubt,) = judge(found, SLOWER).doubts
    golden(doubt)


def test_points_of_a_component_below_the_limit_are_judged_by_it() -> None:
    """All is 6 % slower by proof: that single points exceed 6.5 % by chance is no doubt."""
    limit = [Limit("slower", 0.065)]
    for seed in range(20):
        found = compared(5, 1.06, 0.003, seed)
        assert [part.kind for part in found.parts] == ["all"]
        over = sum(point.ratio > 1.065 for point in found.points)
        if over and found.parts[0].difference.ratio < 1.065:
            break
    assert judge(found, limit).passed


def test_the_number_of_launches_to_measure_is_that_of_the_doubt() -> None:
    (doubt,) = judge(compared(7, 1.0, 0.6), SLOWER).doubts
    numbers = set(re.findall(r"--launches (\d+)", doubt))
    assert len(numbers) == 1
    assert int(numbers.pop()) >= 14


def test_what_the_user_insists_on_is_judged_by_its_ratios() -> None:
    dice = np.random.default_rng(1)
    sides = [launches(1, dice, factor=f, between=0, within=0.01) for f in (1.0, 1.2)]
    assert judge(compare(*sides, as_they_are=True), SLOWER).failed
    assert judge(compare(*sides, as_they_are=True), [Limit("slower", 0.5)]).passed
