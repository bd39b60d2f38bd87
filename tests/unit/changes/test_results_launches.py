"""Intervals over launches hold what they promise, and are refused where there are none."""

from __future__ import annotations

import json

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.base.errors import InputError
from isochrone.changes.launches import over_launches, pool
from isochrone.runfile.run import Run
from made_up.latency_maps import block, map_of, noisy, tree
from made_up.launches import launches


def starts(number: int, seed: int) -> list[Run]:
    """Launches that differ by 10 %, with repetitions that differ by 10 %."""
    return launches(number, np.random.default_rng(seed), between=0.1 / np.sqrt(2), rho=0.0)


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
    found = json.loads(json.dumps(plain(pool(runs))))
    assert [(point["key"]["bytes"], point["n"]) for point in found["points"]] == [
        (8, 4),
        (64, 3),
        (512, 1),
    ]
    last = found["points"][2]
    assert last["seconds"] > 0
    assert [last[key] for key in ("low", "high", "next_low", "next_high", "spread")] == [None] * 5


def test_launches_beyond_all_bounds_make_no_numbers_that_json_lacks() -> None:
    found = over_launches([{}], np.log(np.array([[1e-300], [1e3]])))
    assert json.dumps(plain(found), allow_nan=False)


def test_a_script_finds_these_keys() -> None:
    found = plain(pool(starts(5, 1)))
    assert (found["experiment"], found["kind"]) == ("point-to-point", "sweep")
    assert (found["launches"], found["unit"]) == (5, "launch")
    assert set(found["points"][0]) == {
        "key",
        "n",
        "seconds",
        "low",
        "high",
        "next_low",
        "next_high",
        "spread",
    }
    assert found["points"][0]["key"] == {"i": 0, "j": 1, "bytes": 8}
    assert [p["key"]["bytes"] for p in plain(pool(starts(5, 1), 512))["points"]] == [512]


def test_what_is_no_launch_of_one_thing_is_refused(golden: Golden) -> None:
    dice = np.random.default_rng(1)
    with golden.refusal():
        pool(launches(1, dice))
    for other, what in (
        (launches(1, dice, ranks=4), "number of ranks is 2 in one run and 4"),
        (launches(1, dice, experiment="collective"), "experiment is point-to-point in one"),
        (launches(1, dice, seconds_are="one way"), "definition of the times"),
    ):
        with pytest.raises(InputError, match=what):
            pool([*launches(2, dice), *other])
    with golden.refusal():
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
        pool(
            [
                map_of(noisy(f * tree([n, 2], [1, 4]), 0.01, k), block(2, n))
                for k, f in enumerate(factors)
            ]
        ).levels
        for n in (2, 8)
    )
    assert (many.high / many.low)[-1] == pytest.approx((few.high / few.low)[-1], rel=0.1)
