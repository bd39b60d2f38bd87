"""Runs with grids of which the truth is known: points, disturbance, gains, sums of phases."""

from __future__ import annotations

import math
from typing import Any

import pytest

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.base.errors import InputError
from isochrone.collectives.results.grid_collectives import (
    GridPoint,
    algorithm,
    best,
    disturbances,
    gains,
    groups_of,
    is_grid_run,
    most_sharing,
    parts,
    points,
)
from made_up.grids import SIZES, call, grid_run
from made_up.sweeps import collective, point_to_point, run_of


def _one(found: list[GridPoint], **wanted: Any) -> GridPoint:
    (point,) = [p for p in found if all(getattr(p, k) == v for k, v in wanted.items())]
    return point


# --- points ---------------------------------------------------------------------------------------


def test_each_point_of_a_run_is_found_with_its_median_and_interval() -> None:
    found = points(grid_run(("4x4", "2x8"), ("allgather", "bcast")))
    kinds = {(p.op, p.grid, p.phase, p.groups) for p in found}
    assert ("allgather", "library", "total", 1) in kinds
    assert ("allgather", "2x8", "LG", 8) in kinds
    assert ("bcast", "4x4", "LG", 1) in kinds
    assert ("bcast", "4x4", "LG", 4) not in kinds, "one column has the root"
    alone = _one(found, op="allgather", grid="4x4", phase="CG", groups=1, bytes=1024)
    assert (alone.phase_op, alone.phase_ranks, alone.phase_bytes) == ("allgather", 4, 1024)
    assert alone.n == 12
    assert alone.low <= alone.seconds <= alone.high
    assert alone.seconds == pytest.approx(call(4, 1024), rel=0.05)


def test_the_block_of_a_phase_is_its_own() -> None:
    found = points(grid_run(("2x8",)))
    leaders = _one(found, phase="LG", groups=1, bytes=1024)
    assert (leaders.phase_ranks, leaders.phase_bytes) == (2, 8 * 1024)


def test_where_a_group_is_comes_from_its_ranks() -> None:
    """2x8 over 4 nodes of 4: a row is on two nodes, a column has one rank on each of two."""
    found = points(grid_run(("2x8",)))
    places = {p.phase: (p.nodes, p.ppn) for p in found}
    assert places == {"total": (4, 4), "CG": (2, 4), "LG": (2, 1)}


def test_a_run_without_grids_is_of_the_library() -> None:
    run = collective(("bcast",), sizes=(8, 64))
    run.header["by"], run.header["kind"] = ["op", "p"], "sweep"
    found = points(run)
    assert not is_grid_run(run)
    assert [(p.grid, p.phase, p.groups, p.bytes) for p in found] == [
        ("library", "total", 1, 8),
        ("library", "total", 1, 64),
    ]
    assert disturbances(run) == []


def test_a_sweep_of_messages_is_refused(golden: Golden) -> None:
    with golden.refusal():
        points(point_to_point(sizes=(8,)))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ({"phase": "XG"}, "a 'sample' record has an unknown phase 'XG'"),
        ({"groups": 0}, "'groups' of a 'sample' record"),
        ({"groups": 1.5}, "'groups' of a 'sample' record"),
        ({"phase_p": -4}, "'phase_p' of a 'sample' record"),
        ({"phase_bytes": 1e300}, "'phase_bytes' of a 'sample' record"),
        ({"phase_op": 7}, "'phase_op'"),
        ({"grid": "4y4"}, "not a grid"),
        ({"grid": "4x0"}, "not a grid"),
    ],
)
def test_damaged_samples_are_refused(damage: dict[str, Any], says: str) -> None:
    row = {
        "op": "allgather",
        "p": 16,
        "bytes": 8,
        "grid": "4x4",
        "phase": "CG",
        "groups": 4,
        "phase_op": "allgather",
        "phase_p": 4,
        "phase_bytes": 8,
        "repeat": 0,
        "seconds": 1e-5,
    }
    run = run_of("collective", 16, 4, {"sample": [{**row, **damage}]}, {}, "")
    run.header.update({"kind": "sweep", "by": ["op", "p", "grid", "phase", "groups"]})
    with pytest.raises(InputError) as caught:
        points(run)
    assert says in str(caught.value)


def test_a_phase_that_does_not_say_what_it_calls_is_refused() -> None:
    run = grid_run(sizes=(1024,))
    del run.tables["sample"].columns["phase_op"]
    with pytest.raises(InputError, match="'phase_op'"):
        points(run)


