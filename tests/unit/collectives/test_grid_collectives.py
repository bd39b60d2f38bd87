"""Collectives on grids: the paper's formulas, disturbance, intervals, and which grid is best."""

from __future__ import annotations

from math import floor, isnan, log2

import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.collectives.grid_collectives import Grid, Phase, all_grids
from isochrone.collectives.measured import Disturbance, factor_of
from isochrone.collectives.predicted_grids import (
    NOISE,
    GridTime,
    Machine,
    PhaseTime,
    places,
    predict,
    ranked,
    verdict,
    warnings_of,
)
from isochrone.models import Model, Segment
from made_up.grid_runs import disturbed, grid_run, group_time, total_time

MICRO = 1e-6

KIB = 1024


def published(name: str) -> Model:
    return models.read(ROOT / f"examples/models/{name}.json")


# --- the paper ------------------------------------------------------------------------------------


def bcast(p: int, b: float) -> float:
    """Table 2."""
    return (-0.085 + 0.092 * p) * MICRO * b if p <= 4 else (0.038 + 0.474 * log2(p)) * MICRO * b


def reduce(p: int, b: float) -> float:
    """Table 2."""
    by_ranks = -0.103 + 0.105 * p if p <= 4 else 0.141 + 0.101 * floor(log2(p - 1))
    return by_ranks * MICRO * b


def gather(p: int, b: float) -> float:
    """Table 3."""
    return 0.009 + (-0.0825 + 0.0929 * p) * MICRO * b


def scatter(p: int, b: float) -> float:
    """Table 3."""
    return (-0.0730 + 0.0897 * p) * MICRO * b


def allreduce(p: int, b: float) -> float:
    """Table 1."""
    return reduce(p, b) + bcast(p, b)


def allgather(p: int, b: float) -> float:
    """Table 1."""
    return gather(p, b) + bcast(p, p * b)


BY_HAND = {
    "bcast": lambda p1, p2, b: bcast(p1, b) + bcast(p2, b),
    "gather": lambda p1, p2, b: gather(p2, b) + gather(p1, p2 * b),
    "scatter": lambda p1, p2, b: scatter(p1, p2 * b) + scatter(p2, b),
    "reduce": lambda p1, p2, b: reduce(p2, b) + reduce(p1, b),
    "allreduce": lambda p1, p2, b: allreduce(p2, b) + allreduce(p1, b),
    "allgather": lambda p1, p2, b: allgather(p2, b) + allgather(p1, p2 * b),
}


@pytest.mark.parametrize("op", BY_HAND)
@pytest.mark.parametrize(("p1", "p2"), [(2, 48), (4, 24), (8, 12), (24, 4), (48, 2)])
def test_the_clic_takes_on_a_grid_what_the_tables_of_the_paper_say(
    op: str, p1: int, p2: int
) -> None:
    """Evaluated by hand from tables 1 to 3, for the 96 processors of the figures."""
    sizes = [10 * KIB, 100 * KIB, 500 * KIB]
    found = predict(published("clic"), op, 96, [Grid(f"{p1}x{p2}", p1, p2)], sizes)
    assert [one.bytes for one in found] == sizes
    for one in found:
        assert one.seconds == pytest.approx(BY_HAND[op](p1, p2, one.bytes), rel=1e-12)


def test_on_a_t3e_the_phases_of_a_gather_are_in_the_segments_of_their_own_blocks() -> None:
    """The root of the second phase gathers p2 times the block: table 5, No. 1 and then No. 2."""
    b = 100 * KIB
    first = (-0.00134 + 0.00308 * 4) * MICRO * b  # 400 KiB
    second = -0.020 + (0.0157 + 0.00505 * 24) * MICRO * 4 * b  # 9600 KiB
    (found,) = predict(published("t3e-1200"), "gather", 96, [Grid("24x4", 24, 4)], [b])
    assert [one.seconds for one in found.phases] == pytest.approx([first, second], rel=1e-12)
    (spread,) = predict(published("t3e-1200"), "scatter", 96, [Grid("8x12", 8, 12)], [b])
    by_hand = (0.0002453 + 0.00297 * 8) * 12 * b + (0.0002453 + 0.00297 * 12) * b
    assert spread.seconds == pytest.approx(by_hand * MICRO, rel=1e-12)


def test_what_a_model_does_not_hold_is_refused(golden: Golden) -> None:
    with golden.refusal():
        predict(published("clic"), "alltoall", 96, [Grid("8x12", 8, 12)], [KIB])
    with pytest.raises(InputError, match="no two-phase algorithm"):
        predict(published("clic"), "barrier", 96, [None], [KIB])
    with pytest.raises(InputError, match="not 96"):
        predict(published("clic"), "bcast", 96, [Grid("8x13", 8, 13)], [KIB])


