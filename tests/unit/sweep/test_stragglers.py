"""Who is said to be late: nobody on a healthy machine, whatever the algorithm of the library."""

from __future__ import annotations

import pytest

from isochrone.base.operations import EQUAL_WORK
from isochrone.sweep.curves import curves
from isochrone.sweep.stragglers import late
from made_up import trees
from made_up.grids import grid_run
from made_up.sweeps import bisection, done_at, table_of

RANKS = (2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 48)
ROOTED = ("bcast", "reduce", "gather", "scatter", "scan")


def named(op: str, units: list[float], **options: float) -> list[int]:
    run = done_at(op, units, **options)  # type: ignore[arg-type]
    return [part.who[0] for part in late(curves(run)[0], run.hosts)]


@pytest.mark.parametrize("tree", trees.TREES)
@pytest.mark.parametrize("ranks", RANKS)
def test_no_rank_of_a_healthy_tree_is_late(tree: str, ranks: int) -> None:
    """Leaves are done later than inner ranks: that is the algorithm and no verdict."""
    parents = trees.TREES[tree](ranks)
    for op in ("bcast", "scatter"):
        assert named(op, trees.bcast(parents)) == []
    for op in ("reduce", "gather"):
        assert named(op, trees.reduce(parents)) == []
    assert named("scan", [float(k + 1) for k in range(ranks)]) == []


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.15])
def test_no_rank_of_a_healthy_allreduce_is_late(ranks: int, noise: float) -> None:
    """Whether it goes along a tree and back, or some ranks wait for one more step."""
    for make in trees.TREES.values():
        assert named("allreduce", trees.allreduce(make(ranks)), noise=noise) == []
    assert named("allreduce", trees.recursive_doubling(ranks), noise=noise) == []
    assert named("barrier", [float(ranks.bit_length())] * ranks, noise=noise) == []


@pytest.mark.parametrize("op", EQUAL_WORK)
def test_a_slow_rank_is_named_where_all_do_the_same(op: str) -> None:
    units = [4.0] * 16
    units[11] *= 1.6
    assert named(op, units) == [11]


def test_all_ranks_of_a_slow_node_are_named() -> None:
    units = [4.0] * 16
    units[4:8] = [8.0] * 4
    assert sorted(named("allreduce", units)) == [4, 5, 6, 7]


def test_a_slow_rank_of_an_operation_with_a_root_is_not_judged() -> None:
    """Its part is not known, so nothing is said of it."""
    units = [4.0] * 16
    units[11] *= 3
    assert [named(op, units) for op in ROOTED] == [[]] * len(ROOTED)


def test_what_chance_explains_is_not_named() -> None:
    """Few repetitions with much noise put somebody last: that is no verdict."""
    chance = [named("allreduce", [4.0] * 8, noise=0.4, repeats=2, seed=seed) for seed in range(100)]
    assert sum(map(bool, chance)) <= 1
    assert named("allreduce", [4.0] * 7 + [12.0], sizes=(8,), repeats=5) == []  # type: ignore[arg-type]


def test_a_slow_pair_of_a_bisection_is_named() -> None:
    run = bisection(9, slow=2)
    assert [part.who for part in late(curves(run)[0], run.hosts)] == [(2, 6)]


def test_pairs_between_nodes_are_not_late_beside_pairs_within_one() -> None:
    """Eight of twelve pairs stay within a node and take a fifth of the time."""
    run = bisection(24, per_node=24)
    hosts = [f"n{k}" for k in range(24)]
    hosts[12:20] = hosts[:8]
    rows = [dict(row) for row in run.tables["sample"].rows()]
    for row in rows:
        row["times"] = [t * (0.2 if pair < 8 else 1.0) for pair, t in enumerate(row["times"])]
    run.tables["sample"] = table_of(rows)
    assert late(curves(run)[0], hosts) == []
    assert len(late(curves(run)[0])) == 4  # where it is not known who is on one node


@pytest.mark.parametrize("grid", ["library", "4x4"])
def test_ranks_of_a_grid_have_different_parts_and_are_not_compared(grid: str) -> None:
    """The same times, of which one rank's are long: a verdict of the library's own only."""
    run = grid_run(sizes=(1024,))
    table = run.tables["sample"]
    table.columns["times"][:] = [[1e-5] * 15 + [3e-5 + 1e-9 * k] for k in range(len(table))]
    found = {str(curve.key["grid"]): late(curve, run.hosts) for curve in curves(run) if curve.whole}
    assert [part.who for part in found[grid]] == ([(15,)] if grid == "library" else [])
