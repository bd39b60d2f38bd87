"""Emulated applications on simulated machines: times that are sums of few terms on paper."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from beds.mpis import PATIENCE, missing
from beds.simulation import available
from isochrone.applications.description.draws import draw
from isochrone.applications.description.program import (
    Collective,
    Compute,
    Irecv,
    Isend,
    Method,
    Program,
    Recv,
    Send,
    Serve,
    Step,
    Wait,
)
from isochrone.applications.description.program_file import data
from isochrone.measure import probe
from isochrone.measure.launchers.simgrid import EXACT, QUIET
from isochrone.measure.platforms import Platform, parse
from isochrone.runfile.file import read
from isochrone.runfile.run import Run
from made_up import programs
from made_up.programs import REPLY, SIZE, TIME, application, program

ASYNC = ("--cfg=smpi/async-small-thresh:65536",)
"""Small messages travel as soon as they are sent, and not when they are received."""

COMPUTE = 100e-6
HOP = 2e-6

Emulate = Callable[..., Run]


def machine(nodes: int = 4, cores: int = 1) -> Platform:
    """Return nodes 2 us apart, whose links are so fast that sizes do not matter."""
    return parse(f"nodes:{nodes} cores:{cores} latency:1us bandwidth:100000GB")


@pytest.fixture(scope="module")
def built() -> Path:
    """The probe for the simulator; started without the command line, as many runs are short."""
    if not available():
        missing("simgrid", "SimGrid is not installed (Debian: libsimgrid-dev)")
    return probe.build(Path(shutil.which("smpicc") or "smpicc")).path


@pytest.fixture
def emulate(built: Path, tmp_path: Path) -> Emulate:
    """Run a program on a machine."""

    def run(
        made: Program,
        on: Platform,
        *options: str,
        launcher: tuple[str, ...] = (),
        hosts: str = "",
    ) -> Run:
        (tmp_path / "program").write_bytes(data(made))
        files = {"p.xml": on.xml(), "hosts": hosts or on.hosts()}
        for name, content in files.items():
            (tmp_path / name).write_text(content)
        argv: list[str | Path] = [
            "smpirun",
            "-np",
            str(len(files["hosts"].split())),
            "-platform",
            "p.xml",
            "-hostfile",
            "hosts",
            *QUIET,
            *EXACT,
            *launcher,
            built,
            "app",
            "--program",
            "program",
            "--out",
            "run.jsonl",
            "--force",
            *options,
        ]
        answer = subprocess.run(
            argv, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert answer.returncode == 0, answer.stderr
        return read(tmp_path / "run.jsonl")

    return run


def rows(run: Run, kind: str, **wanted: int) -> list[dict[str, Any]]:
    """Return the records of a kind that have these values."""
    found = run.tables[kind].rows()
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def wall(run: Run, launch: int = 0, app: int = 0) -> float:
    """Return the wall time of an application in a launch."""
    (row,) = rows(run, "wall", launch=launch, app=app)
    return float(row["seconds"])


def sent(run: Run, app: int = 0) -> dict[tuple[int, int], tuple[int, int]]:
    """Return messages and bytes of each edge."""
    found = rows(run, "edge", app=app)
    return {(row["from"], row["to"]): (row["messages"], row["bytes"]) for row in found}


# --- flows -----------------------------------------------------------------------------------


def test_a_token_takes_one_message_for_each_rank(emulate: Emulate) -> None:
    run = emulate(program(application(programs.ring(4), 25)), machine())
    assert wall(run) == pytest.approx(25 * 4 * HOP, rel=1e-6)
    (each,) = rows(run, "iterations")
    assert each["seconds"] == pytest.approx([4 * HOP] * 25, rel=1e-6)


@pytest.mark.parametrize(
    ("launcher", "expected"),
    [
        # A stage receives, then computes: its cycle is both.
        ((), COMPUTE + (10 + 4 - 2) * (COMPUTE + HOP)),
        # The next message is there when a stage has computed.
        (ASYNC, (4 - 1) * (COMPUTE + HOP) + 10 * COMPUTE),
    ],
    ids=["waiting", "asynchronous"],
)
def test_a_pipeline_fills_then_its_stages_set_the_pace(
    emulate: Emulate, launcher: tuple[str, ...], expected: float
) -> None:
    run = emulate(program(application(programs.pipeline(4), 10)), machine(), launcher=launcher)
    assert wall(run) == pytest.approx(expected, rel=1e-6)


def test_a_server_that_is_always_asked_is_the_time(emulate: Emulate) -> None:
    """The first request and the last reply are all that is not service."""
    run = emulate(program(application(programs.clients(4), 10)), machine(), launcher=ASYNC)
    assert wall(run) == pytest.approx(HOP + 10 * 3 * COMPUTE + HOP, rel=1e-6)
    server = rows(run, "rank_time", rank=0)[0]
    assert server["asked"] == pytest.approx(30 * COMPUTE)
    assert server["communication"] == pytest.approx(HOP, rel=1e-4)


def test_a_client_that_asks_early_waits_for_its_turn(emulate: Emulate) -> None:
    """Rank 1 asks at once, rank 2 computes 1 ms before: the server waits for both each time."""
    slow = 4
    made = program(
        application(
            [
                [Serve(0, (1, 2), SIZE, REPLY, TIME)],
                [Send(0, 0, SIZE), Recv(0, 0, REPLY)],
                [Compute(0, slow), Send(0, 0, SIZE), Recv(0, 0, REPLY)],
            ],
            20,
        )
    )
    made = replace(made, values=(*made.values, (1e-3,)))
    run = emulate(made, machine(3), launcher=ASYNC)
    assert wall(run) == pytest.approx(20 * (1e-3 + HOP + COMPUTE + HOP), rel=1e-6)


def test_workers_wait_while_the_master_computes(emulate: Emulate) -> None:
    """One worker, 12 tasks: the master computes 1 ms before it hands out each."""
    made = program(application(programs.farm(2, 12), 5), dispatch=[1e-3])
    run = emulate(made, machine(2), launcher=ASYNC)
    assert wall(run) == pytest.approx(5 * 12 * (1e-3 + HOP + COMPUTE + HOP) + HOP, rel=1e-6)


def test_workers_get_the_next_task_for_each_result(emulate: Emulate) -> None:
    """Three workers, 12 tasks: four rounds of there, compute, and back; then the end, there."""
    made = program(application(programs.farm(4, 12), 5))
    run = emulate(made, machine(), launcher=ASYNC)
    assert wall(run) == pytest.approx(5 * 4 * (HOP + COMPUTE + HOP) + HOP, rel=1e-6)
    assert sent(run)[0, 1] == (5 * (4 + 1), 0)
    assert sent(run)[1, 0] == (5 * 4, 0)


def test_messages_that_are_begun_travel_together(emulate: Emulate) -> None:
    """Two messages one way in the same phase, and back: one hop, however many."""
    swap: list[Step] = [Irecv(0, 1, SIZE), Irecv(0, 1, SIZE), Isend(0, 1, SIZE), Isend(0, 1, SIZE)]
    back: list[Step] = [Isend(0, 0, SIZE), Isend(0, 0, SIZE), Irecv(0, 0, SIZE), Irecv(0, 0, SIZE)]
    run = emulate(program(application([[*swap, Wait(0)], [*back, Wait(0)]], 8)), machine(2))
    assert wall(run) == pytest.approx(8 * HOP, rel=1e-6)
    assert sent(run) == {(0, 1): (16, 0), (1, 0): (16, 0)}


def test_phases_share_the_time_of_an_iteration(emulate: Emulate) -> None:
    """Rank 0 computes, then the token goes round: the others wait for it in their phase."""
    steps = programs.ring(3)
    steps = [[Compute(1, TIME), *steps[0]], *steps[1:]]
    run = emulate(program(application(steps, 10, phases=2)), machine(3))
    assert wall(run) == pytest.approx(10 * (COMPUTE + 3 * HOP), rel=1e-6)
    token, compute = rows(run, "phase_time")
    assert compute["mean"] == pytest.approx(COMPUTE / 3, rel=1e-6)
    assert compute["max"] == pytest.approx(COMPUTE, rel=1e-6)
    assert token["max"] == pytest.approx(COMPUTE + 3 * HOP, rel=2e-2)


def test_a_collective_may_be_among_some_ranks(emulate: Emulate) -> None:
    """Ranks 3 and 1 exchange; a barrier of two takes as long in whatever application they are."""
    pair: list[Step] = [Collective(0, "barrier", SIZE, 1, "", (3, 1))]
    some = emulate(program(application([[], pair, [], pair], 10)), machine())
    both: list[Step] = [Collective(0, "barrier", SIZE)]
    two = emulate(program(application([both, both], 10)), machine(2))
    assert wall(some) == pytest.approx(wall(two), rel=1e-6)
    assert wall(some) > 10 * HOP * 0.99


def test_a_collective_may_be_on_a_grid(emulate: Emulate) -> None:
    """Rows, then columns: two barriers' worth of exchanges among two ranks."""
    whole: list[Step] = [Collective(0, "allreduce", SIZE, 0, "2x2")]
    grid = emulate(program(application([whole] * 4, 10), size=[8]), machine())
    pair: list[Step] = [Collective(0, "allreduce", SIZE)]
    two = emulate(program(application([pair] * 2, 10), size=[8]), machine(2))
    assert wall(grid) == pytest.approx(2 * wall(two), rel=1e-3)


