"""Applications predicted: sums that anyone can do on paper, expected maxima, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import lognorm

from beds.golden import Golden
from isochrone.applications.description.draws import draw
from isochrone.applications.description.program import (
    Application,
    Collective,
    Compute,
    Farm,
    Irecv,
    Isend,
    Phase,
    Program,
    Recv,
    Send,
    Serve,
    Wait,
    Work,
)
from isochrone.applications.predict.applications import Prediction, predict
from isochrone.base.errors import InputError
from isochrone.collectives.measured import Leaving
from isochrone.collectives.predicted_grids import Machine
from isochrone.models import Model, Segment
from made_up.applications import (
    LATENCY,
    PER_BYTE,
    collectives,
    lognormal,
    message,
    messages,
    program,
)

RANKS = 8
SIZE = 1000.0
COMPUTE = 50e-6


def predicted(asked: Program, *models: Model, machine: Machine | None = None) -> Prediction:
    (found,) = predict(asked, models or (messages(),), machine)
    return found


# --- flows, on paper ------------------------------------------------------------------------------


def test_a_token_takes_the_sum_over_its_way() -> None:
    """Each rank computes and sends; the next one waits for that."""
    steps = [[Compute(0, 1), Send(0, 1, 0), Recv(0, RANKS - 1, 0)]]
    steps += [
        [Recv(0, r - 1, 0), Compute(0, 1), Send(0, (r + 1) % RANKS, 0)] for r in range(1, RANKS)
    ]
    found = predicted(program(steps, [SIZE], [COMPUTE], iterations=10))
    assert found.seconds == pytest.approx(10 * RANKS * (COMPUTE + message(SIZE)), rel=1e-9)


def test_a_pipeline_takes_its_slowest_stage_after_it_is_full() -> None:
    stages = [COMPUTE] * RANKS
    stages[3] *= 2
    steps = [
        [
            *([Recv(0, r - 1, 0)] if r else []),
            Compute(0, 1, stages[r] / COMPUTE),
            *([Send(0, r + 1, 0)] if r < RANKS - 1 else []),
        ]
        for r in range(RANKS)
    ]
    found = predicted(program(steps, [SIZE], [COMPUTE], iterations=1000))
    fill = sum(stages) + (RANKS - 1) * message(SIZE)
    assert found.seconds == pytest.approx(fill + 999 * 2 * COMPUTE, rel=1e-6)


def test_a_server_that_is_always_asked_takes_the_sum_of_its_service() -> None:
    clients = tuple(range(1, RANKS))
    steps = [[Serve(0, clients, 0, 0, 1)], *([Send(0, 0, 0), Recv(0, 0, 0)] for _ in clients)]
    found = predicted(program(steps, [SIZE], [COMPUTE], iterations=1000))
    assert found.seconds == pytest.approx(1000 * len(clients) * COMPUTE, rel=0.001)


def test_requests_at_once_share_the_port_of_the_server() -> None:
    """Incast: the last of seven messages is there after the latency and seven times the gap."""
    size, clients = 60_000.0, tuple(range(1, RANKS))
    steps = [[*(Irecv(0, c, 0) for c in clients), Wait(0)], *([Send(0, 0, 0)] for _ in clients)]
    found = predicted(program(steps, [size], iterations=1))
    assert found.seconds == pytest.approx(LATENCY + 7 * PER_BYTE * size, rel=1e-6)


def test_a_server_takes_no_message_of_another_phase_for_a_request() -> None:
    """A client that was answered goes on to an exchange with the server, which still serves."""
    clients = tuple(range(1, RANKS))
    steps = [[Serve(0, clients, 0, 0, 1), *(Irecv(1, c, 0) for c in clients), Wait(1)]]
    steps += [[Send(0, 0, 0), Recv(0, 0, 0), Isend(1, 0, 0), Wait(1)] for _ in clients]
    found = predicted(program(steps, [SIZE], [COMPUTE], iterations=10, phases=2))
    assert found.seconds > 10 * len(clients) * COMPUTE


def test_a_farm_hands_tasks_to_whoever_is_done() -> None:
    """Four times as many tasks as workers are four rounds of task, computation and result."""
    workers = tuple(range(1, RANKS))
    tasks = 4 * len(workers)
    steps = [[Farm(0, workers, tasks, 0, 0, 0)], *([Work(0, 0, 0, 0, 1)] for _ in workers)]
    found = predicted(program(steps, [0.0], [COMPUTE], iterations=1))
    rounds = 4 * (2 * LATENCY + COMPUTE) + LATENCY  # and the word that none is left
    assert found.seconds == pytest.approx(rounds, rel=1e-6)


def test_workers_wait_for_a_master_that_computes_long_for_each_task() -> None:
    """Then the tasks take what the master computes, however many workers there are."""
    workers = tuple(range(1, RANKS))
    tasks, dispatch = 20 * len(workers), COMPUTE
    steps = [[Farm(0, workers, tasks, 0, 0, 1)], *([Work(0, 0, 0, 0, 1)] for _ in workers)]
    found = predicted(program(steps, [0.0], [dispatch], iterations=1))
    assert found.seconds == pytest.approx(tasks * dispatch + COMPUTE, rel=0.01)


def test_a_halo_exchange_shares_the_ports_of_each_rank() -> None:
    """Two messages out and two in: each direction moves twice the bytes."""
    sides = [((r - 1) % RANKS, (r + 1) % RANKS) for r in range(RANKS)]
    steps = [
        [*(Irecv(0, s, 0) for s in both), *(Isend(0, s, 0) for s in both), Wait(0)]
        for both in sides
    ]
    found = predicted(program(steps, [SIZE], iterations=50))
    assert found.seconds == pytest.approx(50 * (LATENCY + 2 * PER_BYTE * SIZE), rel=1e-6)


def test_ranks_of_a_node_share_its_port() -> None:
    """Four ranks of a node that send to four of another take four times the bytes of one."""
    size = 60_000.0
    steps = [[Send(0, r + 4, 0)] for r in range(4)] + [[Recv(0, r, 0)] for r in range(4)]
    asked = program(steps, [size], iterations=1)
    known = messages(), messages(nodes=1)
    crowded = predicted(asked, *known, machine=Machine(ppn=4))
    alone = predicted(asked, *known, machine=Machine(ppn=1))
    assert alone.seconds == pytest.approx(message(size), rel=1e-6)
    assert crowded.seconds == pytest.approx(LATENCY + 4 * PER_BYTE * size, rel=1e-6)


def test_messages_within_a_node_are_asked_of_their_own_model() -> None:
    steps = [[Send(0, 1, 0), Recv(0, 1, 0)], [Recv(0, 0, 0), Send(0, 0, 0)]]
    near = messages(nodes=1, latency=LATENCY / 10)
    asked = program(steps, [0.0], iterations=10)
    inside = predicted(asked, messages(), near, machine=Machine(ppn=2))
    assert inside.seconds == pytest.approx(10 * 2 * LATENCY / 10, rel=1e-6)
    assert predicted(asked, messages(), near, machine=Machine(ppn=1)).seconds == pytest.approx(
        10 * 2 * LATENCY, rel=1e-6
    )


# --- phases and collectives -----------------------------------------------------------------------


def test_a_collective_begins_when_the_last_one_has_come() -> None:
    """Jacobi by rows: computation and an allgather; a straggler is waited for in the allgather."""
    steps = [
        [Compute(0, 0, 2.0 if r == RANKS - 1 else 1.0), Collective(1, "allgather", 1)]
        for r in range(RANKS)
    ]
    model = collectives(allgather=(10e-6, 1e-6))
    found = predicted(program(steps, [COMPUTE], [SIZE], phases=2), model)
    operation = 10e-6 + RANKS * 1e-6
    assert found.seconds == pytest.approx(100 * (2 * COMPUTE + operation), rel=1e-9)
    compute, gather = found.phases
    assert compute.seconds == pytest.approx(COMPUTE * (RANKS + 1) / RANKS, rel=1e-9)
    waiting = COMPUTE * (RANKS - 1) / RANKS
    assert gather.seconds == pytest.approx(operation + waiting, rel=1e-9)


@pytest.mark.few(1)
@pytest.mark.parametrize(("ranks", "micro"), [(8, 642), (64, 995)])
def test_random_computation_before_a_barrier_takes_its_expected_maximum(
    ranks: int, micro: float
) -> None:
    """642 and 995 us for 8 and 64 ranks: median 300 us, sigma 0.5; by quadrature, too."""
    law = lognorm(0.5, scale=300e-6)
    expected = quad(lambda t: 1 - law.cdf(t) ** ranks, 0, 0.02, limit=500)[0]
    assert expected == pytest.approx(micro * 1e-6, rel=0.002)
    steps = [[Compute(0, 0), Collective(0, "barrier", 1)] for _ in range(ranks)]
    asked = program(steps, lognormal(300e-6, 0.5), [0.0], iterations=2000)
    found = predicted(asked, collectives(barrier=(1e-9, 0.0)))
    assert found.low < 2000 * expected < found.high
    assert found.seconds == pytest.approx(2000 * expected, rel=0.03)
    assert found.high / found.low < 1.2


def test_the_draws_are_those_of_the_description() -> None:
    """A prediction knows each value that an emulation of the same seed computes."""
    times = lognormal(300e-6, 0.5)
    asked = program([[Compute(0, 0)]], times, iterations=20)
    drawn = draw(7, times, 0, 0, 0, np.arange(20), 0)
    assert predicted(asked).seconds == pytest.approx(drawn.sum(), rel=1e-9)
    other = predicted(program([[Compute(0, 0)]], times, iterations=20, seed=8))
    assert other.seconds != pytest.approx(drawn.sum(), rel=1e-3)


def test_a_million_iterations_are_not_played() -> None:
    """An iteration is known after some; the rest is as many times that, within the interval."""
    steps = [[Compute(0, 0), Collective(0, "barrier", 1)] for _ in range(4)]
    asked = program(steps, [COMPUTE], [0.0], iterations=1_000_000)
    found = predicted(asked, collectives(barrier=(5e-6, 0.0)))
    assert found.seconds == pytest.approx(1e6 * (COMPUTE + 5e-6), rel=1e-9)
    assert found.iterations == 1_000_000


# --- what is not known ----------------------------------------------------------------------------


def test_an_interval_is_that_of_the_models() -> None:
    """Half of the time is an operation that is known to 10 %: the total is, to 5 %."""
    segment = Segment(
        "made-up",
        ["1"],
        [COMPUTE],
        where={"op": "barrier"},
        fitted={"p": (2.0, 64.0)},
        range={"p": (None, None)},
        covariance=[[0.0]],
        sigma=0.05,
        degrees_of_freedom=1000,
    )
    model = Model([segment], experiment="collective", origin="measured")
    steps = [[Compute(0, 0), Collective(0, "barrier", 1)] for _ in range(4)]
    found = predicted(program(steps, [COMPUTE], [0.0]), model)
    assert found.low / found.seconds == pytest.approx(1 - 1.96 * 0.05 / 2, abs=0.005)
    assert found.high / found.seconds == pytest.approx(1 + 1.96 * 0.05 / 2, abs=0.005)


def test_what_no_model_holds_is_refused_with_the_measurement_that_is_missing(
    golden: Golden,
) -> None:
    steps = [[Collective(0, "allgather", 0)] for _ in range(4)]
    with pytest.raises(InputError) as refused:
        predicted(program(steps, [SIZE]))
    golden(refused.value)
    golden(str(refused.value))
    exchange = program([[Send(0, 1, 0)], [Recv(0, 0, 0)]], [SIZE])
    with pytest.raises(InputError) as refused:
        predicted(exchange, collectives(bcast=(1e-6, 0.0)))
    golden(refused.value)


def test_messages_within_a_node_that_no_model_holds_are_refused(golden: Golden) -> None:
    asked = program([[Send(0, 1, 0)], [Recv(0, 0, 0)]], [SIZE])
    with golden.refusal():
        predicted(asked, messages(), machine=Machine(ppn=2))


def test_computation_needs_no_model() -> None:
    found = predict(program([[Compute(0, 0)]], [COMPUTE], iterations=10), [])[0]
    assert found.seconds == pytest.approx(10 * COMPUTE)


def test_data_that_move_through_a_file_are_refused(golden: Golden) -> None:
    app = Application(
        "app", (Phase("io", "posix-file", "x"),), ((Send(0, 1, 0),), (Recv(0, 0, 0),)), 1
    )
    with golden.refusal():
        predict(Program(1, ((8.0,),), (app,)), [messages()])


def test_ranks_that_wait_for_each_other_are_an_error_and_no_hang(golden: Golden) -> None:
    """Two sends that wait for their receivers, at both ranks first."""
    steps = [[Send(0, 1, 0), Recv(0, 1, 0)], [Send(0, 0, 0), Recv(0, 0, 0)]]
    with golden.refusal():
        predicted(program(steps, [1 << 20]))
    assert predicted(program(steps, [1024.0])).seconds > 0  # these are buffered


def test_what_lies_outside_the_measured_range_is_a_warning(golden: Golden) -> None:
    steps = [[Collective(0, "barrier", 0)] for _ in range(128)]
    found = predicted(program(steps, [0.0], iterations=2), collectives(barrier=(1e-6, 1e-7)))
    golden(found.warnings)


def test_applications_are_predicted_one_by_one() -> None:
    one = program([[Compute(0, 0)]] * 2, [COMPUTE], iterations=3)
    (app,) = one.applications
    both = Program(1, one.values, (app, Application("other", app.phases, app.steps[:1], 5)))
    found = predict(both, [messages()])
    assert [(f.app, f.ranks) for f in found] == [("app", 2), ("other", 1)]
    assert [f.seconds for f in found] == pytest.approx([3 * COMPUTE, 5 * COMPUTE])
    assert all(math.isfinite(f.low) and f.low <= f.seconds <= f.high for f in found)


def test_an_operation_measured_on_one_number_of_ranks_is_predicted_there() -> None:
    """How its time grows is not known then, and what it takes is."""
    model = collectives(bcast=(10e-6, 1e-6))
    model.segments[0].terms, model.segments[0].coefficients = ["b"], [20e-6 / 1024]
    model.segments[0].fitted = {"p": (8.0, 8.0), "b": (0.0, 2.0**22)}
    model.kept["leaving"] = [Leaving("bcast", 8, 1024, [0.5] + [1.0] * 7)]
    steps = [[Compute(0, 0), Collective(0, "bcast", 1)] for _ in range(8)]
    found = predicted(program(steps, [COMPUTE], [1024.0], iterations=1), model)
    assert found.seconds == pytest.approx(COMPUTE + 20e-6, rel=1e-9)


def test_a_collective_on_a_grid_is_its_two_phases() -> None:
    """An allgather of 8 ranks on a grid of 2x4: one of 4 ranks, then one of 2 with four blocks."""
    model = collectives(allgather=(10e-6, 1e-6))
    steps = [[Collective(0, "allgather", 0, grid="2x4")] for _ in range(8)]
    found = predicted(program(steps, [SIZE], iterations=10), model)
    assert found.seconds == pytest.approx(10 * (14e-6 + 12e-6), rel=1e-9)
