"""What descriptions become: steps of ranks, computed by hand here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isochrone.applications.description import lowering, reading
from isochrone.applications.description.draws import draw
from isochrone.applications.description.program import (
    Application,
    Collective,
    Compute,
    Farm,
    Irecv,
    Isend,
    Program,
    Recv,
    Repeat,
    Send,
    Serve,
    Wait,
    Work,
)


def made(*phases: dict[str, Any], ranks: int = 4, **more: Any) -> Program:
    app = {"name": "a", "ranks": ranks, "iterations": 1, "phases": list(phases)}
    return lowering.program(reading.parse({"isochrone": "app/1", "apps": [app], **more}, "here"))


def app_of(*phases: dict[str, Any], ranks: int = 4, **more: Any) -> Application:
    return made(*phases, ranks=ranks, **more).applications[0]


def test_jacobi_by_rows_is_equation_1() -> None:
    """T = 2 n^2/p t_op + t_mb(p, n/p), Kühnemann, section 4."""
    program = made(
        {"compute": "2*n**2/p * t_op"},
        {"allgather": {"bytes": "8*n/p", "grid": "2x2"}},
        parameters={"n": 1024, "t_op": "1.2ns"},
    )
    time, block = program.values
    assert time == pytest.approx([2 * 1024**2 / 4 * 1.2e-9])
    assert block == (8 * 1024 / 4,)
    for steps in program.applications[0].steps:
        assert steps == (Compute(0, 0), Collective(1, "allgather", 1, grid="2x2"))


def test_parts_of_an_application_do_an_operation_on_their_own() -> None:
    """Rows of a grid, for example; who is in no part goes on."""
    app = app_of({"allreduce": {"bytes": 8, "among": [[0, 1], [3, "p - 2"]], "grid": "1x2"}})
    first = Collective(0, "allreduce", 0, 0, "1x2", (0, 1))
    second = Collective(0, "allreduce", 0, 3, "1x2", (3, 2))
    assert app.steps == ((first,), (first,), (second,), (second,))


def test_turns_of_a_loop_may_differ() -> None:
    """Roots rotate in each row; draws are numbered as in a loop whose turns are alike."""
    bcast = {"bcast": {"bytes": "2**step", "root": "step % 2", "among": {"size": 2, "stride": 1}}}
    loop = {"repeat": {"times": 3, "step": "step", "phases": [{"compute": "1us"}, bcast]}}
    program = made({"barrier": None}, {"repeat": {"times": 5, "phases": [loop]}})
    (_, outer), roots = program.applications[0].steps[3], []
    assert isinstance(outer, Repeat)
    for turn, repeat in enumerate(outer.steps):
        assert isinstance(repeat, Repeat)
        assert (repeat.times, repeat.turn, repeat.of, repeat.phase) == (1, turn, 3, 1)
        assert [list(repeat.turns(iteration)) for iteration in (0, 4)] == [[turn], [12 + turn]]
        _, operation = repeat.steps
        assert isinstance(operation, Collective)
        roots.append((operation.root, operation.among, program.values[operation.size]))
    assert roots == [(2, (2, 3), (1.0,)), (3, (2, 3), (2.0,)), (2, (2, 3), (4.0,))]


def test_what_is_reduced_are_whole_doubles() -> None:
    program = made({"allreduce": {"bytes": 13}}, {"bcast": {"bytes": 13}})
    assert program.values == ((16.0,), (13.0,))


def test_a_pipeline_passes_on() -> None:
    """Receive from the stage before, compute, send to the next."""
    app = app_of({"exchange": {"topology": "pipeline", "bytes": 8, "compute": "1us"}}, ranks=3)
    assert app.steps == (
        (Compute(0, 1), Send(0, 1, 0)),
        (Recv(0, 0, 0), Compute(0, 1), Send(0, 2, 0)),
        (Recv(0, 1, 0), Compute(0, 1)),
    )


def test_a_token_goes_round() -> None:
    """Who has it computes; it comes back to rank 0."""
    app = app_of({"exchange": {"topology": "token-ring", "bytes": 8, "compute": "1us"}}, ranks=3)
    assert app.steps == (
        (Compute(0, 1), Send(0, 1, 0), Recv(0, 2, 0)),
        (Recv(0, 0, 0), Compute(0, 1), Send(0, 2, 0)),
        (Recv(0, 1, 0), Compute(0, 1), Send(0, 0, 0)),
    )


def test_clients_ask_a_server() -> None:
    exchange = {"topology": "client-server", "bytes": 8, "reply": 64, "compute": "1us"}
    app = app_of({"exchange": exchange}, ranks=3)
    assert app.steps == (
        (Serve(0, (1, 2), 0, 1, 2),),
        (Send(0, 0, 0), Recv(0, 0, 1)),
        (Send(0, 0, 0), Recv(0, 0, 1)),
    )


def test_a_slow_server_serves_more_slowly() -> None:
    """A server has its factor in its times."""
    compute = {"time": "1us", "imbalance": {"0": 3}}
    program = made({"exchange": {"topology": "client-server", "bytes": 8, "compute": compute}})
    (serve,) = program.applications[0].steps[0]
    assert isinstance(serve, Serve)
    assert program.values[serve.time] == pytest.approx([3e-6])


def test_a_farm_hands_out_tasks() -> None:
    compute = {"time": "1us", "mode": "spin", "imbalance": 2}
    exchange = {"topology": "task-farm", "bytes": 8, "tasks": 5, "compute": compute}
    for more, dispatch in (({}, 0.0), ({"dispatch": "3us"}, 3e-6)):
        program = made({"exchange": exchange | more}, ranks=3)
        (farm,), *works = program.applications[0].steps
        assert isinstance(farm, Farm)
        assert farm == Farm(0, (1, 2), 5, 0, 0, farm.time, "spin")
        assert program.values[farm.time] == pytest.approx([dispatch])
        assert works == [(Work(0, 0, 0, 0, 1, 1.0, "spin"),), (Work(0, 0, 0, 0, 1, 2.0, "spin"),)]


def test_an_exchange_begins_all_and_waits_once() -> None:
    """Receives first, computation while data move."""
    exchange = {"topology": {"halo": {"dimensions": 1}}, "bytes": 8, "compute": "1us"}
    app = app_of({"exchange": exchange}, ranks=3)
    assert app.steps[1] == (
        Irecv(0, 0, 0),
        Irecv(0, 2, 0),
        Isend(0, 2, 0),
        Isend(0, 0, 0),
        Compute(0, 1),
        Wait(0),
    )


def test_a_butterfly_has_rounds() -> None:
    """A round begins when the one before is over: partners differ in one bit."""
    app = app_of({"exchange": {"topology": "butterfly", "bytes": 8}}, ranks=8)
    partners = [step.to for step in app.steps[5] if isinstance(step, Isend)]
    assert partners == [4, 7, 1]
    assert [type(step) for step in app.steps[5]] == [Irecv, Isend, Wait] * 3


def test_a_grid_as_a_stream_is_a_wavefront() -> None:
    """As in a sweep: a corner begins, and the opposite one is last."""
    exchange = {"topology": {"halo": {"shape": [2, 2]}}, "flow": "stream", "bytes": 8}
    app = app_of({"exchange": exchange})
    assert app.steps[0] == (Isend(0, 2, 0), Isend(0, 1, 0), Wait(0))
    assert app.steps[3] == (Irecv(0, 1, 0), Irecv(0, 2, 0), Wait(0))
    one_by_one = app_of({"exchange": {**exchange, "flow": "sweep"}})
    assert one_by_one.steps[:3] == app.steps[:3]
    assert one_by_one.steps[3] == (Recv(0, 1, 0), Recv(0, 2, 0))


def test_a_starter_outside_is_one_more_rank_that_does_nothing_else() -> None:
    """`p` stays what was asked for; collectives are among the others."""
    program = made(
        {"compute": "p * 1us"},
        {"exchange": {"topology": "token-ring", "bytes": 8, "starter": "outside"}},
        {"barrier": None},
        ranks=3,
    )
    app = program.applications[0]
    assert app.ranks == 4
    assert program.values[0] == pytest.approx([3e-6])
    assert app.steps[3] == (Send(1, 0, 1),)
    assert app.steps[0][1] == Recv(1, 3, 1)
    assert app.steps[0][-1] == Collective(2, "barrier", 2, among=(0, 1, 2))


def test_a_starter_sends_to_whom_it_is_told() -> None:
    """P_Targets to which m is directly sent, in Barton's Definition 1."""
    exchange = {"topology": "all-to-all", "bytes": 8, "starter": {"outside": [1, "p - 1"]}}
    app = app_of({"exchange": exchange})
    assert app.steps[4] == (Send(0, 1, 0), Send(0, 3, 0))