# --- computing -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["cpu", "spin", "sleep"])
def test_simulated_computation_takes_exactly_what_is_asked(emulate: Emulate, mode: str) -> None:
    times = [1e-6, 2.5e-4, 3e-3]
    steps: list[list[Step]] = [[Compute(0, TIME, 2.0, mode)]]  # type: ignore[arg-type]
    run = emulate(program(application(steps, 50), time=times), machine(1))
    asked = sum(2 * float(draw(7, times, 0, 0, 0, k, 0)) for k in range(50))
    assert wall(run) == pytest.approx(asked, rel=1e-6)
    (rank,) = rows(run, "rank_time")
    assert rank["asked"] == pytest.approx(asked)
    assert rank["delivered"] == pytest.approx(asked)
    assert rank["communication"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("mode", "factor"), [("cpu", 2), ("spin", 1), ("sleep", 1)])
def test_only_processor_time_feels_that_a_core_is_shared(
    emulate: Emulate, mode: str, factor: float
) -> None:
    steps: list[Step] = [Compute(0, TIME, mode=mode)]  # type: ignore[arg-type]
    alone, together = application([steps], 10, name="a"), application([steps], 10, name="b")
    made = program(alone, together, launches=[(0,), (0, 1)], placement="shared-cores")
    run = emulate(made, machine(1), hosts="node-0\nnode-0\n")
    assert wall(run, 0) == pytest.approx(10 * COMPUTE, rel=1e-6)
    assert wall(run, 1) == pytest.approx(factor * 10 * COMPUTE, rel=1e-6)