def test_one_row_or_one_column_is_the_library_itself() -> None:
    grids = [None, Grid("1x96", 1, 96), Grid("96x1", 96, 1)]
    own, row, column = predict(published("clic"), "allgather", 96, grids, [10 * KIB])
    assert own.seconds == row.seconds == column.seconds
    assert [len(one.phases) for one in (own, row, column)] == [1, 1, 1]


def test_a_phase_beyond_the_sizes_of_the_model_is_said(golden: Golden) -> None:
    """A block within them becomes one of 12 times the size, of which the formula knows nothing."""
    (found,) = predict(published("clic"), "allgather", 96, [Grid("8x12", 8, 12)], [100 * KIB])
    golden(warnings_of([found]))
    (near,) = predict(published("clic"), "allgather", 96, [Grid("8x12", 8, 12)], [20 * KIB])
    assert not any("outside" in text for text in warnings_of([near]))


def test_a_disturbance_that_was_not_measured_is_said_and_taken_to_be_none(golden: Golden) -> None:
    (found,) = predict(published("clic"), "bcast", 96, [Grid("8x12", 8, 12)], [100 * KIB])
    assert [one.factor for one in found.phases] == [1.0, 1.0]
    (said,) = warnings_of([found])
    golden(said)


# --- what was measured ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted() -> Model:
    """A model of 16 ranks on 4 nodes, whose columns share the ways out of a node."""
    return models.fit([grid_run()])


def truth(op: str, grid: GridTime) -> float:
    if grid.grid == "library":
        return group_time(op, "CG", 16, grid.bytes)
    p1, p2 = Grid.parse(grid.grid).over(16)
    return total_time(op, p1, p2, grid.bytes, min(4, p2))


@pytest.mark.slow
@pytest.mark.parametrize("op", ["bcast", "allgather"])
def test_totals_follow_from_phases_alone_and_their_disturbance(fitted: Model, op: str) -> None:
    """Totals of grids are in the run, too, and no formula was fitted to them."""
    sizes = [1024, 8192, 65536, 200_000]
    found = predict(fitted, op, 16, [None, *all_grids(16)], sizes, Machine(4, 4))
    assert len(found) == 4 * len(sizes)
    for one in found:
        assert one.seconds == pytest.approx(truth(op, one), rel=0.04)
        assert one.low < one.seconds < one.high


def test_the_factor_of_a_phase_is_that_of_its_block(fitted: Model) -> None:
    (found,) = predict(fitted, "allgather", 16, [Grid("4x4", 4, 4)], [65536], Machine(4, 4))
    rows, columns = found.phases
    assert rows.factor == pytest.approx(1.0, abs=0.02)
    assert columns.phase.bytes == 4 * 65536
    assert columns.factor == pytest.approx(disturbed("LG", 4, 4 * 65536), rel=0.02)
    assert not found.not_measured


def test_a_factor_is_between_those_of_the_nearest_sizes_and_of_the_same_sharing() -> None:
    known = [
        Disturbance("allgather", "LG", "allgather", ranks, size, groups, sharing, factor)
        for ranks, size, groups, sharing, factor in [
            (4, 1024, 8, 4, 1.0),
            (4, 4096, 8, 4, 3.0),
            (16, 1024, 8, 4, 9.0),
            (4, 2048, 8, 2, 7.0),
            (4, 2048, 64, 4, 5.0),
        ]
    ]

    def factor(
        ranks: int, size: int, sharing: int, phase: str = "LG", groups: int = 8
    ) -> float | None:
        found = factor_of(known, phase, "allgather", ranks, groups, size, sharing)
        return None if found is None else found[0]

    assert factor(4, 2048, 4) == pytest.approx(2.0)
    assert factor(5, 1, 4) == pytest.approx(1.0)
    assert factor(4, 1 << 20, 4) == pytest.approx(3.0)
    assert factor(12, 2048, 4) == pytest.approx(9.0)
    assert factor(4, 2048, 2) == pytest.approx(7.0)
    assert factor(4, 2048, 4, groups=60) == pytest.approx(5.0)
    assert factor(4, 2048, 3) is None
    assert factor(4, 2048, 4, "CG") is None


@pytest.mark.slow
def test_another_grid_than_those_measured_is_predicted_by_the_formulas() -> None:
    model = models.fit([grid_run(32, ("2x16", "8x4", "16x2"))])
    found = predict(model, "bcast", 32, [Grid("4x8", 4, 8)], [16384], Machine(8, 4))
    assert found[0].seconds == pytest.approx(total_time("bcast", 4, 8, 16384, 4), rel=0.05)