def test_the_last_rank_is_a_straggler() -> None:
    app = app_of({"compute": {"time": "1us", "imbalance": 1.5}})
    assert [step.factor for (step,) in app.steps if isinstance(step, Compute)] == [1, 1, 1, 1.5]


def test_factors_drawn_for_ranks_depend_on_the_seed_alone() -> None:
    """The same seed gives the same ones, another seed others; their mean is that asked for."""
    phase = {"compute": {"time": "1us", "imbalance": {"gamma": {"shape": 4, "scale": 0.25}}}}

    def factors(seed: int) -> list[float]:
        app = app_of(phase, ranks=2000, seed=seed)
        return [step.factor for (step,) in app.steps if isinstance(step, Compute)]

    assert factors(1) == factors(1) != factors(2)
    assert np.mean(factors(1)) == pytest.approx(1, abs=4 * 0.5 / 2000**0.5)


def test_draws_of_a_program_have_the_mean_of_the_distribution() -> None:
    """What ranks compute in 20,000 iterations."""
    program = made({"compute": {"time": {"exponential": {"mean": "50us"}}}})
    drawn = draw(program.seed, program.values[0], 0, 1, 0, np.arange(20_000), 0)
    assert drawn.mean() == pytest.approx(50e-6, rel=4 / 20_000**0.5)


