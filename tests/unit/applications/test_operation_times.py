"""What a collective operation of an application costs: its own times, or those of another one."""

from __future__ import annotations

import pytest

from isochrone.applications.predict.operation_times import OperationTimes
from isochrone.base.errors import InputError
from made_up.applications import collectives

GATHER, GATHERV = (10e-6, 1e-6), (30e-6, 2e-6)


def test_a_measured_gatherv_is_used() -> None:
    times = OperationTimes([collectives(gather=GATHER, gatherv=GATHERV)])
    assert times.times("gatherv", 64.0, "", None, 8)[0] == pytest.approx(46e-6)
    assert times.largest("gatherv") == 64
    assert not times.warnings


def test_without_one_it_is_a_gather_and_that_is_said_once() -> None:
    times = OperationTimes([collectives(gather=GATHER)])
    for _ in range(2):
        assert times.times("gatherv", 64.0, "", None, 8)[0] == pytest.approx(18e-6)
    assert times.largest("gatherv") == 64
    assert len(times.warnings) == 1


@pytest.mark.parametrize("op", ["gather", "alltoallv", "neighbor_allgatherv"])
def test_nothing_else_stands_for_an_operation(op: str) -> None:
    with pytest.raises(InputError):
        OperationTimes([collectives(gatherv=GATHERV)]).times(op, 64.0, "", None, 8)
