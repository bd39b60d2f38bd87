"""What is just below a limit, and just above it: each number that decides, on a map made for it.

`bench/thresholds.py` changes the numbers and names those that no test holds.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from isochrone.latency_map import thresholds
from isochrone.latency_map.cores import CoreHierarchies, CoreModel, scatter, shrunk
from isochrone.latency_map.fitting import likelihood
from isochrone.latency_map.grid import grid_of
from isochrone.latency_map.groupings import Blocks
from isochrone.latency_map.hierarchy import explain, separates
from isochrone.latency_map.host_order import (
    groups_in_order,
    ways_in_order,
    ways_of_groups,
    ways_of_sizes,
)
from isochrone.latency_map.map_health import map_health
from isochrone.latency_map.next_pairs import next_pairs
from isochrone.latency_map.pairs import Times, rank_pairs, slow_ranks
from isochrone.latency_map.partitions import Partition
from isochrone.latency_map.retests import to_measure_again
from isochrone.latency_map.thresholds import FAST_STRAY
from isochrone.latency_map.topology import Topology, analyse
from isochrone.latency_map.what_is_slow import diagnose
from made_up.latency_maps import Matrix, block, flat, map_of, noisy, torus, tree


def read(times: Matrix) -> Topology:
    return analyse(map_of(times, block(len(times))))


def texts(found: Topology, code: str) -> list[str]:
    return [str(warning["text"]) for warning in found.warnings if warning["code"] == code]


def changed(times: Matrix, pairs: list[tuple[int, int]], factor: float) -> Matrix:
    times = times.copy()
    for i, j in pairs:
        times[i, j] = times[j, i] = factor * times[i, j]
    return times


def times_of(matrix: Matrix) -> Times:
    i, j = np.triu_indices(len(matrix), 1)
    root = np.zeros(len(matrix), dtype=np.int64)
    return Times(len(matrix), i, j, matrix[i, j] * 1e-6, np.zeros(len(i)), root)


@pytest.mark.parametrize(("fast", "unexplained"), [(6, 0), (9, 9)])
def test_a_hundredth_of_the_pairs_may_be_off(fast: int, unexplained: int) -> None:
    """Protects from doubts of heavy tails, and from silence: of 780 pairs, faster by a fifth."""
    pairs = [(k, k + 1) for k in range(fast)]
    assert read(changed(flat(40), pairs, 0.8)).not_understood.pairs == unexplained


@pytest.mark.parametrize(("single", "warned"), [(2, False), (3, True)])
def test_three_nodes_in_no_group_may_be_a_slow_switch(single: int, warned: bool) -> None:
    """Protects both explanations of nodes beside groups; two of them are no switch."""
    node = np.arange(12 + single)
    group = np.where(node < 12, node // 4, node)
    times = np.where(group[:, None] == group, 2.0, 4.0)
    np.fill_diagonal(times, np.nan)
    assert bool(texts(read(times), "no-group")) == warned


@pytest.mark.parametrize(("factor", "named"), [(1.4, False), (1.6, True)])
def test_of_few_ranks_a_pair_half_as_long_again_is_mentioned(factor: float, named: bool) -> None:
    """Protects from silence where nothing can be judged."""
    times = noisy(changed(flat(3), [(1, 2)], factor), 0.02, 1)
    assert [" 1-2 " in text for text in texts(read(times), "few-ranks")] == [named]


@pytest.mark.parametrize(("nodes", "is_grid"), [(7, False), (10, True)])
def test_a_ring_of_eight_nodes_or_more_is_a_grid(nodes: int, is_grid: bool) -> None:
    """Protects small machines from being called a torus by chance."""
    assert (grid_of(times_of(torus([nodes]))) is not None) == is_grid


def _efforts() -> list[str]:
    """Return the names of the numbers that bound the work of a search."""
    text = Path(thresholds.__file__).read_text("utf-8").partition("# ---- Effort")[2]
    return re.findall(r"^([A-Z_]+) = ", text, re.MULTILINE)


def _readings() -> list[object]:
    """Read machines of several kinds: what is found on each."""
    switches = tree([4, 4, 2], [1, 3, 5])
    slow = np.isin(np.arange(32), (7, 20))
    cores = np.where(np.arange(16)[:, None] // 2 == np.arange(16) // 2, 0.012, 0.05)
    readings = [
        read(noisy(switches + 2.0 * (slow[:, None] | slow), 0.03, 1)),
        analyse(map_of(noisy(tree([2, 6], [1, 3]), 0.05, 2), block(6, 2))),
        read(noisy(torus([4, 4]), 0.02, 3)),
        analyse(map_of(noisy(cores, 0.03, 4), ["n0"] * 16)),
    ]
    return [
        [[level.groups for level in found.levels], sorted(part.ranks for part in found.slow)]
        for found in readings
    ]


@pytest.fixture(scope="module")
def usual() -> list[object]:
    return _readings()


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.5, 1 / 1.5])
@pytest.mark.parametrize("name", _efforts())
def test_more_or_less_effort_changes_no_reading(
    monkeypatch: pytest.MonkeyPatch, usual: list[object], name: str, factor: float
) -> None:
    """Protects readings from limits of work, which are to decide nothing."""
    value = getattr(thresholds, name)
    other = value * factor if isinstance(value, float) else round(value * factor)
    for module in [module for key, module in sys.modules.items() if "latency_map" in key]:
        if hasattr(module, name):
            monkeypatch.setattr(module, name, other)
    assert _readings() == usual


# ---- how long explanations are -----------------------------------------------------------------


def test_how_likely_a_pair_is() -> None:
    """A normal pair, a stray one of a time anywhere, and one that is faster than any fault."""
    residual, sigma = np.array([0.0, 5.0, -5.0]), np.full(3, 0.02)
    normal = 0.95 / (math.sqrt(2 * math.pi) * 0.02)
    assert likelihood(residual, sigma)[0] == pytest.approx(
        [normal + 0.05 / 6, 0.05 / 6, 0.05 / 6], rel=0.01
    )
    assert likelihood(residual, sigma, FAST_STRAY)[0][2] == pytest.approx(1e-4 / 6)


def test_how_long_exact_times_of_cores_are() -> None:
    """One number of a range of a factor, known to the least spread; and pairs of that spread."""
    times = times_of(flat(6))
    density = 0.95 / (math.sqrt(2 * math.pi) * 2e-3) + 0.05 / 6
    nats = math.log(2.0 * math.sqrt(15) / 2e-3) - 15 * math.log(density)
    assert CoreModel(times, [times.root], 0.0).fit().length == pytest.approx(nats, abs=0.1)


def test_how_long_effects_of_cores_are() -> None:
    """One outlier among equal cores; and effects that scatter, with their variance."""
    precision = np.full(9, 1e4)
    effects, nats = shrunk(np.array([0.0] * 8 + [1.0]), precision)
    assert effects.tolist() == [0.0] * 8 + [1.0]
    assert nats == 16.0
    raw = 0.2 * np.linspace(-1, 1, 9)
    effects, nats = shrunk(raw, precision)
    variance = scatter(raw, 1e-4) ** 2
    assert np.allclose(effects, raw * variance / (variance + 1e-4))
    ordinary = np.log1p(1e4 * variance) / 2 + effects**2 / (2 * variance)
    assert nats == pytest.approx(ordinary.sum() + 2.0)


def test_how_long_blocks_are() -> None:
    """Three nats for the time of each block; a pair off by twice its error, and one far off."""
    assert Blocks(flat(8), np.arange(8) // 4).nats == pytest.approx(3 * 3.0)
    off = changed(flat(8), [(1, 2)], 1.04)
    assert Blocks(off, np.zeros(8, dtype=int)).nats == pytest.approx(3.0 + 0.5 * 2.0**2)
    off = changed(flat(8), [(1, 2)], 2.0)
    assert Blocks(off, np.zeros(8, dtype=int)).nats == pytest.approx(3.0 + 8.0)


def test_how_long_groups_of_cores_are() -> None:
    """A level costs its groups, and two nats; groups in no order six more."""
    none = np.zeros(8, dtype=int)

    def code(partition: Partition) -> float:
        times = times_of(np.where(partition[:, None] == partition, 0.02, 0.05))
        own, recorded = (CoreHierarchies(times, r).fit([partition]) for r in ([], [partition]))
        return own.length - recorded.length

    in_order = np.arange(8) // 2
    assert code(in_order) == pytest.approx(2.0 + ways_in_order(in_order, none, np.arange(8)))
    mixed = np.array([0, 1, 2, 3, 2, 0, 3, 1])
    ways = ways_of_groups(mixed, none) + math.log(8)
    assert code(mixed) == pytest.approx(2.0 + 6.0 + ways)


def test_how_long_groups_of_nodes_are() -> None:
    """A level costs its groups, and six nats, unless the machine has recorded it."""
    times, groups = times_of(tree([4, 6], [1, 3])), np.arange(24) // 4
    own, recorded = explain(times), explain(times, [groups])
    ways = ways_of_groups(groups, np.zeros(24, dtype=int)) + ways_of_sizes(24)
    assert own.length - recorded.length == pytest.approx(6.0 + ways)


# ---- levels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "recorded", "is_level"),
    [(1.08, False, False), (1.12, False, True), (1.04, True, False), (1.06, True, True)],
)
def test_how_far_apart_levels_are(ratio: float, recorded: bool, is_level: bool) -> None:
    """Protects levels that someone can use, and those that the machine has recorded."""
    near, far = np.zeros(20), np.full(40, np.log(ratio))
    assert separates(near, far, recorded=recorded) == is_level


@pytest.mark.parametrize(("wrong", "is_level"), [(3, True), (5, False)])
def test_a_fifth_of_the_pairs_may_be_on_the_wrong_side(wrong: int, is_level: bool) -> None:
    """Protects levels of tori, which have none, and levels with slow pairs."""
    near = np.append(np.zeros(20 - wrong), np.full(wrong, 1.0))
    assert separates(near, np.full(40, 1.0), recorded=False) == is_level


@pytest.mark.parametrize(("known", "proposed"), [(17, False), (19, True)])
def test_boundaries_of_names_must_be_known(known: int, proposed: bool) -> None:
    """Protects from groups that do not exist: of 20 boundaries between 21 names."""
    i = np.arange(known)
    times = Times(21, i, i + 1, np.where(i == 9, 3e-6, 1e-6), np.zeros(known), np.zeros(21, int))
    chains = list(groups_in_order(times, times.seconds, np.arange(21)))
    assert bool(chains) == proposed


@pytest.mark.parametrize(("span", "proposed"), [(1, True), (2, True), (3, False)])
def test_a_boundary_is_known_by_pairs_across_it(span: int, proposed: bool) -> None:
    """Protects from groups that only far pairs show."""
    i = np.arange(21 - span)
    seconds = np.where((i < 10) & (i + span >= 10), 3e-6, 1e-6)
    times = Times(21, i, i + span, seconds, np.zeros(len(i)), np.zeros(21, int))
    assert bool(list(groups_in_order(times, seconds, np.arange(21)))) == proposed


@pytest.mark.parametrize(("span", "proposed"), [(14, False), (20, True)])
def test_far_names_say_nothing_of_boundaries(span: int, proposed: bool) -> None:
    """Protects a boundary in the middle of 40 nodes from one fast pair that spans it."""
    i = np.concatenate([np.arange(39), np.arange(38), [20 - span // 2]])
    j = i + np.concatenate([np.ones(39, int), np.full(38, 2), [span]])
    seconds = np.where((i < 20) & (j >= 20), 3e-6, 1e-6)
    seconds[-1] = 1e-6
    times = Times(40, i, j, seconds, np.zeros(len(i)), np.zeros(40, int))
    groups = [
        len(chain[0]) and chain[0].max() for chain in groups_in_order(times, seconds, np.arange(40))
    ]
    assert (groups == [1]) == proposed


@pytest.mark.parametrize(("missing", "by_name"), [(3, False), (8, True)])
def test_names_are_hypotheses_where_a_tenth_of_the_pairs_is_missing(
    missing: int, by_name: bool
) -> None:
    """Protects complete maps from groups by names: of 45 pairs of nodes."""
    times = flat(10)
    for i, j in list(zip(*np.triu_indices(10, 1), strict=True))[:: 45 // missing][:missing]:
        times[i, j] = times[j, i] = np.nan
    run = map_of(times, block(10))
    diagnosis, _ = diagnose(rank_pairs(run, "median", 64), run.hosts, [], None)
    assert diagnosis.outer is not None
    assert (diagnosis.outer.times.place is not None) == by_name


# ---- tori --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("unexplained", "is_grid"), [(0.15, True), (0.25, False)])
def test_hops_explain_most_of_the_times_of_a_grid(unexplained: float, is_grid: bool) -> None:
    """Protects machines whose times happen to grow with hops."""
    times = times_of(torus([16]))
    hops = times.seconds * 1e6 - 2
    sign = np.random.default_rng(2).choice([-1.0, 1.0], len(hops)) * (hops > 2)
    size = np.sqrt(unexplained / (1 - unexplained) * np.var(hops) / np.mean(sign**2))
    spoiled = replace(times, seconds=times.seconds + 1e-6 * size * sign)
    assert (grid_of(spoiled) is not None) == is_grid


@pytest.mark.parametrize(("shape", "is_grid"), [([3, 3], False), ([2, 2, 2], True)])
def test_a_grid_has_paths_of_three_hops(shape: list[int], is_grid: bool) -> None:
    """Protects levels: of two distances they explain the times as well."""
    assert (grid_of(times_of(torus(shape))) is not None) == is_grid


@pytest.mark.parametrize(("factor", "is_grid"), [(1.12, True), (1.25, False)])
def test_the_nearest_nodes_are_neighbours(factor: float, is_grid: bool) -> None:
    """Protects grids whose links differ: those of half of the nodes are slower."""
    slower = [(k, k + 1) for k in range(0, 16, 2)]
    found = grid_of(times_of(changed(torus([16]), slower, factor)))
    assert (found is not None and found.hops == 8) == is_grid


# ---- what is said ------------------------------------------------------------------------------


@pytest.mark.parametrize(("cost", "noted"), [(0.03, False), (0.05, True)])
def test_what_adds_a_twenty_fifth_is_noted(cost: float, noted: bool) -> None:
    """Protects from a long list: nodes of one kind differ by some per cent."""
    of_node = np.arange(12) == 5
    assert bool(read(flat(12) * (1 + cost * (of_node[:, None] | of_node))).minor) == noted


@pytest.mark.parametrize(("step", "warned"), [(0.008, False), (0.012, True)])
def test_a_clock_step_of_a_hundredth_is_mentioned(step: float, warned: bool) -> None:
    times = noisy(flat(12), 0.02, 1)
    times = np.round(times / (step * np.nanmin(times))) * step * np.nanmin(times)
    assert bool(texts(read(times), "clock-step")) == warned


@pytest.mark.parametrize(("missing", "doubted"), [(7, False), (11, True)])
def test_with_a_fifth_of_the_pairs_missing_nothing_is_good(missing: int, doubted: bool) -> None:
    """Protects from a good machine of which a part was not measured: of 45 pairs."""
    times = flat(10)
    for i, j in list(zip(*np.triu_indices(10, 1), strict=True))[::4][:missing]:
        times[i, j] = times[j, i] = np.nan
    assert bool(map_health(map_of(times, block(10)), 0.1).doubts) == doubted


@pytest.mark.parametrize(("cost", "has_cost"), [(0.016, False), (0.025, True)])
def test_a_rank_costs_a_fiftieth_or_nothing(cost: float, has_cost: bool) -> None:
    """Protects ranks of a node from costs of their own that are hardly there."""
    of_rank = np.arange(12) == 3
    times = tree([2, 6], [1, 3]) + 3 * cost * (of_rank[:, None] | of_rank)
    pairs = rank_pairs(map_of(times, block(6, 2)), "median", 64)
    assert bool(slow_ranks(pairs, np.arange(12) // 2)[0].any()) == has_cost


def ring(nodes: int, pairs: int, factor: float) -> Matrix:
    """Make a ring some of whose pairs take so many times the median."""
    times = torus([nodes])
    chosen = [(k, k + nodes // 2 - 1 - k % 3) for k in range(pairs)]
    for i, j in chosen:
        times[i, j] = times[j, i] = factor * np.nanmedian(times)
    return times


@pytest.mark.parametrize(
    ("nodes", "pairs", "factor", "is_far_off"),
    [
        (24, 1, 2.7, False),
        (24, 1, 3.4, True),
        (24, 4, 2.0, False),
        (24, 4, 2.7, True),
        (80, 5, 2.7, False),
        (80, 8, 2.7, True),
    ],
)
def test_how_far_off_a_pair_of_a_ring_may_be(
    nodes: int, pairs: int, factor: float, is_far_off: bool
) -> None:
    """Protects rings, whose far ends take twice the middle time, and from silence beyond."""
    found = map_health(map_of(ring(nodes, pairs, factor), block(nodes)), 0.1)
    assert found.far_off == is_far_off


def test_twenty_slow_pairs_are_listed() -> None:
    """Protects a page from hundreds of pairs; they are counted."""
    found = read(changed(flat(60), [(k, (7 * k + 29) % 60) for k in range(24)], 2.0))
    assert len(found.slow) == 20
    assert len(texts(found, "many-slow-pairs")) == 1


@pytest.mark.parametrize(("pairs", "named"), [(3, 3), (4, 0)])
def test_pairs_that_divide_all_ranks_are_built_so(pairs: int, named: int) -> None:
    """Protects two GPUs on each PCIe switch: they share a way, and nothing is slow."""
    found = read(changed(noisy(flat(8), 0.005, 1), [(2 * k, 2 * k + 1) for k in range(pairs)], 1.2))
    assert len(found.slow) == named
    assert len(texts(found, "shared-pairs")) == (named == 0)


def test_eight_names_are_enough_for_a_warning() -> None:
    node = np.arange(24)
    group = np.where(node < 12, node // 4, node)
    times = np.where(group[:, None] == group, 2.0, 4.0)
    np.fill_diagonal(times, np.nan)
    assert [len(re.findall(r"n\d+", text)) for text in texts(read(times), "no-group")] == [8]


@pytest.mark.parametrize(("slow", "pairs"), [(1, 8), (12, 64)])
def test_how_many_pairs_are_measured_again(slow: int, pairs: int) -> None:
    """Protects the time of a confirmation: eight pairs of each node, 64 in all."""
    of_node = np.arange(40) < slow
    run = map_of(flat(40) + 2.0 * (of_node[:, None] | of_node), block(40))
    assert len(to_measure_again(run, analyse(run)).suspected) == pairs


@pytest.mark.parametrize(("slow", "suspects"), [(1, ()), (2, (9,))])
def test_two_slow_pairs_make_a_node_suspect(slow: int, suspects: tuple[int, ...]) -> None:
    """Protects a node with one slow pair: the link may be slow."""
    i = np.array([0, 1, 2, 3, 4, 5, 6, 7, *range(slow)])
    j = np.array([1, 2, 3, 4, 5, 6, 7, 8, *[9] * slow])
    seconds = np.where(j == 9, 9e-6, 3e-6)
    found = next_pairs(Times(10, i, j, seconds, np.zeros(len(i)), np.zeros(10, int)))
    assert (found.suspects if found else ()) == suspects


@pytest.mark.parametrize(("sizes", "levels"), [((2, 5), 2), ((2, 3, 5), 1)])
def test_groups_of_cores_have_two_sizes(sizes: tuple[int, ...], levels: int) -> None:
    """Protects from irregular levels: hybrid processors have two kinds of cores."""
    group = np.repeat(np.arange(4 * len(sizes)), np.repeat(sizes, 4))
    times = np.where(group[:, None] == group, 0.02, 0.05)
    np.fill_diagonal(times, np.nan)
    assert len(analyse(map_of(times, ["n0"] * len(group))).levels) == levels
