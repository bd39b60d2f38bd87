"""Descriptions derived from what programs were seen to do, against those they were made from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Compute, Program, Serve
from isochrone.applications.description.reading import parse
from isochrone.applications.traces.deriving import describe
from isochrone.applications.traces.trace import Calls, Event, Trace
from isochrone.base.errors import InputError
from isochrone.base.units import parse_seconds
from made_up.programs_run import Seen

Phases = list[dict[str, Any]]
ITERATIONS = 60


def document(phases: Phases, ranks: int = 8, iterations: int = ITERATIONS) -> dict[str, Any]:
    app = {"name": "x", "ranks": ranks, "iterations": iterations, "phases": phases}
    return {"isochrone": "app/1", "apps": [app]}


def worked_out(written: dict[str, Any]) -> Program:
    return program(parse(written, "test"))


def seen(phases: Phases, ranks: int = 8, noise: float = 0.0) -> tuple[Phases, list[str]]:
    """Return the phases that are derived from a program of these phases, and warnings."""
    found, warnings = describe(Seen(worked_out(document(phases, ranks)), noise=noise).trace())
    (app,) = found["apps"]
    assert app["iterations"] == ITERATIONS
    assert app["ranks"] == ranks
    worked_out(found)  # it is a description that can be read
    return app["phases"], warnings


def us(time: str) -> float:
    """Return a time in µs."""
    return parse_seconds(time) * 1e6


def kinds(phases: Phases) -> list[str]:
    return [next(iter(phase)) for phase in phases]


HALO = {"halo": {"shape": [2, 4], "periodic": False}}


CASES = [
    (HALO, "exchange"),
    ({"halo": {"shape": [2, 2, 2], "periodic": True}}, "exchange"),
    ({"halo": {"shape": [8], "periodic": True}}, "exchange"),
    ("all-to-all", "exchange"),
    ("pipeline", "stream"),
    ("token-ring", "token"),
    ("client-server", "request"),
    ({"edges": [[0, 3], [3, 5], [5, 0], [1, 2]]}, "exchange"),
    (HALO, "stream"),
    ({"edges": [[0, 1], [0, 2], [1, 3], [2, 3], [3, 4], [3, 6]]}, "stream"),
]


@pytest.mark.slow
def test_a_topology_is_recognised_by_its_edges(subtests: pytest.Subtests) -> None:
    """With its flow, which follows from the order of the calls, and its size."""
    for topology, flow in CASES:
        with subtests.test(str((topology, flow))):
            exchange = {"topology": topology, "flow": flow, "bytes": 1000}
            phases, warnings = seen([{"compute": "1ms"}, {"exchange": exchange}, {"barrier": {}}])
            assert kinds(phases) == ["compute", "exchange", "barrier"]
            found = phases[1]["exchange"]
            assert (found["flow"], found["bytes"]) == (flow, 1000)
            if isinstance(topology, dict) and "edges" in topology:
                assert sorted(found["topology"]["edges"]) == sorted(topology["edges"])
            else:
                assert found["topology"] == topology
            assert warnings == []


def test_jacobi_comes_back_as_it_was_written() -> None:
    """Equation 1 of Kühnemann, Rauber and Rünger: compute, then an allgather."""
    phases, _ = seen([{"compute": "157us"}, {"allgather": {"bytes": 512}}], 16)
    assert kinds(phases) == ["compute", "allgather"]
    assert phases[1] == {"allgather": {"bytes": 512}}
    assert us(phases[0]["compute"]) == pytest.approx(157, rel=0.01)


@pytest.mark.parametrize("topology", ["pipeline", "token-ring"])
def test_computation_before_an_exchange_and_within_it_are_told_apart(topology: str) -> None:
    """Also of the rank that only sends or begins, which makes no call between the two."""
    written = [
        {"compute": "1ms"},
        {"exchange": {"topology": topology, "bytes": 64, "compute": "100us"}},
    ]
    phases, _ = seen(written)
    assert kinds(phases) == ["compute", "exchange"]
    assert us(phases[0]["compute"]) == pytest.approx(1000, rel=0.01)
    assert us(phases[1]["exchange"]["compute"]) == pytest.approx(100, rel=0.01)


def test_computation_while_messages_are_on_their_way_stays_there() -> None:
    """It overlaps with them: before them it would add to their time."""
    phases, _ = seen([{"exchange": {"topology": HALO, "bytes": 64, "compute": "200us"}}])
    assert kinds(phases) == ["exchange"]
    assert us(phases[0]["exchange"]["compute"]) == pytest.approx(200, rel=0.01)


def test_what_a_rank_repeats_twice_in_an_iteration_keeps_two_computations() -> None:
    """Ranks in the middle of two pipelines only see one call after the other, all alike."""
    pipeline = {"exchange": {"topology": "pipeline", "bytes": 64}}
    phases = [{"compute": "1ms"}, pipeline, {"compute": "100us"}, pipeline]
    found, _ = describe(Seen(worked_out(document(phases, 8))).trace())
    (app,) = found["apps"]
    assert app["iterations"] == 2 * ITERATIONS
    first, second = app["phases"][0]["compute"]["schedule"]
    assert first == pytest.approx(10 * second, rel=0.01)


def test_ranks_that_take_longer_are_named_with_their_factor() -> None:
    """Two groups of ranks are an imbalance, not a distribution with two humps."""
    imbalance = {"2": 0.01, "3": 0.01}
    phases, _ = seen([{"compute": {"time": "24ms", "imbalance": imbalance}}, {"barrier": {}}], 4)
    found = phases[0]["compute"]
    ratios = [found["imbalance"].get(str(rank), 1.0) for rank in range(4)]
    assert ratios[0] == ratios[1]
    assert ratios[2] / ratios[0] == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize(
    ("spread", "name"),
    [
        ({"exponential": {"mean": "300us"}}, "empirical"),
        ({"lognormal": {"median": "300us", "sigma": 0.5}}, "lognormal"),
        ({"normal": {"mean": "300us", "stddev": "60us"}}, "lognormal"),
    ],
)
def test_a_distribution_is_lognormal_or_what_was_seen(spread: dict[str, Any], name: str) -> None:
    """With 480 gaps of eight ranks; a normal one with few zeros is as good as lognormal."""
    phases, _ = seen([{"compute": {"time": spread}}, {"barrier": {}}])
    found = phases[0]["compute"]["time"]
    assert found.keys() == {name}


def test_computation_before_collectives_of_parts_is_that_of_all_parts() -> None:
    """Parts that do the same at the same time are one phase, and so is what they compute before."""
    among = [[0, 1, 2, 3], [4, 5, 6, 7]]
    phases, _ = seen([{"compute": "300us"}, {"alltoall": {"bytes": 64, "among": among}}])
    assert kinds(phases) == ["compute", "alltoall"]
    assert us(phases[0]["compute"]) == pytest.approx(300, rel=0.01)


def sweep(rank: int, iterations: int = 10, blocks: int = 5) -> list[Event]:
    """Return what a rank of a 2x2 grid does that sweeps over it from two corners and back.

    Ranks 0 and 1 compute 24 ms for each block, the others a quarter of a millisecond.
    """
    found = []
    x, y = rank % 2, rank // 2
    for _ in range(iterations):
        for dx, dy in ((1, 1), (-1, -1)):
            before = [(x - dx, y), (x, y - dy)]
            after = [(x + dx, y), (x, y + dy)]
            for _ in range(blocks):
                inside = [
                    [a + 2 * b for a, b in side if 0 <= a < 2 and 0 <= b < 2]
                    for side in (before, after)
                ]
                found += [Event("recv", peer, 36000.0, gap=1e-6) for peer in inside[0]]
                gap = 24e-3 if rank < 2 else 25e-5
                for peer in inside[1]:
                    found.append(Event("send", peer, 36000.0, gap=gap))
                    gap = 1e-6
        found.append(Event("allreduce", bytes=8.0, gap=1e-6))
    return found


def test_sweeps_over_a_grid_are_wavefronts_block_by_block() -> None:
    """As in Sweep3D: many calls an iteration, and some ranks take a hundred times longer."""
    ranks = [sweep(rank) for rank in range(4)]
    found, warnings = describe(Trace(ranks, [(0, 1, 2, 3)]))
    (app,) = found["apps"]
    assert app["iterations"] == 10
    assert warnings == []
    fronts = [phase["repeat"]["phases"][-1]["exchange"] for phase in app["phases"][:-1]]
    assert [phase["repeat"]["times"] for phase in app["phases"][:-1]] == [5, 5]
    assert [front["flow"] for front in fronts] == ["sweep"] * 2, "one receive after the other"
    assert fronts[0]["topology"] == {"halo": {"shape": [2, 2], "periodic": False}}
    assert sorted(fronts[1]["topology"]["edges"]) == [[1, 0], [2, 0], [3, 1], [3, 2]]
    assert us(fronts[0]["compute"]["time"]) == pytest.approx(24000, rel=0.01)
    assert fronts[0]["compute"]["imbalance"]["2"] == pytest.approx(0.0104, rel=0.01)


def test_parts_of_an_application_do_collectives_on_their_own() -> None:
    """Rows of a grid that reduce among themselves at the same time are one phase."""
    among = [[0, 1, 2, 3], [4, 5, 6, 7]]
    written = [{"compute": "1ms"}, {"allreduce": {"bytes": 64, "among": among}}, {"barrier": {}}]
    phases, _ = seen(written)
    assert phases[1:] == written[1:]


def test_begin_and_end_are_phases_around_the_loop() -> None:
    """A broadcast before the loop and a gather after it, with what is computed before them."""
    made = worked_out(document([{"compute": "1ms"}, {"allreduce": {"bytes": 8}}]))
    begin = (Event("bcast", bytes=100, root=0, gap=1.0), Event("barrier", gap=0.5))
    found, warnings = describe(Seen(made).trace(begin, (Event("gather", bytes=9, root=0),)))
    phases = found["apps"][0]["phases"]
    assert kinds(phases) == ["compute", "bcast", "compute", "barrier", "repeat", "gather"]
    assert us(phases[0]["compute"]) == pytest.approx(1e6)
    assert phases[4]["repeat"]["times"] == ITERATIONS
    assert warnings == []


def test_what_a_program_computes_before_its_loop_is_not_part_of_an_iteration() -> None:
    """Two seconds of reading input, and no call between them and the first iteration."""
    calls = [Event("allreduce", bytes=8.0, gap=2.0 if k == 0 else 1e-3) for k in range(50)]
    found, _ = describe(Trace([list(calls) for _ in range(4)], [(0, 1, 2, 3)]))
    before, loop = found["apps"][0]["phases"]
    assert us(before["compute"]) == pytest.approx(2e6, rel=0.01)
    assert us(loop["repeat"]["phases"][0]["compute"]) == pytest.approx(1000, rel=0.01)


def test_a_short_program_without_a_loop_is_written_down_once() -> None:
    ranks = [
        [Event("send", 1, 10.0, gap=1e-3), Event("barrier")],
        [Event("recv", 0, 10.0, gap=1e-3), Event("barrier")],
    ]
    found, warnings = describe(Trace(ranks, [(0, 1)]))
    assert found["apps"][0]["iterations"] == 1
    assert kinds(found["apps"][0]["phases"])[-2:] == ["exchange", "barrier"]
    assert warnings == []


def test_a_receive_from_anyone_is_not_guessed() -> None:
    """Who is answered is decided at run time: that is said, and no description is written."""
    ranks = [
        [Event("recv", -1, 8.0)] * 300,
        [Event("send", 0, 8.0)] * 100,
        [Event("send", 0, 8.0)] * 200,
    ]
    trace = Trace(ranks, [(0, 1, 2)], name="anyone")
    with pytest.raises(InputError, match="anyone: "):
        describe(trace)


def test_a_trace_of_nothing_is_one_line() -> None:
    with pytest.raises(InputError, match="no communication"):
        describe(Trace([[], []], [(0, 1)]))


def computation(made: Program) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of each rank's computation in an iteration."""
    (app,) = made.applications
    mean, variance = np.zeros(app.ranks), np.zeros(app.ranks)
    for rank, steps in enumerate(app.steps):
        for step in steps:
            if isinstance(step, Compute | Serve):
                times = 1 if isinstance(step, Compute) else len(step.clients)
                factor = step.factor if isinstance(step, Compute) else 1.0
                mean[rank] += times * factor * np.mean(made.values[step.time])
                variance[rank] += times * factor**2 * np.var(made.values[step.time])
    return mean, variance


@pytest.mark.parametrize("entries", [3, 10])
def test_computation_before_an_inner_loop_need_not_be_in_the_first_turn(entries: int) -> None:
    """What ends a turn of the outer loop comes before the next one, if there is one."""
    ranks = []
    for _ in range(4):
        calls: Calls = []
        for k in range(entries):
            calls.append(Event("bcast", bytes=8, root=0, gap=1e-3 if k else 0.0))
            calls += [Event("bcast", bytes=8, root=0, gap=1e-5)] * 4
            calls.append(Event("allreduce", bytes=8, gap=1e-5))
        ranks.append(calls)
    document, _ = describe(Trace(ranks, [tuple(range(4))]))
    (app,) = document["apps"]
    assert app["iterations"] == entries
    first, second = app["phases"][:2]
    assert "compute" in first
    assert second["repeat"]["times"] == 5
    inner = second["repeat"]["phases"][0]["compute"]
    time = inner if isinstance(inner, str) else inner["time"]
    assert parse_seconds(time) == pytest.approx(1e-5, rel=0.3), "not a fifth of 1 ms"
