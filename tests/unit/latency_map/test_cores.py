"""Cores of one node: their levels, and which cores and pairs are slow compared with their peers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from isochrone.base.stats import outlier_limit
from isochrone.latency_map import cores
from isochrone.latency_map.core_effects import core_effects
from isochrone.latency_map.cores import CoreHierarchies, scatter, scatter_freedom, shrunk
from isochrone.latency_map.fitting import likelihood
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import groups_of
from isochrone.latency_map.thresholds import FAST_STRAY
from isochrone.latency_map.topology import Topology, analyse
from made_up.latency_maps import MICROSECOND, Matrix, blank, map_of, noisy, tree

CLUSTERS = ([2, 4, 4], [0.02, 0.05, 0.12])
"""4 clusters of 4 cores of 2 threads; round trips in µs."""


def read(times: Matrix) -> Topology:
    return analyse(map_of(times, ["n0"] * len(times)))


def named(found: Topology) -> list[list[int]]:
    return sorted(list(part.ranks) for part in found.slow)


def levels(found: Topology) -> list[list[list[int]]]:
    """Return the groups of each level but that of all cores."""
    return [level.groups for level in found.levels[:-1]]


def codes(found: Topology) -> set[str]:
    return {warning["code"] for warning in found.warnings}


def in_rows(ranks: int, size: int) -> list[list[int]]:
    """Return groups of so many successive ranks."""
    return groups_of(np.arange(ranks) // size)


def clusters(noise: float = 0.02, seed: int = 1) -> Matrix:
    return noisy(tree(*CLUSTERS), noise, seed)


def slower(times: Matrix, slow: Sequence[int], factor: float) -> Matrix:
    """Make all pairs of some cores take longer, those of two slow ones twice."""
    own = np.where(np.isin(np.arange(len(times)), slow), factor, 1.0)
    return times * own[:, None] * own


def pair_slower(times: Matrix, i: int, j: int, factor: float) -> Matrix:
    changed = times.copy()
    changed[i, j] = changed[j, i] = factor * times[i, j]
    return changed


def hybrid(inside: float) -> Matrix:
    """8 threads of 4 fast cores, and 8 slow cores in clusters of 4 that take so long inside."""
    rank = np.arange(16)
    slow = rank >= 8
    core = np.where(slow, rank, rank // 2)
    cluster = np.where(slow, rank // 4, -rank - 1)
    times = np.array([0.035, 0.040, 0.045])[slow[:, None].astype(int) + slow]
    times = np.where(cluster[:, None] == cluster, inside, times)
    return blank(np.where(core[:, None] == core, 0.006, times))


def mesh(rows: int, columns: int) -> Matrix:
    """Cores on a grid: each step adds 6 % of the time of neighbours."""
    core = np.arange(rows * columns)
    steps = sum(np.abs(k[:, None] - k) for k in (core // columns, core % columns))
    return blank(0.06 * (1 + 0.06 * steps))


def times_of(matrix: Matrix) -> Times:
    i, j = np.nonzero(np.triu(np.isfinite(matrix), 1))
    root = np.zeros(len(matrix), dtype=np.int64)
    return Times(len(matrix), i, j, matrix[i, j] * MICROSECOND, np.zeros(len(i)), root)


# ---- levels ------------------------------------------------------------------------------------


def test_siblings_and_clusters_are_found_exactly() -> None:
    """Protects the levels of a processor whose core numbers follow them."""
    found = read(clusters())
    assert levels(found) == [in_rows(32, 2), in_rows(32, 8)]
    assert not found.slow
    assert not found.not_understood.pairs


def test_siblings_are_found_in_any_order_of_the_cores() -> None:
    """Protects second threads that are numbered after all first ones."""
    order = np.arange(32).reshape(16, 2).T.ravel()
    found = read(clusters()[np.ix_(order, order)])
    assert levels(found)[0] == [[k, k + 16] for k in range(16)]
    assert len(levels(found)) == 2


def test_each_cluster_may_have_its_own_time() -> None:
    """Protects clusters that differ by 30 % from being called slow, or split."""
    own = np.array([0.8, 1.0, 1.1, 1.3])[np.arange(32) // 8]
    group = np.arange(32) // 8
    inside = (group[:, None] == group) & (np.arange(32)[:, None] // 2 != np.arange(32) // 2)
    found = read(np.where(inside, clusters() * own[:, None], clusters()))
    assert levels(found) == [in_rows(32, 2), in_rows(32, 8)]
    assert not found.slow


@pytest.mark.parametrize("inside", [0.036, 0.045, 0.065])
def test_hybrid_processors_have_nothing_slow(inside: float) -> None:
    """Protects clusters of E-cores that are slower inside than across from being called slow."""
    found = read(noisy(hybrid(inside), 0.02, 2))
    assert not found.slow
    assert not found.not_understood.pairs


def test_siblings_of_hybrid_processors_are_found() -> None:
    """Protects the threads of P-cores, beside E-cores that have no siblings."""
    found = read(noisy(hybrid(0.036), 0.02, 2))
    pairs = [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert levels(found) == [[*pairs, *([k] for k in range(8, 16))]]


def test_a_mesh_has_one_level_and_says_that_times_are_distances() -> None:
    """Protects a mesh of cores, where the farthest are no outliers, from groups and accusations."""
    found = read(noisy(mesh(6, 6), 0.02, 3))
    assert levels(found) == []
    assert "no-hierarchy" in codes(found)
    assert not found.slow
    assert not found.not_understood.pairs


# ---- slow cores --------------------------------------------------------------------------------


def test_half_of_the_cores_is_another_kind() -> None:
    """Protects two kinds of cores, one 1.4 times slower: no majority is slow, and no half."""
    found = read(slower(noisy(tree([16], [0.05]), 0.02, 4), range(0, 16, 2), 1.4))
    assert not found.slow
    assert not found.not_understood.pairs


@pytest.mark.parametrize("size", ["clusters", "mesh", "flat"])
def test_a_slow_core_is_named_alone(size: str) -> None:
    """Protects a core at 1.5 times from being missed, and its siblings from being named."""
    healthy = {"clusters": clusters(), "mesh": mesh(6, 6), "flat": tree([8], [0.05])}[size]
    found = read(slower(noisy(healthy, 0.02, 5), [5], 1.5))
    assert named(found) == [[5]]
    (slow,) = found.slow
    assert slow.ratio == pytest.approx(1.5, rel=0.06)
    assert not found.not_understood.pairs


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (0, 9)])
def test_a_slow_pair_is_named_alone(pair: tuple[int, int]) -> None:
    """Protects a pair at 2 times on each level, and its cores from being blamed."""
    found = read(pair_slower(clusters(), *pair, 2.0))
    assert named(found) == [list(pair)]
    assert not found.not_understood.pairs


@pytest.mark.parametrize("slow", [[0, 9], [0, 9, 17, 30], range(0, 30, 3)])
def test_up_to_a_third_of_the_cores_are_all_named(slow: Sequence[int]) -> None:
    """Protects from taking several slow cores for a kind of cores."""
    found = read(slower(noisy(tree([32], [0.05]), 0.02, 1), slow, 1.6))
    assert named(found) == [[k] for k in slow]


@pytest.mark.parametrize(
    "slow",
    [
        [0, 9],
        [0, 9, 17, 30],
        range(0, 30, 3),
        range(0, 32, 4),
    ],
)
def test_several_slow_cores_are_named_and_not_their_siblings(slow: Sequence[int]) -> None:
    """Protects from taking slow cores and their siblings for a level of their own."""
    found = read(slower(clusters(), slow, 1.6))
    assert named(found) == [[k] for k in slow]


@pytest.mark.parametrize("turns", [1, 2])
def test_groups_by_number_need_no_dendrogram(monkeypatch: pytest.MonkeyPatch, turns: int) -> None:
    """Protects levels where disturbed siblings spoil the cuts: cores in order, and in turn."""
    monkeypatch.setattr(cores, "cuts_of", lambda _: [])
    core = np.arange(32) // 2 if turns == 1 else np.arange(32) % 16
    near = np.where(core[:, None] == core, 0.012, 0.038)
    times = blank(np.where(core[:, None] // 4 == core // 4, near, 0.33))
    assert levels(read(times)) == [groups_of(core), groups_of(core // 4)]


def test_times_that_were_not_measured_change_nothing() -> None:
    """Protects the reading of maps with gaps: a tenth of the pairs that are no siblings."""
    times = slower(clusters(), [5], 1.5)
    gaps = np.triu(np.random.default_rng(6).random(times.shape) < 0.1, 1)
    gaps &= times > 0.04
    found = read(np.where(gaps | gaps.T, np.nan, times))
    assert levels(found) == [in_rows(32, 2), in_rows(32, 8)]
    assert named(found) == [[5]]


# ---- from when on something is slow ------------------------------------------------------------


def flat(cores: int = 16) -> Matrix:
    return tree([cores], [0.05])


@pytest.mark.parametrize(("factor", "is_named"), [(1.2, False), (1.35, True)])
def test_a_core_is_slow_from_a_quarter_on(factor: float, is_named: bool) -> None:
    """Protects healthy cores at the edge of a chip, which take so much longer."""
    assert named(read(slower(flat(), [5], factor))) == [[5]] * is_named


@pytest.mark.parametrize(("part", "is_named"), [(0.985, False), (1.015, True)])
def test_a_core_is_slow_beyond_what_its_peers_explain(part: float, is_named: bool) -> None:
    """Protects healthy maps of peers that scatter: one of 500 has a core that is called slow."""
    own = 0.1 * np.linspace(-1, 1, 17)
    limit = outlier_limit(17, 4 + scatter_freedom(17), 0.002) * scatter(own)
    own[-2:] = 0.7 * limit, part * limit
    times = times_of(blank(0.05 * np.exp(own[:, None] + own)))
    found = core_effects(times, CoreHierarchies(times, []).shortest())
    assert found.slow.tolist() == [16] * is_named


@pytest.mark.parametrize("pairs", [[(2, 9)], [(2, 9), (4, 13)]])
@pytest.mark.parametrize(("factor", "is_named"), [(1.5, False), (1.75, True)])
def test_one_or_two_pairs_are_slow_from_three_fifths_on(
    pairs: list[tuple[int, int]], factor: float, is_named: bool
) -> None:
    """Protects healthy pairs, which protocols of caches make so much slower."""
    times = flat()
    for i, j in pairs:
        times = pair_slower(times, i, j, factor)
    assert named(read(times)) == [list(pair) for pair in pairs if is_named]


@pytest.mark.parametrize(("other", "is_named"), [(1.4, True), (1.7, False)])
def test_a_slow_pair_is_half_as_far_off_again_as_others(other: float, is_named: bool) -> None:
    """Protects the tail of a wide distribution: three pairs of it and a longer one."""
    times = pair_slower(flat(), 2, 9, 1.9)
    for i, j in ((0, 5), (3, 12), (6, 14)):
        times = pair_slower(times, i, j, other)
    assert named(read(times)) == [[2, 9]] * is_named


def test_interrupts_of_the_boot_core_are_no_slow_pair_of_siblings() -> None:
    """Protects a pair of siblings that takes no more extra time than other pairs of its cores."""
    times = pair_slower(clusters(), 0, 1, 1.8)
    assert not read(pair_slower(times, 0, 9, 1.3)).slow


@pytest.mark.parametrize(("next_one", "is_named"), [(0.12, True), (0.25, False)])
def test_a_core_far_off_all_others_is_slow(next_one: float, is_named: bool) -> None:
    """Protects slow cores among those whose places make them scatter widely, but within bounds."""
    own = np.append(0.11 * np.linspace(-1, 1, 15), [next_one, 0.29])
    found = read(blank(0.05 * np.exp(own[:, None] + own)))
    assert named(found) == [[16]] * is_named


@pytest.mark.parametrize("pairs", [[(0, 5), (2, 9)], [(0, 5), (2, 9), (3, 12)]])
def test_more_than_two_slow_pairs_of_a_level_are_unexplained(pairs: list[tuple[int, int]]) -> None:
    """Protects the tail of a wide distribution from being named, and from silence."""
    times = flat()
    for i, j in pairs:
        times = pair_slower(times, i, j, 2.0)
    found, few = read(times), len(pairs) <= 2
    assert named(found) == [list(pair) for pair in pairs if few]
    assert found.not_understood.pairs == (0 if few else len(pairs))


def test_a_cluster_that_is_slow_inside_is_unexplained() -> None:
    """Protects slow caches: such a processor is not called healthy, although no core is slow."""
    times, members = clusters(), np.arange(32) // 8 == 1
    found = read(np.where(members[:, None] & members, 1.5 * times, times))
    assert not found.slow
    assert found.not_understood.pairs >= 24


@pytest.mark.parametrize("unmeasured", [False, True])
def test_the_time_of_a_cluster_is_that_of_three_pairs_or_more(unmeasured: bool) -> None:
    """Protects a cluster of three cores with its own time; two slow pairs are no such time."""
    times, cluster = tree([3, 5], [0.05, 0.12]), np.arange(15) // 3
    times = np.where((cluster[:, None] == cluster) & (cluster == 1), 1.9 * times, times)
    if unmeasured:
        times[3, 4] = times[4, 3] = np.nan
    map_times = times_of(times)
    found = core_effects(map_times, CoreHierarchies(map_times, [cluster]).shortest())
    of_cluster = (cluster[map_times.i] == 1) & (cluster[map_times.j] == 1)
    own = (map_times.seconds / found.expected)[of_cluster]
    assert len(found.slow_pairs) == (2 if unmeasured else 0)
    assert np.all(own > 1.5) if unmeasured else np.allclose(own, 1.0, rtol=0.05)


def test_threads_of_few_cores_are_a_level_beside_many_others() -> None:
    """Protects the siblings of 3 P-cores beside 10 E-cores: more than a third of the threads."""
    core = np.concatenate([np.arange(6) // 2, np.arange(3, 13)])
    times = blank(np.where(core[:, None] == core, 0.006, 0.036))
    assert levels(read(noisy(times, 0.02, 8))) == [groups_of(core)]


# ---- how much peers scatter --------------------------------------------------------------------


def test_the_scatter_of_many_is_their_standard_deviation() -> None:
    """Protects the scale of what is compared with peers: a fifth of the components may be slow."""
    off = 0.1 * np.random.default_rng(9).standard_normal(2000)
    assert scatter(off) == pytest.approx(0.1, rel=0.05)
    assert scatter(np.where(np.arange(2000) % 5, off, 1.0)) < 0.16


def test_the_scatter_of_few_is_the_usual_one() -> None:
    """Protects small maps: three components say nothing of their like; nine as much as is usual."""
    assert scatter(np.array([-0.5, 0.0, 0.5])) == pytest.approx(0.03, rel=0.1)
    assert scatter_freedom(3) == 0 < scatter_freedom(4)
    assert scatter(np.zeros(9)) == pytest.approx(0.03 / np.sqrt(2), rel=0.05)


def test_the_scatter_is_as_uncertain_as_the_quantile_that_it_is_estimated_from() -> None:
    """Protects the degrees of freedom: half the inverse of the relative variance."""
    dice = np.random.default_rng(10)
    found = [scatter(dice.standard_normal(201)) for _ in range(1000)]
    relative = np.var(found) / np.mean(found) ** 2
    assert scatter_freedom(201) == pytest.approx(0.5 / relative, rel=0.15)


@pytest.mark.parametrize(("deviations", "kept"), [(5.0, False), (6.2, True)])
def test_an_outlier_keeps_its_effect_where_others_are_shrunk(deviations: float, kept: bool) -> None:
    """Protects slow cores from being taken for peers, and peers from being taken for slow."""
    off = 0.05 * np.linspace(-1, 1, 41)
    off[-1] = deviations * scatter(off)
    effects, _ = shrunk(off, np.full(41, 3 / 0.05**2))
    assert (effects[-1] == pytest.approx(off[-1], rel=0.05)) == kept


def test_a_pair_is_hardly_ever_faster_for_no_reason() -> None:
    """Protects groups: faults only slow, so a fast pair is not seen as a stray one."""
    fast, slow = likelihood(np.array([-5.0, 5.0]), np.full(2, 0.1), FAST_STRAY)[0]
    assert slow / fast == pytest.approx(500, rel=0.2)


@pytest.mark.parametrize("near", [0.05, 0.02])
def test_four_cores_have_nothing_slow(near: float) -> None:
    """Protects the smallest maps from accusations, with siblings and without."""
    assert not read(noisy(tree([2, 2], [near, 0.05]), 0.02, 7)).slow