def test_measured_groups_and_disturbances_are_in_the_model_file(
    fitted: Model, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("model") / "grid.json"
    models.write(fitted, path)
    again = models.read(path)
    assert again.kept == fitted.kept
    asked = ("allgather", 16, [None, *all_grids(16)], [3000], Machine(4, 4))
    assert [o.seconds for o in predict(again, *asked)] == [
        o.seconds for o in predict(fitted, *asked)
    ]


# --- which is best --------------------------------------------------------------------------------


def made(grid: str, seconds: float, half: float) -> GridTime:
    phase = Phase("CG", "bcast", 16, 1024, 1)
    one = PhaseTime(phase, seconds, seconds - half, seconds + half, 1.0)
    return GridTime("bcast", 16, 1024, grid, (one,), [])


def test_a_grid_is_best_only_where_its_interval_is_below_that_of_the_library() -> None:
    assert verdict([made("library", 10, 1), made("4x4", 7, 1)]) == "4x4"
    assert verdict([made("library", 10, 2), made("4x4", 7, 2)]) == NOISE
    assert verdict([made("library", 6, 1), made("4x4", 9, 1)]) == "library"
    assert verdict([made("library", 6, 1), made("4x4", 7, 1)]) == NOISE


def test_two_grids_that_are_alike_are_both_better_than_the_library() -> None:
    assert verdict([made("library", 10, 1), made("4x4", 7, 1), made("2x8", 6.9, 1)]) == "2x8"


def test_without_intervals_the_times_decide_and_that_is_said(golden: Golden) -> None:
    found = predict(published("clic"), "bcast", 96, [None, *all_grids(96)], [100 * KIB])
    assert verdict(found) == ranked(found)[0].grid == "24x4"
    assert isnan(found[0].low)
    golden(warnings_of(found))


def test_intervals_of_phases_are_added() -> None:
    """Two phases of one model may be wrong in the same direction."""
    parts = made("a", 10, 1).phases + made("b", 20, 3).phases
    both = GridTime("bcast", 16, 1024, "4x4", parts, [])
    assert (both.low, both.seconds, both.high) == (26, 30, 34)


# --- where the groups are -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "ppn", "group", "expected"),
    [
        ("16x4", 4, "CG", (1, 4, 1)),  # a row is a node
        ("16x4", 4, "LG", (16, 1, 4)),  # and a column takes one rank of each
        ("4x16", 4, "CG", (4, 4, 1)),
        ("4x16", 4, "LG", (4, 1, 4)),
        ("32x2", 4, "CG", (1, 2, 2)),
        ("32x2", 4, "LG", (16, 2, 2)),
    ],
)
def test_a_group_is_on_nodes_as_its_ranks_follow_each_other(
    grid: str, ppn: int, group: str, expected: tuple[int, int, int]
) -> None:
    p1, p2 = Grid.parse(grid).over(64)
    phase = Phase(group, "allgather", p2 if group == "CG" else p1, 1, 2)  # type: ignore[arg-type]
    found = places(phase, grid, p2, Machine(16, ppn), 64)
    assert found is not None
    assert (found.nodes, found.ppn, found.sharing) == expected


def test_in_cyclic_placement_a_row_is_spread_and_a_column_is_on_one_node() -> None:
    machine = Machine(4, 4, "cyclic")
    row = places(Phase("CG", "bcast", 4, 1, 4), "4x4", 4, machine, 16)
    column = places(Phase("LG", "bcast", 4, 1, 4), "4x4", 4, machine, 16)
    of_node = places(Phase("CG", "bcast", 4, 1, 4), "nodes", 4, machine, 16)
    assert row is not None
    assert column is not None
    assert of_node is not None
    assert (row.nodes, row.ppn, row.sharing) == (4, 1, 4)
    assert (column.nodes, column.ppn) == (1, 4)
    assert (of_node.nodes, of_node.ppn, of_node.sharing) == (1, 4, 1)


def test_a_group_that_works_alone_shares_nothing() -> None:
    found = places(Phase("LG", "bcast", 4, 1, 1), "4x4", 4, Machine(4, 4), 16)
    assert found is not None
    assert found.sharing == 1


def test_a_model_that_holds_nodes_needs_to_know_them(golden: Golden) -> None:
    tree = Segment(
        "hierarchical-tree", ["ceil(log2(nodes))", "ppn"], [1e-6, 1e-7], where={"op": "bcast"}
    )
    with golden.refusal():
        predict(Model([tree]), "bcast", 16, [Grid("4x4", 4, 4)], [1])
