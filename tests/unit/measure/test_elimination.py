"""Heats and duel by programs of known truth: what is faster is found, nothing else is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from isochrone.base.inference import speedup
from isochrone.measure.elimination import GIVEN, Duel, Timed, duel, heats

NOISE = 0.05
PAIRS = 5


def program(
    dice: np.random.Generator,
    calls: Sequence[float],
    others: Sequence[float] | None = None,
    share: float = 0.6,
    spread: float = NOISE,
) -> Callable[[str], Timed]:
    """Return a program that takes a second, of which collective calls have a share.

    ``calls`` and ``others`` are the true gains of calls and of all else, by setting.
    """
    others = others or [1.0] * len(calls)

    def start(name: str) -> Timed:
        gain, other = (1.0, 1.0) if name == GIVEN else (calls[int(name)], others[int(name)])
        noise = np.exp(spread * dice.standard_normal(2))
        within = share / gain * float(noise[0])
        return Timed(within, within + (1 - share) / other * float(noise[1]))

    return start


def kept(start: Callable[[str], Timed], ways: int) -> str | None:
    """Tune a program; return the setting that is kept."""
    winner = heats(start, [str(number) for number in range(ways)], PAIRS).winner
    if winner is None:
        return None
    found = duel(start, winner, PAIRS, 4 * PAIRS)
    assert found is not None
    return None if found.why_not else winner


def rate(wanted: str | None, times: int, *args: object, **more: object) -> float:
    """Return how often a setting is kept that is not the wanted one."""
    dice = np.random.default_rng(7)
    found = [
        kept(program(dice, *args, **more), len(args[0]))  # type: ignore[arg-type]
        for _ in range(times)
    ]
    return sum(one != wanted for one in found) / times


@pytest.mark.parametrize("ways", [1, 4])
def test_where_nothing_differs_hardly_anything_is_kept(ways: int) -> None:
    """The best of several equal settings was lucky; at most 1 of 20 may be lucky again."""
    assert rate(None, 300, [1.0] * ways) <= 0.05


def test_a_gain_of_a_fifth_is_found_among_others() -> None:
    assert rate("1", 150, [1.0, 1.2, 1.0, 0.9]) <= 0.04


def test_what_makes_the_program_slower_is_not_kept_for_its_faster_calls() -> None:
    """The calls gain 1.3, all else loses: 3 % and more of the whole program."""
    assert rate(None, 150, [1.3], [0.84], share=0.2) <= 0.05


def test_the_best_of_several_gains_wins_most_of_the_time() -> None:
    assert rate("2", 100, [1.1, 1.2, 1.6, 1.3]) <= 0.05


def test_a_setting_that_fails_drops_out_and_the_others_go_on() -> None:
    def start(name: str) -> Timed | None:
        return {GIVEN: Timed(2.0, 3.0), "bad": None, "good": Timed(1.0, 2.0)}[name]

    found = heats(start, ["bad", "good"], PAIRS)
    assert (found.winner, found.dropped) == ("good", {"bad": "it failed"})
    assert duel(start, "bad", 3, 3) is None


def test_no_pairs_are_spent_on_what_was_slower_whenever_it_was_tried() -> None:
    def start(name: str) -> Timed:
        return Timed(1.0, 2.0) if name == GIVEN else Timed(1.1, 2.1)

    assert heats(start, ["a", "b"], PAIRS).winner is None


def test_equal_settings_stay_until_the_heats_end_and_the_winner_is_one_of_them() -> None:
    started: list[str] = []

    def start(name: str) -> Timed:
        started.append(name)
        return Timed(2.0 if name == GIVEN else 1.0, 3.0)

    found = heats(start, list("ab"), PAIRS)
    assert len(started) == 3 * PAIRS
    assert found.winner == "a"
    assert list(found.dropped) == ["b"]
    gain = found.gain("b")
    assert gain is not None
    assert (gain.ratio, gain.low, gain.high) == pytest.approx((2, 2, 2))


@pytest.mark.parametrize("spread", [0.2, 0.4])
def test_on_a_noisy_machine_a_large_gain_is_not_dropped(spread: float) -> None:
    """A start with bad luck is not the end: other settings with small gains do not win."""
    dice = np.random.default_rng(3)
    won = [
        heats(program(dice, [1.1, 3.0, 0.9], spread=spread), list("012"), PAIRS).winner
        for _ in range(150)
    ]
    assert won.count("1") >= 147


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.2, 0.4])
def test_on_a_noisy_machine_equal_settings_are_not_kept(spread: float) -> None:
    assert rate(None, 150, [1.0, 1.0, 1.0], spread=spread) <= 0.05


@pytest.mark.parametrize(
    ("calls", "whole", "verdict", "said"),
    [
        ([0.5, 0.5, 0.51], [0.9, 0.9, 0.9], "faster", ""),
        ([0.9, 0.9, 0.9], [0.955, 0.985, 0.97], "faster", ""),
        ([0.9, 0.9, 0.9], [0.98, 0.985, 0.99], "same", "the whole program: as long"),
        ([1.2, 1.21, 1.2], [1.1, 1.1, 1.1], "slower", "the collective calls: slower"),
        ([1.0, 1.01, 0.99], [1.0, 1.0, 1.0], "same", "the collective calls: equal within 5 %"),
        ([0.5, 1.4, 1.0], [1.0, 1.0, 1.0], "not known", "--launches 20"),
        ([0.5, 0.5, 0.51], [1.1, 1.1, 1.1], "slower", "the whole program: slower"),
        ([0.5, 0.5, 0.51], [0.8, 1.3, 1.0], "not known", "the whole program: not known"),
    ],
)
def test_a_verdict_has_one_of_four_words(
    calls: list[float], whole: list[float], verdict: str, said: str
) -> None:
    """Times with the setting; with the given ones all are 1 s."""
    given = [1.0, 1.0, 1.0]
    found = Duel([Timed(1, 1)] * 3, [], speedup(given, calls), speedup(given, whole))
    assert found.verdict == verdict
    assert said in found.why_not
    assert bool(found.why_not) == (verdict != "faster")


def test_pairs_take_turns_in_who_comes_first() -> None:
    started: list[str] = []

    def start(name: str) -> Timed:
        started.append(name)
        return Timed(1.0, 1.0)

    duel(start, "a", 4, 4)
    assert started == [GIVEN, "a", "a", GIVEN, GIVEN, "a", "a", GIVEN]
