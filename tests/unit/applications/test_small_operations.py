"""What no model predicts, and what is small, ends no prediction."""

from __future__ import annotations

import pytest

from isochrone.applications.predict.scaling import scale
from isochrone.applications.thresholds import MAX_LEFT_OUT_SHARE
from isochrone.applications.traces.generalizing import generalized
from isochrone.applications.traces.small import recorded_operations, to_skip
from isochrone.applications.traces.structure import structure
from isochrone.applications.traces.trace import Event, Trace
from isochrone.base.errors import InputError
from made_up.applications import collectives


def traced(ranks: int, share: float) -> Trace:
    """Return 100 allreduces with computation, and a barrier of a share of the time."""
    step = Event("allreduce", bytes=8, gap=1e-4, seconds=1e-5)
    calls = [step] * 100
    barrier = Event("barrier", gap=0.0, seconds=share / (1 - share) * 100 * 1.1e-4)
    return Trace([[*calls, barrier] for _ in range(ranks)], [tuple(range(ranks))])


@pytest.mark.parametrize("share", [0.0001, 0.2])
def test_an_operation_without_a_model_is_as_long_as_it_was_recorded(share: float) -> None:
    """From nothing to twice as long; the square root of four times the ranks is two."""
    traces = [traced(ranks, share) for ranks in (4, 8, 16)]
    found = scale(traces, [64], [collectives(allreduce=(10e-6, 0.0))])
    (prediction,) = found.predictions
    known, barrier = 100 * 1.1e-4, 100 * 1.1e-4 * share / (1 - share)
    assert prediction.seconds == pytest.approx(known + 2 * barrier, rel=0.02)
    assert prediction.low < known + barrier / 2
    assert prediction.high > known + 3.5 * barrier
    (app,) = found.described["apps"]
    assert set(app["bounded"]) == {"allreduce", "barrier"}
    assert sum("barrier" in text for text in found.warnings) == 1
    whole = scale(traces, [64], [collectives(allreduce=(10e-6, 0.0), barrier=(1e-6, 0.0))])
    assert not any("barrier" in text for text in whole.warnings), "a model is preferred"


def test_waiting_for_a_late_rank_is_not_the_time_of_an_operation() -> None:
    """The rank that comes last waits least."""
    calls = [[Event("barrier", seconds=seconds)] for seconds in (9e-6, 5e-6, 7e-6, 2e-6)]
    trace = Trace(calls, [(0, 1, 2, 3)])
    assert recorded_operations(trace) == {"barrier": "2us*sqrt(p/4)"}


def with_end(ranks: int, more: int, share: float) -> Trace:
    """Return 100 allreduces, and some exchanges at the end, which take a share of the time."""
    step = Event("allreduce", bytes=8, gap=1e-4, seconds=1e-5)
    wait = Event("wait", seconds=share / (1 - share) * 100 * 1.1e-4 / more)
    found = []
    for rank in range(ranks):
        calls = [step] * 100
        for k in range(more):
            size = 8.0 * (k + 1)
            calls += [Event("isend", rank ^ 1, size), Event("irecv", rank ^ 1, size), wait]
        found.append([*calls, Event("barrier")])
    return Trace(found, [tuple(range(ranks))])


@pytest.mark.parametrize(
    ("share", "left_out"), [(1.4 * MAX_LEFT_OUT_SHARE, True), (1.6 * MAX_LEFT_OUT_SHARE, False)]
)
def test_a_small_part_that_follows_no_rule_is_left_out(share: float, left_out: bool) -> None:
    """Two of three exchanges on 16 ranks are not there on 8, which have no side of one rank."""
    structures = [structure(with_end(p, more, share)) for p, more in ((8, 1), (16, 3), (32, 2))]
    if not left_out:
        with pytest.raises(InputError, match="position 3"):
            generalized(structures, "x")
        return
    general = generalized(structures, "x")
    (app,) = general.document["apps"]
    assert {key for phase in app["phases"] for key in phase} == {"repeat", "exchange", "barrier"}
    assert app["omitted"] == pytest.approx(share * 2 / 3, rel=0.01)
    assert any("left out" in text for text in general.warnings)


def test_as_little_as_possible_is_skipped() -> None:
    assert to_skip([["a", "b", "c"], ["b", "c"], ["c", "b"]]) == [1, 0, 1]
    assert to_skip([["a"], ["b", "c"], []]) == [1, 2, 0]
