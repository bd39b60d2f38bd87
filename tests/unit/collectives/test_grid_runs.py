"""Runs of grid collectives as samples to fit: what counts, where groups are, what disturbs."""

from __future__ import annotations

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.collectives.measured import (
    MeasuredGroup,
    like,
    merged,
    miss_at,
    time_at,
    together_of,
)
from isochrone.models.prediction.file import from_document
from made_up.grid_runs import SIZES, disturbed, grid_run, group_time
from made_up.sweeps import collective


def test_the_library_and_phases_of_one_group_are_fitted_and_nothing_else() -> None:
    """A total of a grid is no standard operation, and all groups at once are disturbed."""
    samples = models.of_run(grid_run(ops=("allgather",), noise=0.0, repeats=2))
    kinds = samples.selectors["group"].tolist()
    for kind, p, b, seconds in zip(
        kinds, samples.variables["p"], samples.variables["b"], samples.seconds, strict=True
    ):
        assert seconds == pytest.approx(group_time("allgather", kind, int(p), b))
    assert sorted(set(samples.variables["p"])) == [2, 4, 8, 16]
    assert max(samples.variables["b"]) == 8 * SIZES[-1]  # the columns of 2x8
    assert len(samples.seconds) == 2 * len(SIZES) * 7


def test_groups_are_on_the_nodes_of_their_ranks() -> None:
    samples = models.of_run(grid_run(ops=("bcast",), sizes=(64, 512, 4096)))
    places = {
        (kind, int(p)): (int(nodes), int(ppn))
        for kind, p, nodes, ppn in zip(
            samples.selectors["group"],
            samples.variables["p"],
            samples.variables["nodes"],
            samples.variables["ppn"],
            strict=True,
        )
    }
    assert places == {
        ("CG", 16): (4, 4),
        ("CG", 8): (2, 4),
        ("CG", 4): (1, 4),
        ("CG", 2): (1, 2),
        ("LG", 2): (2, 1),
        ("LG", 4): (4, 1),
        ("LG", 8): (4, 2),
    }


@pytest.mark.slow
def test_the_disturbance_of_a_phase_is_kept_with_its_interval() -> None:
    model = models.fit([grid_run()])
    columns = [
        one for one in model.kept["disturbance"] if (one.phase, one.phase_op) == ("LG", "allgather")
    ]
    assert {one.phase_ranks for one in columns} == {2, 4, 8}
    assert {one.sharing for one in columns} == {2, 4}
    for one in columns:
        assert one.factor == pytest.approx(disturbed("LG", one.sharing, one.phase_bytes), rel=0.02)
        assert one.low is not None
        assert one.high is not None
        assert one.low <= one.factor <= one.high
    assert not any(one.phase == "LG" and one.op == "bcast" for one in model.kept["disturbance"])


def test_runs_without_grids_are_fitted_together_with_them_as_rows() -> None:
    runs = [collective(("bcast",), p, sizes=SIZES) for p in (4, 8)]
    model = models.fit([grid_run(ops=("bcast",)), *runs])
    assert model.selectors == {"op": ["bcast"], "group": ["CG", "LG"]}
    (rows,) = [one for one in model.segments if one.where["group"] == "CG"][:1]
    assert rows.fitted["p"] == (2, 16)


@pytest.mark.slow
def test_ranks_without_their_nodes_fill_nodes_as_rows_do() -> None:
    """Columns are spread; what they say of nodes is nothing that a job would do."""
    assert models.fit([grid_run()]).full_node == 4


def test_hosts_that_are_not_recorded_leave_out_the_nodes() -> None:
    run = grid_run(ops=("bcast",))
    run.ranks = []
    samples = models.of_run(run)
    assert set(samples.variables) == {"p", "b"}
    assert {(one.nodes, one.ppn) for one in samples.kept["groups"]} == {(0, 0)}
    assert {one.sharing for one in samples.kept["disturbance"]} == {0}


def test_a_run_that_does_not_say_its_phases_is_refused(golden: Golden) -> None:
    run = grid_run(ops=("bcast",))
    del run.tables["sample"].columns["grid"]
    with golden.refusal():
        models.of_run(run)


# --- groups that were measured themselves ---------------------------------------------------------


def test_between_sizes_a_time_is_on_the_line_through_its_neighbours() -> None:
    """As latency + bytes / bandwidth is: a line in logarithms would be above it."""
    sizes = np.array([1024.0, 16384.0])
    assert time_at(sizes, 2e-6 + sizes / 1e9, 4096) == pytest.approx(2e-6 + 4096 / 1e9)


def test_how_far_sizes_are_from_their_neighbours_says_what_lies_between() -> None:
    """Where the algorithm changes a line is off, and an interval has to say so."""
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    assert miss_at(sizes, 3 + 2 * sizes, 5) == pytest.approx(0)
    jump = np.where(sizes > 4, 2 * sizes, sizes)
    assert miss_at(sizes, jump, 6) > 0.2
    assert miss_at(sizes, jump, 1.5) < 0.2
    assert miss_at(sizes[:2], np.array([1.0, 2.0]), 1.5) == 0