# --- what is sent ----------------------------------------------------------------------------


def test_what_is_sent_is_what_is_drawn(emulate: Emulate) -> None:
    """Each edge has the bytes that Python draws, the second message of a way included."""
    sizes, replies = [10.0, 20.0, 40.0, 80.0], [1.0, 3.0]
    steps: list[list[Step]] = [
        [Send(0, 1, SIZE), Send(0, 1, SIZE), Serve(1, (1, 2), SIZE, REPLY, TIME, "sleep")],
        [Recv(0, 0, SIZE), Recv(0, 0, SIZE), Send(1, 0, SIZE), Recv(1, 0, REPLY)],
        [Send(1, 0, SIZE), Recv(1, 0, REPLY)],
    ]
    made = program(application(steps, 40, phases=2), size=sizes, reply=replies)
    found = sent(emulate(made, machine(3)))
    rounds = np.arange(40)

    def total(values: list[float], sender: int, phase: int, number: int) -> int:
        return int(draw(7, values, 0, sender, phase, rounds, number).sum())

    assert found == {
        (0, 1): (
            120,
            total(sizes, 0, 0, 1) + total(sizes, 0, 0, 1 + 2**20) + total(replies, 0, 1, 1),
        ),
        (0, 2): (40, total(replies, 0, 1, 2)),
        (1, 0): (40, total(sizes, 1, 1, 0)),
        (2, 0): (40, total(sizes, 2, 1, 0)),
    }


