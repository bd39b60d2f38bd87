"""Intervals over launches hold what they promise, and are refused where there are none."""

from __future__ import annotations

import json

import numpy as np
import pytest

from isochrone.base.errors import InputError
from isochrone.results.launches import over_launches, pool
from isochrone.results.sweep.curves import curves
from isochrone.runfile.run import Run
from made_up.latency_maps import block, map_of, noisy, tree
from made_up.launches import SIZES, launches

TRUTH = 1e-6 + np.array(SIZES) / 5e9
DRAWS = 400


def starts(number: int, seed: int) -> list[Run]:
    """Launches that differ by 10 %, with repetitions that differ by 10 %."""
    return launches(number, np.random.default_rng(seed), between=0.1 / np.sqrt(2), rho=0.0)


@pytest.mark.parametrize("number", [3, 5])
def test_the_interval_of_the_typical_time_holds_the_truth_in_95_of_100(number: int) -> None:
    """The sizes of a launch share a part of their luck, so draws are what is counted."""
    held = []
    for seed in range(DRAWS):
        found = pool(starts(number, seed)).points
        held.append(np.mean((found.low <= TRUTH) & (found.high >= TRUTH)))
    assert 0.92 <= np.mean(held) <= 0.98


def test_the_interval_of_one_launch_holds_the_truth_far_less() -> None:
    """However many repetitions it has: this is what launches are pooled for."""
    held = []
    for seed in range(DRAWS):
        (curve,) = curves(starts(1, seed)[0])
        held.append(np.mean((curve.column("low") <= TRUTH) & (curve.column("high") >= TRUTH)))
    assert np.mean(held) < 0.6


def test_repetitions_of_all_launches_thrown_together_hold_the_truth_far_less() -> None:
    """Twelve repetitions of one launch are no twelve observations of the machine."""
    held = []
    for seed in range(DRAWS):
        together = starts(5, seed)
        seconds = np.concatenate([run.tables["sample"]["seconds"] for run in together])
        logs = np.log(seconds.reshape(-1, len(SIZES)))
        found = over_launches([{} for _ in SIZES], logs)
        held.append(np.mean((found.low <= TRUTH) & (found.high >= TRUTH)))
    assert np.mean(held) < 0.7


def test_the_interval_for_the_next_start_holds_it_in_95_of_100() -> None:
    """And that of the typical time does not: it gets ever narrower, the next start does not."""
    held, typical = [], []
    for seed in range(DRAWS):
        *before, coming = starts(6, seed)
        (curve,) = curves(coming)
        found, median = pool(before).points, curve.column("median")
        held.append(np.mean((found.next_low <= median) & (median <= found.next_high)))
        typical.append(np.mean((found.low <= median) & (median <= found.high)))
    assert 0.92 <= np.mean(held) <= 0.98
    assert np.mean(typical) < 0.8


def test_the_formula_is_that_of_student() -> None:
    """Worked by hand: logarithms 0, 1 and 2 have mean 1 and s = 1; t of two degrees is 4.3027."""
    found = over_launches([{}], np.array([[0.0], [1.0], [2.0]]))
    assert np.log(found.seconds) == pytest.approx(1.0)
    assert found.spread == pytest.approx(1.0)
    assert np.log(found.low) == pytest.approx(1 - 4.30265 / np.sqrt(3), abs=1e-4)
    assert np.log(found.high) == pytest.approx(1 + 4.30265 / np.sqrt(3), abs=1e-4)
    assert np.log(found.next_high) == pytest.approx(1 + 4.30265 * np.sqrt(4 / 3), abs=1e-4)


def test_a_point_that_one_launch_has_is_shown_without_an_interval() -> None:
    """A launch that was ended early counts where it measured."""
    dice = np.random.default_rng(1)
    runs = launches(3, dice, sizes=(8, 64)) + launches(1, dice, sizes=(8, 512))
    found = json.loads(json.dumps(pool(runs).to_json()))
    assert [(point["key"]["bytes"], point["n"]) for point in found["points"]] == [
        (8, 4), (64, 3), (512, 1),
    ]  # fmt: skip
    last = found["points"][2]
    assert last["seconds"] > 0
    assert [last[key] for key in ("low", "high", "next_low", "next_high", "spread")] == [None] * 5


def test_launches_beyond_all_bounds_make_no_numbers_that_json_lacks() -> None:
    found = over_launches([{}], np.log(np.array([[1e-300], [1e3]])))
    assert json.dumps(found.to_json(), allow_nan=False)


def test_a_script_finds_these_keys() -> None:
    found = pool(starts(5, 1)).to_json()
    assert (found["experiment"], found["kind"]) == ("point-to-point", "sweep")
    assert (found["launches"], found["unit"]) == (5, "launch")
    assert set(found["points"][0]) == {
        "key", "n", "seconds", "low", "high", "next_low", "next_high", "spread",
    }  # fmt: skip
    assert found["points"][0]["key"] == {"i": 0, "j": 1, "bytes": 8}
    assert [p["key"]["bytes"] for p in pool(starts(5, 1), 512).to_json()["points"]] == [512]


def test_what_is_no_launch_of_one_thing_is_refused() -> None:
    dice = np.random.default_rng(1)
    with pytest.raises(InputError, match="one launch has no interval over launches"):
        pool(launches(1, dice))
    for other, what in (
        (launches(1, dice, ranks=4), "number of ranks is 2 in one and 4"),
        (launches(1, dice, experiment="collective"), "experiment is point-to-point in one"),
        (launches(1, dice, seconds_are="one way"), "definition of the times"),
    ):
        with pytest.raises(InputError, match=what):
            pool([*launches(2, dice), *other])
    with pytest.raises(InputError, match=r"nothing was measured with 7 bytes .*there are: 8, 32"):
        pool(launches(2, dice), 7)


def test_pairs_of_maps_and_their_levels_have_launches_as_their_unit() -> None:
    """Two nodes of four ranks, 1 and 4 µs: each start takes a factor of its own."""
    times = tree([4, 2], [1, 4])
    factors = (1.0, 1.1, 0.9, 1.05, 0.95)
    runs = [map_of(noisy(f * times, 0.01, k), block(2, 4)) for k, f in enumerate(factors)]
    found = pool(runs)
    assert len(found.points.keys) == 28
    assert found.points.keys[0].keys() >= {"i", "j", "bytes"}
    assert set(found.points.n.tolist()) == {5}
    assert [key["level"].split()[1] for key in found.levels.keys] == ["0", "1"]
    assert found.levels.seconds[1] / found.levels.seconds[0] == pytest.approx(
        times[0, 4] / times[0, 1], rel=0.05
    )
    assert found.levels.spread == pytest.approx(np.std(np.log(factors), ddof=1), rel=0.2)


def test_a_level_of_many_pairs_is_as_uncertain_as_its_launches() -> None:
    """Its pairs share the luck of the launch: their number narrows nothing."""
    factors = (1.0, 1.2, 0.8)
    few, many = (
        pool([map_of(noisy(f * tree([n, 2], [1, 4]), 0.01, k), block(2, n))
              for k, f in enumerate(factors)]).levels
        for n in (2, 8)
    )  # fmt: skip
    assert (many.high / many.low)[-1] == pytest.approx((few.high / few.low)[-1], rel=0.1)
