"""Collective operations on grids of simulated machines, against times that are known otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beds.simulation import Simulation
from isochrone.collectives.results.grid_collectives import GridPoint, disturbances, parts, points
from isochrone.measure.platforms import parse
from isochrone.runfile.run import Run

MACHINE = "nodes:4 cores:4"
ONCE = ("--repeats", "1", "--warmup", "1", "--sync", "window")
LARGE = 128 * 1024
OPERATIONS = (
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
)


@pytest.fixture(scope="module")
def block(simulation: Simulation) -> Run:
    """All operations on 4 nodes of 4 ranks, in rows that are nodes."""
    options = ("--op", "all", "--grid", "4x4", "--bytes", f"1KiB,{LARGE}")
    return simulation.measure("collective", parse(MACHINE), *options, *ONCE)


def _one(found: list[GridPoint], **wanted: Any) -> GridPoint:
    (point,) = [p for p in found if all(getattr(p, k) == v for k, v in wanted.items())]
    return point


def test_columns_on_shared_links_take_as_often_as_long_as_there_are_of_them(block: Run) -> None:
    """Four columns send large messages over each node's one link; rows stay on their nodes."""
    factors = {(d.op, d.phase): d for d in disturbances(block) if d.bytes == LARGE}
    for op in ("allgather", "alltoall"):
        assert factors[op, "LG"].factor == pytest.approx(4, rel=0.05)
        assert (factors[op, "LG"].groups, factors[op, "LG"].sharing) == (4, 4)
    for op in OPERATIONS:
        assert factors[op, "CG"].factor == pytest.approx(1, abs=0.02)
        assert factors[op, "CG"].sharing == 1


def test_a_phase_alone_is_that_operation_on_as_many_ranks(
    block: Run, simulation: Simulation
) -> None:
    """LG alone has one rank on each node, as four ranks of a machine of four have."""
    alone = points(block)
    for op in ("allgather", "bcast", "reduce_scatter_block"):
        leaders = _one(alone, op=op, phase="LG", groups=1, bytes=1024)
        machine = replace(parse(MACHINE), cores=1)
        options = ("--op", op, "--bytes", str(leaders.phase_bytes))
        other = points(simulation.measure("collective", machine, *options, *ONCE))
        assert leaders.seconds == pytest.approx(other[0].seconds, rel=0.01)
        assert (leaders.nodes, leaders.ppn) == (4, 1)


def test_the_phases_add_up_to_the_whole_operation(block: Run) -> None:
    """Exactly where links are the limit. Of short blocks the columns of an allreduce begin one
    after the other, as their ranks leave the first phase, and get less into each other's way.
    """
    off = {(part.total.op, part.total.bytes): abs(part.ratio - 1) for part in parts(points(block))}
    assert {op for op, _ in off} == set(OPERATIONS)
    for (op, nbytes), value in off.items():
        starts_late = op in ("allreduce", "reduce_scatter_block") and nbytes < LARGE
        assert value < (0.2 if starts_late else 0.01), (op, nbytes)


def test_a_barrier_gives_the_same_to_the_skew_of_leaving_it(
    block: Run, simulation: Simulation
) -> None:
    options = ("--op", "allgather", "--grid", "4x4", "--bytes", str(LARGE), "--repeats", "2")
    run = simulation.measure("collective", parse(MACHINE), *options)
    window = {
        (p.grid, p.phase, p.groups): p.seconds
        for p in points(block)
        if (p.op, p.bytes) == ("allgather", LARGE)
    }
    found = {(p.grid, p.phase, p.groups): p.seconds for p in points(run)}
    assert set(found) == set(window)
    for key, seconds in found.items():
        assert seconds == pytest.approx(window[key], rel=0.05, abs=5e-6), key


def test_rows_are_nodes_wherever_ranks_are(simulation: Simulation) -> None:
    """Placed in turns, rows of consecutive ranks are spread over nodes, and 'nodes' are not."""
    machine = parse(f"{MACHINE} placement:cyclic")
    options = ("--op", "allgather", "--grid", "4x4,nodes", "--bytes", str(LARGE))
    run = simulation.measure("collective", machine, *options, *ONCE)
    rows = {p.grid: (p.nodes, p.ppn) for p in points(run) if p.phase == "CG"}
    assert rows == {"4x4": (4, 1), "nodes": (1, 4)}
    factors = {(d.grid, d.phase): d.factor for d in disturbances(run)}
    assert factors["nodes", "LG"] == pytest.approx(4, rel=0.05)
    assert factors["nodes", "CG"] == pytest.approx(1, abs=0.02)
    assert factors["4x4", "LG"] == pytest.approx(1, abs=0.02)
    assert factors["4x4", "CG"] == pytest.approx(4, rel=0.05)


def test_one_node_or_one_rank_a_node_makes_no_grid(simulation: Simulation) -> None:
    for machine, why in (
        ("nodes:1 cores:4", "all ranks are on one node"),
        ("nodes:4 cores:1", "has one rank"),
    ):
        options = ("--op", "bcast", "--grid", "nodes", "--bytes", "64", *ONCE)
        run = simulation.measure("collective", parse(machine), *options)
        assert [why in w["text"] for w in run.warnings if w["code"] == "grid-left-out"] == [True]
        assert {point.grid for point in points(run)} == {"library"}


def test_a_ragged_grid_has_its_shorter_row(simulation: Simulation) -> None:
    """Seven ranks in rows of 3, 3 and 1: whoever is alone stands in for what its row lacks."""
    machine = parse("nodes:7 cores:1")
    options = ("--op", "all", "--grid", "rows-of-3", "--bytes", "1KiB", *ONCE)
    found = points(simulation.measure("collective", machine, *options))
    leaders = _one(found, op="allgather", phase="LG", groups=3)
    assert (leaders.phase_ranks, leaders.phase_bytes) == (3, 3 * 1024)
    assert leaders.seconds > _one(found, op="allgather", phase="LG", groups=1).seconds