def test_tasks_and_results_are_drawn_by_their_number(emulate: Emulate) -> None:
    """Whoever does them: the sums over all workers are known."""
    sizes, replies, times = [100.0, 200.0, 400.0], [1.0, 5.0], [1e-5, 2e-5, 9e-5]
    made = program(application(programs.farm(4, 10), 6), size=sizes, reply=replies, time=times)
    run = emulate(made, machine())
    edges = sent(run)
    tasks, rounds = np.meshgrid(np.arange(10), np.arange(6))
    handed = sum(edges[0, w][1] for w in (1, 2, 3))
    returned = sum(edges[w, 0][1] for w in (1, 2, 3))
    assert handed == draw(7, sizes, 0, 0, 0, rounds, tasks).sum()
    assert returned == draw(7, replies, 0, 0, 0, rounds, 2**20 + tasks).sum()
    asked = sum(row["asked"] for row in rows(run, "rank_time"))
    assert asked == pytest.approx(draw(7, times, 0, 0, 0, rounds, tasks).sum())


# --- launches --------------------------------------------------------------------------------


def test_applications_start_together_and_overlap_as_long_as_both_run(emulate: Emulate) -> None:
    steps: list[list[Step]] = [[Compute(0, TIME)]]
    short, long = application(steps, 10, name="short"), application(steps, 40, name="long")
    run = emulate(program(short, long, launches=[(0,), (1,), (0, 1)]), machine(2))
    assert [row["together"] for row in rows(run, "launch")] == ["0", "1", "0 1"]
    found = [(row["launch"], row["app"], row["overlap"]) for row in rows(run, "wall")]
    assert found == [(0, 0, 1), (1, 1, 1), (2, 0, 1), (2, 1, pytest.approx(0.25))]


def test_a_background_application_runs_until_the_others_are_done(emulate: Emulate) -> None:
    """And not much longer: two of its windows, of 2 ms and 20 us a rank."""
    victim = application(programs.ring(2), 5000, name="victim")
    bully = application(
        [[Compute(0, TIME), *s] for s in programs.ring(2)], 3, name="bully", background=True
    )
    run = emulate(program(victim, bully, launches=[(0,), (1,), (0, 1)]), machine(4))
    (alone,) = rows(run, "wall", launch=1)
    assert alone["iterations"] == 3
    (seen,) = rows(run, "wall", launch=2, app=0)
    assert seen["overlap"] == 1
    assert wall(run, 2, 0) == pytest.approx(5000 * 2 * HOP, rel=1e-6)
    assert wall(run, 2, 0) < wall(run, 2, 1) < wall(run, 2, 0) + 3 * 2.04e-3
    edge = sent(run, app=1)
    assert edge == {(0, 1): (3, 0), (1, 0): (3, 0)}, "of the iterations that were asked for"


def test_idle_computation_in_the_background_ends(emulate: Emulate) -> None:
    """Nothing that an iteration does takes time, so that only looking could make it pass."""
    victim = application([[Compute(0, TIME)]], 5, name="victim")
    idle = application([[]], 1, name="idle", background=True)
    run = emulate(program(victim, idle, launches=[(0, 1)]), machine(2))
    assert wall(run) == pytest.approx(5 * COMPUTE, rel=1e-6)


def test_the_time_limit_ends_between_launches(emulate: Emulate) -> None:
    steps: list[list[Step]] = [[Compute(0, TIME)]]
    made = program(application(steps, 10_000), launches=[(0,)] * 4)
    run = emulate(made, machine(1), "--time-limit", "1.5")
    assert not run.complete
    assert len(rows(run, "wall")) == 2
    assert "cut-short" in {warning["code"] for warning in run.warnings}


