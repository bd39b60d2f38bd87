"""The overlap of an operation and a computation, from the times of both."""

from __future__ import annotations

from typing import Any

import pytest

from isochrone.runfile.run import Run
from isochrone.sweep.curves import Point, curves
from made_up.sweeps import run_of


def beside(samples: list[dict[str, float]], **more: Any) -> Run:
    """Make a run of a nonblocking operation at one size."""
    rows = [
        {"op": "iallreduce", "p": 2, "bytes": 8, "repeat": k, "pass": k, **sample, **more}
        for k, sample in enumerate(samples)
    ]
    run = run_of("collective", 2, 2, {"sample": rows}, {}, "operation, slowest rank")
    run.header |= {"kind": "sweep", "by": ["op", "p"]}
    return run


def point(samples: list[dict[str, float]], **more: Any) -> Point:
    return curves(beside(samples, **more))[0].points[0]


CASES = {
    # seconds, compute, overall, overlap
    "as OSU has it": (10e-6, 10e-6, 14e-6, 0.6),
    "a longer computation": (10e-6, 40e-6, 44e-6, 0.6),
    "a shorter computation hides at most itself": (10e-6, 5e-6, 10e-6, 1.0),
    "half of a shorter computation": (10e-6, 5e-6, 12.5e-6, 0.5),
    "slower beside it than after it": (10e-6, 10e-6, 25e-6, 0.0),
    "faster than both": (10e-6, 10e-6, 9e-6, 1.0),
}


@pytest.mark.parametrize("name", CASES)
def test_the_overlap_is_the_hidden_part_of_the_shorter(name: str) -> None:
    """That of IMB, and where the computation is long enough, of OSU; it is never below 0."""
    seconds, compute, overall, truth = CASES[name]
    found = point([{"seconds": seconds, "compute": compute, "overall": overall}])
    assert found.overlap == pytest.approx(truth)
    assert (found.overlap_low, found.overlap_high) == (None, None)


def test_the_interval_covers_the_spread_of_both_times() -> None:
    """1 - exposed / pure: 2 to 6 of 9 to 11 µs; the ends that are the least favourable."""
    pure = [9, 9, 10, 10, 10, 10, 10, 11, 11]
    exposed = [2, 2, 4, 4, 4, 4, 4, 6, 6]
    samples = [
        {
            "seconds": 1e-6 * p,
            "compute": 20e-6,
            "overall": 20e-6 + 1e-6 * e,
            "post": 1e-6,
            "complete": 2e-6,
        }
        for p, e in zip(pure, exposed, strict=True)
    ]
    found = point(samples)
    assert found.overlap == pytest.approx(0.6)
    assert found.overlap_low == pytest.approx(1 - 6 / 9)
    assert found.overlap_high == pytest.approx(1 - 2 / 11)
    assert (found.post, found.complete) == (pytest.approx(1e-6), pytest.approx(2e-6))


def test_a_blocking_operation_has_no_overlap() -> None:
    found = point([{"seconds": 10e-6}])
    assert (found.overlap, found.post, found.complete, found.hidden) == (None,) * 4
