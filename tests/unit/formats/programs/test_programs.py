"""Programs written for simulators of others: grammar, matching messages, no deadlock, and times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beds import goal
from beds.command_line import run_here
from beds.golden import Golden
from isochrone.applications.description.actions import actions
from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import parse
from isochrone.formats import program as programs
from made_up.described import random_description

FARM = {"exchange": {"topology": "task-farm", "tasks": 11, "bytes": 100, "compute": "200us"}}
ALL = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
    "scan",
)


def document(phases: list[dict[str, Any]], ranks: int = 5, iterations: int = 3) -> dict[str, Any]:
    app = {"name": "x", "ranks": ranks, "iterations": iterations, "phases": phases}
    return {"isochrone": "app/1", "apps": [app]}


def schedule(written: dict[str, Any], folder: Path) -> goal.Schedule:
    """Return what is written as GOAL, read again."""
    path = folder / "x.goal"
    assert programs.load("goal").write(actions(program(parse(written, "test"))), path) == [path]
    return goal.read(path.read_text())


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("op", ALL)
def test_collectives_as_messages_come_to_their_end(op: str, ranks: int, tmp_path: Path) -> None:
    """On any number of ranks, with any root: all messages are received, and nobody waits on."""
    value: dict[str, Any] = {} if op == "barrier" else {"bytes": 80}
    if op in ("bcast", "reduce", "gather", "scatter"):
        value["root"] = ranks - 1
    goal.run(schedule(document([{"compute": "1us"}, {op: value}], ranks), tmp_path))


@pytest.mark.parametrize(
    ("op", "total"),
    [
        ("bcast", 7 * 80),
        ("reduce", 7 * 80),
        ("allgather", 8 * 7 * 80),
        ("alltoall", 8 * 7 * 80),
        ("gather", 80 * (1 + 2 + 1 + 4 + 1 + 2 + 1)),
        ("scatter", 80 * 12),
    ],
)
def test_collectives_send_the_bytes_of_their_algorithms(
    op: str, total: int, tmp_path: Path
) -> None:
    """Of 8 ranks and blocks of 80 bytes; blocks of a whole branch travel together in a gather."""
    ranks = schedule(document([{op: {"bytes": 80}}], 8, 1), tmp_path)
    sent = [o.amount for operations in ranks for o in operations.values() if o.kind == "send"]
    assert sum(sent) == total


@pytest.mark.parametrize("op", ["barrier", "allreduce", "allgather", "alltoall"])
def test_what_synchronises_does_so_as_messages(op: str, tmp_path: Path) -> None:
    """Nobody is through before the last one has come."""
    phases = [
        {"compute": {"time": "1us", "imbalance": 50}},
        {op: {} if op == "barrier" else {"bytes": 8}},
    ]
    assert goal.run(schedule(document(phases, 6, 1), tmp_path)) == [50_000] * 6


def test_random_programs_are_valid_schedules(tmp_path: Path) -> None:
    """All topologies, flows and collectives, of parts, too: grammar, matching, no deadlock."""
    for seed in range(40):
        goal.run(schedule(random_description(seed, 2), tmp_path))


def test_computation_is_that_of_the_draws(tmp_path: Path) -> None:
    """A stream without computation elsewhere ends when the sum of its stages is done."""
    exchange = {"topology": "pipeline", "bytes": 8, "compute": "30us"}
    assert goal.run(schedule(document([{"exchange": exchange}], 4, 1), tmp_path))[-1] == 120_000


def test_a_farm_hands_out_its_tasks_to_whoever_computed_least(tmp_path: Path) -> None:
    """11 tasks of 200 µs by 4 workers are three rounds of them."""
    written = document([FARM], 5, 2)
    assert max(goal.run(schedule(written, tmp_path))) == 2 * 3 * 200_000
    for rank in range(1, 5):
        done = [a for a in actions(program(parse(written, "test"))).of(rank) if a.op == "compute"]
        assert len(done) in (4, 6)


def test_fewer_iterations_are_written_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(
        "isochrone: app/1\napps:\n- {name: a, ranks: 2, iterations: 100, phases: [compute: 1us]}\n"
    )
    answer = run_here("export", path, "--to", "goal", "--iterations", "3")
    assert (answer.returncode, answer.stdout) == (0, f"{path.with_suffix('.goal')}\n")
    assert path.with_suffix(".goal").read_text().count("calc 1000\n") == 2 * 3


def test_time_independent_traces_are_a_list_and_a_file_of_each_rank(tmp_path: Path) -> None:
    """Computation in operations of the speed that is asked for, collectives as they are."""
    path = tmp_path / "j.yaml"
    path.write_text(
        "isochrone: app/1\nparameters: {n: 1024}\napps:\n- name: jacobi\n  ranks: 4\n"
        "  iterations: 1\n  phases:\n  - compute: 2*n**2/p * 1ns\n  - allgather: {bytes: 8*n/p}\n"
    )
    answer = run_here("export", path, "--to", "simgrid-ti", "--speed", "2e9", "--set", "n=2048")
    assert answer.returncode == 0, answer.stderr
    names = path.with_suffix(".ti").read_text().split()
    assert names == [f"j-rank-{rank}.txt" for rank in range(4)]
    flops = 2 * 2048**2 / 4 * 1e-9 * 2e9
    assert (tmp_path / names[1]).read_text().splitlines() == [
        "1 init",
        f"1 compute {flops:.10g}",
        "1 allgather 4096 4096 6 6",
        "1 finalize",
    ]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--to", "goal", "--speed", "1e9"), "writes times, so it needs no speed"),
        (("--to", "goal", "--bytes", "1KiB"), "exports descriptions, which have no message size"),
        (("--to", "goal", "--app", "nobody"), "there is no application 'nobody'"),
        (("--to", "goal"), "the description has several applications: a, b"),
        (("--to", "goal", "--app", "a"), "move by shared-memory"),
        (("--to", "goal", "--app", "b"), "is on a grid"),
        (("--to", "goal", "--set", "n"), "is not NAME=VALUE"),
        (("--to", "csv", "--app", "a"), "does not export descriptions"),
    ],
)
def test_what_cannot_be_exported_is_one_line(
    options: tuple[str, ...], what: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(
        "isochrone: app/1\napps:\n- {name: a, ranks: 2, iterations: 1, phases: [exchange: "
        "{topology: pipeline, bytes: 8, method: shared-memory}]}\n"
        "- {name: b, ranks: 4, iterations: 1, phases: [allgather: {bytes: 8, grid: 2x2}]}\n"
    )
    answer = run_here("export", path, *options)
    assert answer.returncode == 2
    assert what in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == [path]


def test_an_order_that_was_left_to_chance_is_said_to_be_decided(
    tmp_path: Path, golden: Golden
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(
        "isochrone: app/1\napps:\n- {name: a, ranks: 3, iterations: 1, phases: [exchange: "
        "{topology: client-server, bytes: 8}]}\n"
    )
    answer = run_here("export", path, "--to", "goal")
    assert answer.returncode == 0
    golden(answer.stderr)
