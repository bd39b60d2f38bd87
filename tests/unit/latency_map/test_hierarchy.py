"""The levels: exactly those of the machine where it has any, none where it has none."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.latency_map.explanation import LEAVING, Part
from isochrone.latency_map.groupings import fill_missing
from isochrone.latency_map.hierarchy import explain
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import canonical, groups_of, level_matrix, nested
from made_up.latency_maps import (
    MICROSECOND,
    block,
    dragonfly,
    flat,
    leaving,
    noisy,
    shuffled,
    torus,
    tree,
)

HIERARCHIES = {
    "nodes": ([4, 4], [1, 3]),
    "many nodes": ([4, 32], [1, 2]),
    "nodes without ranks to share them": ([8, 8], [2, 4]),
    "nodes in switches": ([4, 4, 4], [1, 3, 4.5]),
    "256 ranks": ([4, 8, 8], [1, 3, 5]),
    "sockets, nodes, switches, pods": ([2, 2, 4, 4], [0.5, 1, 3, 5]),
    "256 ranks on four levels": ([4, 4, 4, 4], [0.5, 1, 3, 5]),
}


def find_partitions(
    matrix: np.ndarray, told: Sequence[np.ndarray] = (), uncertainty: float = 0.0
) -> list[np.ndarray]:
    """Return the hierarchy of a map of ranks, the closest first, all in one group last."""
    i, j = np.nonzero(np.triu(np.isfinite(matrix), 1))
    error, root = np.full(len(i), uncertainty), np.zeros(len(matrix), dtype=np.int64)
    times = Times(len(matrix), i, j, matrix[i, j] * MICROSECOND, error, root)
    return list(explain(times, told).chain)


def true_partitions(sizes: list[int]) -> list[np.ndarray]:
    rank = np.arange(np.prod(sizes))
    return [rank // width for width in np.cumprod(sizes)]


def same(found: list[np.ndarray], truth: list[np.ndarray]) -> bool:
    """Whether two hierarchies are equal but for the numbers of their groups."""
    pairs = zip(found, truth, strict=False)
    return len(found) == len(truth) and all(np.array_equal(f, canonical(t)) for f, t in pairs)


LARGE = ("many nodes", "256 ranks", "256 ranks on four levels")


@pytest.mark.slow
@pytest.mark.few(3)
@pytest.mark.parametrize("noise", [0, 0.1])
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.full) if n in LARGE else n for n in HIERARCHIES]
)
def test_the_hierarchy_is_found_whatever_the_order_of_the_ranks(name: str, noise: float) -> None:
    sizes, times = HIERARCHIES[name]
    matrix, order = shuffled(noisy(tree(sizes, times), noise, seed=4), seed=5)
    assert same(find_partitions(matrix), [p[order] for p in true_partitions(sizes)])


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0, 0.05])
@pytest.mark.parametrize(
    "shape",
    [(4, 4, 4), *(pytest.param(shape, marks=pytest.mark.full) for shape in ((5, 4, 4), (4, 8, 4)))],
)
def test_a_dragonfly_is_routers_in_groups(shape: tuple[int, int, int], noise: float) -> None:
    groups, routers, nodes = shape
    found = find_partitions(noisy(dragonfly(*shape), noise, seed=6))
    assert same(found, true_partitions([nodes, routers, groups]))


def test_nodes_of_different_sizes_are_found() -> None:
    node = np.repeat(np.arange(6), [8, 4, 2, 2, 5, 3])
    matrix = noisy(np.where(node[:, None] == node, 1.0, 3.0), 0.05, seed=7)
    assert same(find_partitions(matrix), [node, 0 * node])


@pytest.mark.few(8)
@pytest.mark.parametrize("noise", [0, 0.1])
@pytest.mark.parametrize("base", [0.5, 10])
@pytest.mark.parametrize(
    "shape",
    [(4,), (8,), (2, 2), (2, 3), (4, 4), (2, 8), (2, 2, 2)]
    + [pytest.param(shape, marks=pytest.mark.full) for shape in ((64,), (8, 8), (4, 4, 4))],
)
def test_a_torus_has_no_hierarchy(shape: tuple[int, ...], base: float, noise: float) -> None:
    """Every block of a torus has neighbours outside that are as near as those inside."""
    assert len(find_partitions(noisy(torus(shape, base), noise, seed=8))) == 1


def test_a_partition_that_the_machine_told_needs_less_evidence() -> None:
    """Three ranks on two hosts: by latency alone, a slow rank would look the same."""
    matrix = np.array([[np.nan, 1, 3], [1, np.nan, 3], [3, 3, np.nan]])
    assert len(find_partitions(matrix)) == 1
    told = np.array([0, 0, 1])
    assert same(find_partitions(matrix, [told]), [told, 0 * told])


def test_a_partition_that_is_told_but_not_seen_is_not_believed() -> None:
    told = np.arange(16) // 4
    assert len(find_partitions(noisy(flat(16), 0.1, seed=10), [told])) == 1


def test_levels_differ_by_more_than_the_uncertainty_of_the_pairs() -> None:
    matrix = tree([4, 4], [1, 1.5])
    assert len(find_partitions(matrix, uncertainty=0.1)) == 2
    assert len(find_partitions(matrix, uncertainty=0.6)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slow", "adding"),
    [
        ([2, 7], True),
        pytest.param([2], True, marks=pytest.mark.full),
        pytest.param([2, 7], False, marks=pytest.mark.full),
        pytest.param([0, 5, 9], True, marks=pytest.mark.full),
    ],
)
def test_slow_nodes_neither_make_a_level_nor_hide_one(slow: list[int], adding: bool) -> None:
    """Whether the costs of two slow nodes add up between them, or the slower one counts."""
    sizes, names = [4, 4, 4], block(16, 4)
    node = np.repeat(np.arange(16), 4)
    alone = [leaving(node == k, names) for k in slow]
    matrix = tree(sizes, [1, 3, 5]) + 3 * (sum(alone) if adding else np.maximum.reduce(alone))
    assert same(find_partitions(noisy(matrix, 0.05, seed=11)), true_partitions(sizes))


def test_a_node_far_from_all_others_is_slow() -> None:
    """Times of eight nodes, one of which has a link at a twentieth of the bandwidth; measured."""
    from_the_slow = [28.2, 20.3, 22.3, 28.2, 23.9, 22.3, 20.5]
    others = 1e-3 * np.array(
        [5, 1, 17, 22, 16, 26, 49, 1, 1, 16, 25, 1, 1, 22, 1, 6, 3, 1, 44, 27, 2]
    )
    i, j = np.triu_indices(8, 1)
    slow = (i == 2) | (j == 2)
    seconds, error = np.full(28, 16.0), np.zeros(28)
    seconds[slow], error[slow] = from_the_slow, [1e-3, 49e-3, 47e-3, 1e-3, 0.1, 0.085, 0.063]
    error[~slow] = others
    fit = explain(Times(8, i, j, 1e-3 * seconds, error, np.zeros(8, dtype=np.int64)))
    assert len(fit.chain) == 1
    assert fit.parts == (Part(LEAVING, (2,)),)


def test_two_groups_are_not_one_that_is_slow_inside() -> None:
    """Groups of 2 to 8 nodes in three racks; a node among the largest is slow by a quarter."""
    sizes, racks = [5, 3, 6, 2, 8, 4, 2, 2], [8, 8, 16]
    group, rack = (np.repeat(np.arange(len(of)), of) for of in (sizes, racks))
    i, j = np.triu_indices(32, 1)
    seconds = np.where(group[i] == group[j], 2.2, np.where(rack[i] == rack[j], 3.1, 9.9))
    seconds[(i == 19) | (j == 19)] += 0.6
    fit = explain(Times(32, i, j, 1e-6 * seconds, np.zeros(len(i)), np.zeros(32, dtype=np.int64)))
    assert [p.tolist() for p in fit.chain[:-1]] == [group.tolist(), rack.tolist()]
    assert fit.parts == (Part(LEAVING, (19,)),)


def test_a_slow_rank_stays_in_its_node() -> None:
    sizes = [4, 8]
    matrix = tree(sizes, [1, 3]) + 3 * leaving(np.arange(32) == 5)
    assert same(find_partitions(noisy(matrix, 0.05, seed=12)), true_partitions(sizes))


def test_a_slow_switch_stays_a_switch() -> None:
    """Its nodes are nearer to nobody than those of other switches are to each other."""
    sizes = [4, 4]
    members = np.arange(16) // 4 == 2
    matrix = tree(sizes, [3, 5]) + 3 * leaving(members)
    assert same(find_partitions(matrix), true_partitions(sizes))


def test_slow_pairs_change_no_group() -> None:
    sizes = [4, 4, 4]
    matrix = noisy(tree(sizes, [1, 3, 5]), 0.05, seed=13)
    for i, j in [(0, 1), (5, 20), (3, 60), (17, 18)]:
        matrix[i, j] = matrix[j, i] = 5 * matrix[i, j]
    assert same(find_partitions(matrix), true_partitions(sizes))


def test_missing_pairs_change_no_group() -> None:
    sizes = [4, 4, 4]
    matrix = noisy(tree(sizes, [1, 3, 5]), 0.05, seed=14)
    lost = np.triu(np.random.default_rng(15).random(matrix.shape) < 0.05, 1)
    matrix[lost | lost.T] = np.nan
    assert same(find_partitions(matrix), true_partitions(sizes))


def test_a_missing_pair_is_filled_in_by_the_groups_of_its_ranks() -> None:
    whole = tree([3, 3], [1, 3])
    partial = whole.copy()
    for i, j in [(0, 1), (0, 8)]:
        partial[i, j] = partial[j, i] = np.nan
    np.fill_diagonal(whole, 0)
    assert np.array_equal(fill_missing(partial), whole)


def test_a_rank_without_any_pair_takes_the_median() -> None:
    partial = flat(4)
    partial[3] = partial[:, 3] = np.nan
    assert fill_missing(partial)[3, :3] == pytest.approx([3, 3, 3])


partitions = st.lists(st.integers(0, 4), min_size=2, max_size=12).map(np.array)


@given(partitions)
def test_groups_are_a_partition_of_the_ranks(labels: np.ndarray) -> None:
    groups = groups_of(canonical(labels))
    assert sorted(rank for group in groups for rank in group) == list(range(len(labels)))
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)


@given(partitions)
def test_a_pair_is_on_the_first_level_that_joins_it(labels: np.ndarray) -> None:
    level = level_matrix([labels, np.zeros_like(labels)])
    assert np.array_equal(level == 0, labels[:, None] == labels)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10_000))
def test_any_map_gives_nested_groups_that_end_in_one(size: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).lognormal(0, 1, (size, size))
    found = find_partitions(np.triu(matrix, 1) + np.triu(matrix, 1).T)
    assert not found[-1].any()
    assert all(nested(a, b) for a, b in itertools.pairwise(found))
