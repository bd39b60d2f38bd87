"""What an arithmetic operation costs, from the times of all ranks."""

from __future__ import annotations

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.runfile.rules import check
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves
from isochrone.sweep.switches import switches
from made_up.sweeps import run_of

T_OP = 0.4e-9
SIZES = [8 << k for k in range(9, 21)]


def computing(times: dict[int, list[list[float]]], operations: float | None = None) -> Run:
    """Make a run of ``compute``: for each size the times of the ranks in each sample."""
    ranks = len(next(iter(times.values()))[0])
    rows = [
        {
            "op": "dot",
            "p": ranks,
            "bytes": nbytes,
            "repeat": repeat,
            "seconds": max(each),
            "times": each,
            "operations": 2 * nbytes // 8 if operations is None else operations,
        }
        for nbytes, samples in times.items()
        for repeat, each in enumerate(samples)
    ]
    run = run_of("compute", ranks, 2, {"sample": rows}, {}, "computing, slowest rank")
    run.header |= {"kind": "sweep", "by": ["op", "p"]}
    return run


def test_a_rank_that_is_disturbed_now_and_then_does_not_count() -> None:
    """Each of two ranks is late in two of five samples: the slowest of a sample nearly always is.

    A program that waits for the slowest in each iteration would be predicted too slow by half.
    """
    exact = 2048 * T_OP
    late = 1.5 * exact
    samples = [[late, exact], [exact, late], [exact, exact], [late, exact], [exact, late]]
    (curve,) = curves(computing({8192: samples}))
    assert curve.points[0].median == pytest.approx(late)
    assert curve.points[0].t_op == pytest.approx(T_OP)


def test_a_rank_that_is_always_slow_does_count() -> None:
    exact = 2048 * T_OP
    (curve,) = curves(computing({8192: [[exact, 1.2 * exact, exact]] * 7}))
    assert curve.points[0].t_op == pytest.approx(1.2 * T_OP)
    assert plain(curve.points[0])["t_op"] == curve.points[0].t_op


def test_the_end_of_a_cache_is_no_protocol_switch() -> None:
    """The same times of messages are one."""
    dice = np.random.default_rng(7)
    times = {
        nbytes: [
            [2 * nbytes / 8 * (T_OP if nbytes < 2**18 else 3 * T_OP) * dice.lognormal(0, 0.01)]
            for _ in range(20)
        ]
        for nbytes in SIZES
    }
    (curve,) = curves(computing(times))
    assert switches(curve) == []
    messages = computing(times)
    del messages.tables["sample"].columns["operations"]
    (curve,) = curves(messages)
    assert curve.points[0].t_op is None
    assert "t_op" not in plain(curve.points[0])
    assert switches(curve)


@pytest.mark.parametrize("operations", [-1, 0.5, 1e19])
def test_a_number_of_operations_that_cannot_be_is_refused(
    operations: float, golden: Golden
) -> None:
    with golden.refusal():
        check(computing({8192: [[1e-6]] * 3}, operations))


def test_no_operations_cost_nothing_known() -> None:
    (curve,) = curves(computing({8192: [[1e-6]] * 3}, 0))
    assert curve.points[0].t_op is None