def test_a_group_that_no_formula_describes_does_not_refuse_the_run() -> None:
    """It is kept as measured; what is warned of is the noise of its repetitions."""
    run = grid_run(ops=("bcast",), sizes=(64, 1024, 16384, 262144), repeats=2, noise=3.0)
    model = models.fit([run])
    assert any("leave-one-out" in text and "repetitions" in text for text in model.warnings)
    assert len(model.kept["groups"]) == 7


def test_a_column_of_another_stride_is_another_group() -> None:
    """Two ranks 24 apart are behind one switch, and two that are 32 apart behind two."""
    runs = [grid_run(p, (f"2x{p // 2}",), ops=("bcast",)) for p in (16, 32)]
    columns = [
        one for one in models.fit(runs).kept["groups"] if (one.group, one.ranks) == ("LG", 2)
    ]
    assert {one.stride for one in columns} == {8, 16}


def test_powers_of_two_are_like_powers_of_two() -> None:
    def group(ranks: int, stride: int = 1) -> MeasuredGroup:
        return MeasuredGroup("bcast", "LG", ranks, stride, 0, 0, [1], [1.0], [None], [None])

    known = [group(p) for p in (3, 4, 6, 16)] + [group(4, 9)]
    assert [one.ranks for one in like(known, "bcast", "LG", 8, 1)] == [4, 16]
    assert [one.ranks for one in like(known, "bcast", "LG", 5, 1)] == [3, 6]
    assert [one.stride for one in like(known, "bcast", "LG", 8, 8)] == [9, 1]
    only = [group(p) for p in (3, 4, 6)]
    assert [one.ranks for one in like(only, "bcast", "LG", 8, 1)] == [3, 4, 6]


def test_a_whole_operation_is_held_against_the_sum_of_its_phases() -> None:
    run = grid_run(ops=("bcast",), grids=("4x4",), noise=0.0, repeats=6)
    table = run.tables["sample"]
    table.columns["seconds"] = np.where(
        (table["grid"] == "4x4") & (table["phase"] == "total"),
        0.8 * table["seconds"],
        table["seconds"],
    )
    known = models.fit([run]).kept["disturbance"]
    found = [one for one in known if one.phase == "total"]
    assert len(found) == len(SIZES)
    assert {(one.groups, one.phase_ranks) for one in found} == {(4, 4)}
    for one in found:
        assert one.factor == pytest.approx(0.8)
    assert together_of(known, "bcast", 4, 4, 9999) == pytest.approx((0.8, 0.8, 0.8))
    assert together_of(known, "bcast", 2, 8, 9999) is None


def test_two_runs_of_the_same_group_are_one() -> None:
    def group(sizes: list[float], seconds: list[float]) -> MeasuredGroup:
        low: list[float | None] = [0.9 * t for t in seconds]
        return MeasuredGroup("bcast", "CG", 4, 1, 1, 4, sizes, seconds, low, [None] * len(sizes))

    (one,) = merged([group([1, 2], [1.0, 2.0]), group([2, 4], [8.0, 3.0])])
    assert one.bytes == [1, 2, 4]
    assert one.seconds == pytest.approx([1, 4, 3])
    assert one.low == pytest.approx([0.9, 1.8, 2.7])
    assert one.high == [None, None, None]


# --- the model file -------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("member", "value", "says"),
    [
        (
            "disturbance",
            [
                {
                    "op": "bcast",
                    "phase": "CG",
                    "phase_op": "bcast",
                    "phase_ranks": 4,
                    "phase_bytes": 8,
                    "groups": 4,
                    "sharing": 1,
                    "factor": 0.0,
                }
            ],
            "factor",
        ),
        ("disturbance", [{"op": "bcast"}], "damaged"),
        (
            "groups",
            [
                {
                    "op": "bcast",
                    "group": "CG",
                    "ranks": 4,
                    "stride": 1,
                    "nodes": 1,
                    "ppn": 4,
                    "bytes": [1, 2],
                    "seconds": [1.0],
                    "low": [],
                    "high": [],
                }
            ],
            "one time",
        ),
        (
            "groups",
            [
                {
                    "op": "bcast",
                    "group": "CG",
                    "ranks": 4,
                    "stride": 1,
                    "nodes": 1,
                    "ppn": 4,
                    "bytes": [2, 1],
                    "seconds": [1.0, 1.0],
                    "low": [None, None],
                    "high": [None, None],
                }
            ],
            "ascending",
        ),
    ],
)
def test_damaged_members_of_a_model_file_are_refused(member: str, value: object, says: str) -> None:
    document = models.document(models.fit([grid_run(ops=("bcast",))]))
    del document["sha256"]
    with pytest.raises(InputError, match=says):
        from_document({**document, member: value})


def test_a_model_without_grids_has_neither_member_in_its_file() -> None:
    document = models.document(models.fit([collective(("bcast",), p) for p in (4, 8)]))
    assert not {"disturbance", "groups"} & document.keys()