def test_a_timeline_shows_one_iteration_on_one_clock(emulate: Emulate) -> None:
    """The middle one of the first launch alone and of the first of all, since its begin."""
    steps = [[Compute(0, TIME), *s] for s in programs.ring(2)]
    one, two = application(steps, 10, name="a"), application(steps, 10, name="b")
    launches = [(1,), (0,), (0, 1), (0,), (0, 1)]
    run = emulate(program(one, two, launches=launches), machine(4))
    found = rows(run, "event")
    seen = Counter((row["launch"], row["app"], row["rank"]) for row in found)
    expected = {(0, 1), (1, 0), (2, 0), (2, 1)}
    assert seen == {(launch, app, rank): 3 for launch, app in expected for rank in (0, 1)}
    cycle = COMPUTE + 2 * HOP
    first = [row for row in found if (row["launch"], row["app"], row["rank"]) == (2, 0, 0)]
    assert [row["what"] for row in first] == ["compute", "send", "recv"]
    assert first[0]["begin"] == pytest.approx(5 * cycle, rel=1e-5)
    assert first[-1]["end"] == pytest.approx(6 * cycle, rel=1e-5)


# --- places ----------------------------------------------------------------------------------


def places(run: Run) -> list[str]:
    """Return the ranks of the job of each application."""
    return [row["ranks"] for row in rows(run, "app")]


@pytest.mark.parametrize(
    ("placement", "ranks", "expected", "warned"),
    [
        ("disjoint", 2, ["0 1 2", "4 5 6"], set()),
        ("disjoint", 5, ["0 1 2", "3 4 5 6 7"], {"shared-nodes"}),
        ("shared-nodes", 3, ["0 3 6", "1 4 7"], set()),
        ("shared-cores", 5, None, {"not-bound"}),
    ],
)
def test_applications_are_where_they_are_asked_to_be(
    emulate: Emulate, placement: str, ranks: int, expected: list[str] | None, warned: set[str]
) -> None:
    """Two nodes of four cores; the first application has three ranks."""
    second = 3 if ranks == 2 else ranks
    one = application(programs.ring(3), 2, name="a")
    two = application(programs.ring(second), 2, name="b")
    run = emulate(program(one, two, launches=[(0, 1)], placement=placement), machine(2, 4))
    codes = {warning["code"] for warning in run.warnings}
    assert codes == warned
    if expected is None:
        on_first = [sum(int(r) < 4 for r in one.split()) for one in places(run)]
        assert on_first[0] in (1, 2)
        assert on_first[1] in (2, 3)
    else:
        assert places(run) == expected


def test_applications_get_the_ranks_they_ask_for(emulate: Emulate) -> None:
    one = application(programs.ring(2), 2, name="a")
    two = application(programs.ring(2), 2, name="b", on=[3, 0])
    run = emulate(program(one, two, launches=[(0, 1)]), machine(4))
    assert places(run) == ["1 2", "3 0"]


def test_shared_memory_is_refused_between_nodes(emulate: Emulate) -> None:
    steps = programs.farm(3, 4)
    one = application(steps, 2, method="shared-memory")
    with pytest.raises(AssertionError, match="different nodes"):
        emulate(program(one), machine(3))


@pytest.mark.parametrize(("method", "path"), [("shared-memory", ""), ("mpi-file", "data")])
def test_data_beside_messages_cost_a_simulator_nothing(
    emulate: Emulate, method: Method, path: str
) -> None:
    """Only the empty messages that announce them, and those that say they were taken."""
    one = application(programs.ring(3), 10, method=method, path=path)
    run = emulate(program(one, size=[1e6]), machine(1, 3))
    loopback = machine(1, 3).one_way(0, 0, 0)
    assert wall(run) == pytest.approx(10 * 3 * loopback, rel=1e-6)
    assert sent(run)[0, 1] == (10, 10_000_000)
