"""Descriptions hold all that a program did: computation, messages and operations, none dropped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isochrone.applications.description.actions import Actions, actions
from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import parse
from isochrone.applications.results.recording import operations, rank_times, trace
from isochrone.applications.traces.deriving import describe
from isochrone.applications.traces.trace import Event, Trace
from isochrone.base.errors import InputError
from isochrone.base.units import parse_seconds
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

RECORDINGS = Path(__file__).parents[2] / "corpus/recordings"


def recorded(name: str) -> Run:
    return read(RECORDINGS / f"{name}.jsonl")


def done(document: dict[str, Any]) -> Actions:
    """Return what the ranks of a description do."""
    return actions(program(parse(document, "test")))


def computed(does: Actions, rank: int) -> float:
    return sum(action.amount for action in does.of(rank) if action.op == "compute")


@pytest.mark.parametrize("name", ["rare", "worst", "drift", "two", "icoll", "stencil-8"])
def test_all_computation_and_all_operations_are_kept(name: str) -> None:
    """Operations of every tenth step, work behind a nonblocking one, work that grows."""
    run = recorded(name)
    does = done(describe(trace(run))[0])
    for rank, times in enumerate(rank_times(run)):
        assert computed(does, rank) == pytest.approx(times.computation, rel=0.02, abs=3e-4)
    calls = Counter(action.op for action in does.of(0))
    for one in operations(run):
        if one.op not in ("wait", "waitall", "isend", "irecv", "communicator"):
            assert calls[one.op.removeprefix("i")] == one.calls / run.size, one.op


def test_a_farm_keeps_its_tasks_and_what_they_compute() -> None:
    """1,000 tasks of seven workers, each given to who is done first."""
    run = recorded("farm-8")
    phases = describe(trace(run))[0]["apps"][0]["phases"]
    (farm,) = (phase["exchange"] for phase in phases if "exchange" in phase)
    assert (farm["flow"], farm["tasks"], farm["bytes"], farm["reply"]) == (
        "farm",
        1000,
        16384,
        1024,
    )
    times = farm["compute"]["time"]["empirical"]
    total = sum(parse_seconds(time) * count for time, count in times.items())
    whole = sum(one.computation for one in rank_times(run)[1:])
    assert total == pytest.approx(whole, rel=0.03)


def test_what_is_done_every_tenth_step_is_a_repeat_within_a_repeat() -> None:
    phases = describe(trace(recorded("worst")))[0]["apps"][0]["phases"]
    (outer,) = (phase["repeat"] for phase in phases if "repeat" in phase)
    (inner,) = (phase["repeat"] for phase in outer["phases"] if "repeat" in phase)
    assert (outer["times"], inner["times"]) == (40, 10)
    assert {"alltoall": {"bytes": 2 * 2**20}} in outer["phases"]


@pytest.mark.parametrize(("name", "seconds"), [("two", 0.2105), ("drift", 0.0507)])
def test_ranks_that_compute_longer_together_do_not_wait_for_each_other(
    name: str, seconds: float
) -> None:
    """The slowest rank of each step takes what all take: no maximum of independent draws."""
    does = done(describe(trace(recorded(name)))[0])
    each = [[a.amount for a in does.of(rank) if a.op == "compute"] for rank in range(4)]
    assert np.max(each, axis=0).sum() == pytest.approx(seconds, rel=0.03)


def test_ranks_that_draw_for_themselves_have_a_distribution() -> None:
    """Then the slowest rank of a step takes longer than the mean."""
    dice = np.random.default_rng(3)
    ranks = [
        [Event("allreduce", bytes=8.0, gap=float(g)) for g in dice.exponential(1e-3, 400)]
        for _ in range(8)
    ]
    (phase, _) = describe(Trace(ranks, [tuple(range(8))]))[0]["apps"][0]["phases"]
    assert "empirical" in phase["compute"]["time"]
    assert "schedule" not in phase["compute"]


def test_a_schedule_has_the_order_of_the_turns() -> None:
    """The first of five steps computes nothing; that is the same on all ranks."""
    steps = [Event("allreduce", bytes=8.0, gap=1e-3 if k else 1e-6) for k in range(5)]
    calls = [*steps, Event("barrier")] * 30
    phases = describe(Trace([list(calls)] * 4, [(0, 1, 2, 3)]))[0]["apps"][0]["phases"]
    schedule = phases[0]["repeat"]["phases"][0]["compute"]["schedule"]
    assert schedule == pytest.approx([0.00125, *[1.2497] * 4], rel=0.01)


def test_what_has_no_place_in_a_description_is_named() -> None:
    with pytest.raises(InputError, match="neighbor_alltoall"):
        describe(trace(recorded("mix")))


def test_next_to_nothing_may_be_omitted_and_its_share_is_kept() -> None:
    calls = [Event("allreduce", bytes=8.0, gap=1e-3)] * 50
    seen = Trace([list(calls)] * 2, [(0, 1)], omitted={"file": 5e-5})
    document, _ = describe(seen)
    assert document["apps"][0]["omitted"] == pytest.approx(5e-4, rel=0.01)
    parse(document, "test")


def farm(workers: int, tasks: int) -> list[list[Event]]:
    """Return the calls of a farm whose workers take different numbers of tasks."""
    dice = np.random.default_rng(8)
    ranks: list[list[Event]] = [[] for _ in range(workers + 1)]

    def hand_out(worker: int, size: float) -> None:
        ranks[0].append(Event("send", worker, size))
        ranks[worker].append(Event("recv", 0, size))

    for worker in range(1, workers + 1):
        hand_out(worker, 16384.0)
    for task in range(tasks):
        worker = (
            int(dice.integers(1, workers + 1)) if task < tasks - workers else task % workers + 1
        )
        ranks[worker].append(Event("send", 0, 1024.0, gap=float(dice.uniform(1e-3, 3e-3))))
        ranks[0].append(Event("recv", worker, 1024.0, any=True))
        hand_out(worker, 16384.0)
    for worker in range(1, workers + 1):
        if ranks[worker][-1].op == "recv":  # told that no task is left
            ranks[worker][-1] = Event("recv", 0, 0.0)
    return [[*events, Event("barrier")] for events in ranks]


def test_a_farm_is_recognised_by_its_receives_from_any_source() -> None:
    found, _ = describe(Trace(farm(7, 200), [tuple(range(8))]))
    exchange = next(p["exchange"] for p in found["apps"][0]["phases"] if "exchange" in p)
    assert (exchange["topology"], exchange["flow"], exchange["tasks"]) == ("task-farm", "farm", 200)
    assert exchange["reply"] == 1024
    does = done(found)
    total = sum(computed(does, rank) for rank in range(8))
    assert total == pytest.approx(200 * 2e-3, rel=0.1)