# --- groups ---------------------------------------------------------------------------------------


def test_rows_are_consecutive_ranks_and_columns_have_one_of_each() -> None:
    run = grid_run(("4x4",), sizes=(1024,))
    assert groups_of(run, "2x8", "CG") == [list(range(8)), list(range(8, 16))]
    assert groups_of(run, "2x8", "LG")[3] == [3, 11]
    assert groups_of(run, "nodes", "CG")[1] == [4, 5, 6, 7]


def test_the_last_of_a_short_row_stands_in() -> None:
    run = grid_run(("4x4",), sizes=(1024,))
    assert groups_of(run, "rows-of-6", "CG")[2] == [12, 13, 14, 15]
    assert groups_of(run, "rows-of-6", "LG")[5] == [5, 11, 15]


def test_columns_share_nodes_and_rows_on_nodes_do_not() -> None:
    run = grid_run(("4x4",), sizes=(1024,))
    assert most_sharing(run, groups_of(run, "nodes", "LG")) == 4
    assert most_sharing(run, groups_of(run, "nodes", "CG")) == 1
    assert most_sharing(run, groups_of(run, "8x2", "CG")) == 2


# --- disturbance ----------------------------------------------------------------------------------


def test_the_disturbance_that_was_put_in_is_found() -> None:
    found = disturbances(grid_run(("4x4",), ("allgather",), factors={"LG": 2.1}))
    assert {(d.phase, d.bytes) for d in found} == {(g, b) for g in ("LG", "CG") for b in SIZES}
    for one in found:
        truth = 2.1 if one.phase == "LG" else 1.0
        assert one.low < truth < one.high
        assert one.factor == pytest.approx(truth, rel=0.05)
        assert one.groups == 4
        assert one.sharing == (4 if one.phase == "LG" else 1)


def test_intervals_of_factors_hold_the_truth_as_often_as_they_say() -> None:
    """At least 90 % of 240, of intervals that are meant for 95 %, and not nearly all of any."""
    held = [
        one.low <= 1.5 <= one.high
        for seed in range(40)
        for one in disturbances(
            grid_run(factors={"LG": 1.5, "CG": 1.5}, noise=0.05, seed=seed, repeats=16)
        )
    ]
    assert len(held) == 240
    assert 0.9 <= sum(held) / len(held) <= 1


# --- gains and sums -------------------------------------------------------------------------------


def test_the_best_grid_and_its_gain_are_found() -> None:
    run = grid_run(("4x4", "2x8"), ("allgather",), factors={}, speedup=1.32)
    found = {gain.on_grid.bytes: gain for gain in best(points(run))}
    assert set(found) == set(SIZES)
    for nbytes in SIZES[1:]:
        gain = found[nbytes]
        assert gain.verdict == "faster"
        assert gain.ratio > 1.25
        assert gain.low < gain.ratio < gain.high


@pytest.mark.parametrize(
    ("speedup", "verdict"),
    [(1.3, "faster"), (1.0, "within the noise"), (1.01, "within the noise"), (0.8, "slower")],
)
def test_a_gain_is_called_what_it_is(speedup: float, verdict: str) -> None:
    run = grid_run(speedup=speedup, noise=0.001)
    assert {gain.verdict for gain in gains(points(run))} == {verdict}


def test_what_is_not_repeated_is_judged_by_its_times() -> None:
    gain = gains(points(grid_run(speedup=1.3, noise=0, repeats=1)))[0]
    assert gain.verdict == "faster"
    assert plain(gain.document())["low"] is None or not math.isnan(plain(gain.document())["low"])


def test_what_the_phases_do_not_explain_is_found() -> None:
    assert all(part.adds_up for part in parts(points(grid_run(factors={"LG": 3.0}))))
    found = parts(points(grid_run(left_over=1.4)))
    assert found
    assert not any(part.adds_up for part in found)
    assert found[0].ratio == pytest.approx(1 / 1.4, rel=0.05)


# --- forced algorithms ----------------------------------------------------------------------------


def test_forced_algorithms_are_read_from_the_note() -> None:
    run = grid_run(sizes=(1024,), algorithm="bcast=binomial,allgather=ring")
    assert algorithm(run) == {"bcast": "binomial", "allgather": "ring"}
    assert algorithm(grid_run(sizes=(1024,))) == {}


def test_a_note_that_is_no_list_of_algorithms_is_refused() -> None:
    with pytest.raises(InputError, match="not OP=NAME"):
        algorithm(grid_run(sizes=(1024,), algorithm="binomial"))