def test_phases_have_names_of_their_own() -> None:
    app = app_of({"compute": "1us"}, {"compute": "1us"}, {"name": "compute-2", "barrier": None})
    assert [phase.name for phase in app.phases] == ["compute", "compute-3", "compute-2"]


def test_parameters_may_depend_on_the_ranks_and_be_replaced() -> None:
    """Those of an application take the place of those of all, from where they stand on."""
    document = {
        "isochrone": "app/1",
        "parameters": {"n": 64, "rows": "n / p"},
        "apps": [
            {
                "name": "a",
                "ranks": "n / 16",
                "parameters": {"n": 32},
                "iterations": "rows",
                "phases": [{"compute": "n * 1us"}],
            }
        ],
    }
    program = lowering.program(reading.parse(document, "here"))
    assert program.applications[0].ranks == 2
    assert program.applications[0].iterations == 32
    assert program.values == (pytest.approx((32e-6,)),)


def several(runs: list[Any], repeats: int = 50, seed: int = 1) -> Program:
    apps = [
        {"name": name, "ranks": 1, "iterations": 1, "phases": [{"compute": "1us"}]}
        for name in "abc"
    ]
    document = {"isochrone": "app/1", "seed": seed, "runs": runs, "repeats": repeats, "apps": apps}
    return lowering.program(reading.parse(document, "here"))


def test_every_repetition_runs_everything_once_in_an_order_of_its_own() -> None:
    """Interleaved at random, so that no drift of the machine looks like a slowdown."""
    program = several(["alone", "pairs", "all"])
    every = {(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)}
    orders = []
    for repeat in range(50):
        order = [launch.together for launch in program.launches if launch.repeat == repeat]
        assert set(order) == every
        assert len(order) == len(every)
        orders.append(tuple(order))
    assert len(set(orders)) == 50
    first = [order[0] for order in orders]
    assert all(first.count(together) < 20 for together in every)
    assert [launch.repeat for launch in program.launches] == sorted(
        launch.repeat for launch in program.launches
    )
    assert several(["alone", "pairs", "all"]).launches == program.launches
    assert several(["alone", "pairs", "all"], seed=2).launches != program.launches


def test_named_runs_are_once_each() -> None:
    program = several([["c", "a"], ["a", "c"], "all", ["a", "b", "c"]], repeats=1)
    assert sorted(launch.together for launch in program.launches) == [(0, 1, 2), (0, 2)]
