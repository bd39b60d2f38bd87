"""What a map says about its machine: each slow part is named, and nothing else is."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.base.table import Table
from isochrone.latency_map.slow_part import LevelRatio, Slow
from isochrone.latency_map.topology import Topology, analyse
from isochrone.runfile.run import Rank, Run
from made_up.latency_maps import (
    Matrix,
    block,
    flat,
    leaving,
    map_of,
    mmpi_example,
    noisy,
    torus,
    tree,
    with_retests,
)


def named(topology: Topology) -> set[tuple[str, str]]:
    return {(part.kind, part.who) for part in topology.slow}


def codes(topology: Topology) -> set[str]:
    return {warning["code"] for warning in topology.warnings}


# ---- the document ------------------------------------------------------------------------------


def test_the_example_of_the_paper_is_two_nodes_of_two_ranks() -> None:
    document = plain(analyse(mmpi_example()))
    assert document["ranks"] == 4
    assert [level["groups"] for level in document["levels"]] == [[[0, 1], [2, 3]], [[0, 1, 2, 3]]]
    assert [level["pairs"] for level in document["levels"]] == [2, 4]
    assert document["levels"][0]["median"] == pytest.approx(10.94e-6)
    assert document["levels"][1]["median"] == pytest.approx(22.96e-6)
    assert document["placement"]["kind"] == "block"
    assert document["placement"]["ranks_per_node"] == [2, 2]
    assert document["slow"] == []


def test_the_document_is_json_without_nan(golden: Golden) -> None:
    matrix = flat(8) + 3 * leaving(np.arange(8) == 2)
    document = plain(analyse(map_of(matrix, block(8))))
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    (slow,) = document["slow"]
    assert (slow["kind"], slow["who"], slow["ranks"]) == ("node", "n2", [2])
    assert slow["ratio"] == pytest.approx(2, rel=0.01)
    golden(slow["evidence"])


def test_levels_are_named_after_what_the_machine_recorded() -> None:
    run = map_of(tree([2, 2, 4], [0.5, 1, 3]), block(4, 4))
    run.ranks = [
        Rank(rank=r.rank, host=r.host, node=r.node, package=r.rank // 2 % 2) for r in run.ranks
    ]
    assert [level.name for level in analyse(run).levels] == ["package", "node", "network"]


INSIDE = (2, 2, 2, 2)
"""SMT siblings, cores that share an L2 cache, an L3 cache, packages."""


def places(rank: int, **others: int) -> dict[str, int]:
    """Say where a rank is on a node with these places, cores numbered anew in each package."""
    made = {
        "cpu": rank,
        "core": rank // 2 % 4,
        "l2": rank // 4 * 4,
        "l3": rank // 8 * 8,
        "numa": rank // 8,
        "package": rank // 8,
    }
    return {**made, **others}


def inside(ranks: int, **others: Callable[[int], int]) -> Run:
    """Return a map of one node whose levels are those of `INSIDE`, up to so many ranks."""
    whole = tree(list(INSIDE), [0.2, 0.4, 0.7, 1.5])
    run = map_of(whole[:ranks, :ranks], ["a"] * ranks)
    run.ranks = [
        Rank(r, "a", 0, **places(r, **{key: of(r) for key, of in others.items()}))
        for r in range(ranks)
    ]
    return run


def test_levels_within_a_node_are_named_after_what_their_ranks_share() -> None:
    """Protects the names of an L3 cache, NUMA domain and package of equal ranks: the closest."""
    assert [level.name for level in analyse(inside(16)).levels] == ["core", "l2", "l3", "node"]


@pytest.mark.parametrize(
    ("others", "names"),
    [
        ({"l2": lambda _: -1}, ["core", "group", "l3", "node"]),
        ({"l2": lambda r: r // 2 * 2}, ["core", "group", "l3", "node"]),  # of each core
        ({"l3": lambda r: -1 if r == 5 else 0}, ["core", "l2", "numa", "node"]),
        ({"l3": lambda _: 0, "numa": lambda _: 0}, ["core", "l2", "package", "node"]),
        ({"core": lambda r: r}, ["group", "l2", "l3", "node"]),  # each rank by itself
    ],
)
def test_a_level_has_no_name_that_is_not_recorded(
    others: dict[str, Callable[[int], int]], names: list[str]
) -> None:
    """Protects from a name that only some ranks have, or that fits other groups."""
    assert [level.name for level in analyse(inside(16, **others)).levels] == names


def test_cores_of_one_number_with_different_caches_are_two() -> None:
    """Protects systems that number cores anew in each cluster of one package."""
    run = inside(16, core=lambda r: r // 2 % 2, package=lambda _: 0)
    assert analyse(run).levels[0].name == "core"


def test_what_all_ranks_of_a_node_share_is_the_node() -> None:
    """Protects the name of a node with one package, whose ranks also share a cache."""
    run = map_of(tree([4, 4], [1, 3]), block(4, 4))
    run.ranks = [Rank(r.rank, r.host, r.node, package=0, numa=0, l3=0) for r in run.ranks]
    assert [level.name for level in analyse(run).levels] == ["node", "network"]


def test_the_median_of_a_level_comes_with_its_interval() -> None:
    level = analyse(map_of(noisy(flat(16), 0.1, seed=1))).levels[0]
    assert level.low < level.median < level.high
    assert level.pairs == 120


def test_a_run_that_is_no_map_is_refused(golden: Golden) -> None:
    with golden.refusal():
        analyse(Run({"experiment": "collective", "ranks": 4}))


def test_two_ranks_are_one_level() -> None:
    topology = analyse(map_of(flat(2)))
    assert [level.groups for level in topology.levels] == [[[0, 1]]]
    assert topology.slow == []


def test_a_clock_too_coarse_to_see_anything_is_survived() -> None:
    assert len(analyse(map_of(0 * flat(4))).levels) == 1


# ---- slow parts --------------------------------------------------------------------------------

SHAPES = {
    "8 nodes of 1": ([8], [3], 1),
    "16 nodes of 4": ([4, 16], [1, 3], 4),
    "4 switches of 4 nodes of 4": ([4, 4, 4], [1, 3, 5], 4),
    "256 ranks": ([4, 8, 8], [1, 3, 5], 4),
}


@pytest.fixture(params=SHAPES)
def machine(request: pytest.FixtureRequest) -> tuple[np.ndarray, list[str]]:
    sizes, times, each = SHAPES[request.param]
    matrix = tree(sizes, times)
    return matrix, block(len(matrix) // each, each)


@pytest.mark.slow
@pytest.mark.few(2)
def test_nothing_healthy_is_named_under_noise(machine: tuple[np.ndarray, list[str]]) -> None:
    matrix, names = machine
    for seed in range(3):
        assert analyse(map_of(noisy(matrix, 0.1, seed), names)).slow == []


@pytest.mark.few
@pytest.mark.parametrize("noise", [0, 0.05])
def test_a_slow_node_is_named_and_not_its_ranks_or_pairs(
    machine: tuple[np.ndarray, list[str]], noise: float
) -> None:
    matrix, names = machine
    between = leaving(np.array(names) == "n3", names)
    topology = analyse(map_of(noisy(matrix + between * matrix, noise, seed=2), names))
    assert named(topology) == {("node", "n3")}


@pytest.mark.few
@pytest.mark.parametrize("noise", [0, 0.05])
def test_a_slow_pair_is_named_and_not_its_ranks(
    machine: tuple[np.ndarray, list[str]], noise: float
) -> None:
    matrix, names = machine
    matrix[2, 7] = matrix[7, 2] = 2.2 * matrix[2, 7]
    topology = analyse(map_of(noisy(matrix, noise, seed=3), names))
    assert named(topology) == {("pair", "2-7")}
    assert topology.slow[0].ranks == (2, 7)


@pytest.mark.parametrize("noise", [0, 0.05])
@pytest.mark.parametrize("each", [2, 4])
def test_a_slow_rank_is_named_and_not_its_node(each: int, noise: float) -> None:
    matrix = tree([each, 8], [1, 3]) + 3 * leaving(np.arange(8 * each) == 5)
    topology = analyse(map_of(noisy(matrix, noise, seed=4), block(8, each)))
    assert named(topology) == {("rank", f"rank 5 (n{5 // each})")}


def test_a_slow_rank_is_named_where_sockets_leave_it_few_partners_on_each_level() -> None:
    """Two ranks to a socket: one partner in its own, two in the other."""
    matrix = tree([2, 2, 8], [0.5, 1, 3])
    within = np.repeat(np.arange(8), 4)
    matrix += 1.5 * leaving(np.arange(32) == 5) * (within[:, None] == within)
    topology = analyse(map_of(matrix, block(8, 4)))
    assert named(topology) == {("rank", "rank 5 (n1)")}


def test_a_slow_link_between_two_nodes_is_one_pair() -> None:
    matrix, node = tree([4, 8], [1, 3]), np.repeat(np.arange(8), 4)
    link = np.outer(node == 2, node == 6)
    matrix[link | link.T] *= 2
    topology = analyse(map_of(noisy(matrix, 0.05, seed=5), block(8, 4)))
    assert named(topology) == {("pair", "n2-n6")}


@pytest.mark.parametrize("switches", [2, 4])
def test_a_slow_switch_is_named_instead_of_its_nodes(switches: int) -> None:
    """Of two switches too, where no node is the odd one out."""
    sizes, names = [2, 4, switches], block(4 * switches, 2)
    members = np.arange(len(names)) // 8 == 1
    matrix = tree(sizes, [1, 3, 5]) + 3 * leaving(members, names)
    topology = analyse(map_of(noisy(matrix, 0.02, seed=6), names))
    assert named(topology) == {("switch", "n4,n5,n6,n7")}


def test_a_node_that_is_slow_only_inside_is_named() -> None:
    matrix, names = tree([4, 8], [1, 3]), block(8, 4)
    inside = np.outer(np.array(names) == "n5", np.array(names) == "n5")
    matrix[inside] *= 2
    topology = analyse(map_of(noisy(matrix, 0.02, seed=7), names))
    assert named(topology) == {("node", "n5")}


@pytest.mark.parametrize("names", [None, [""] * 8])
def test_without_hosts_the_rank_is_named(names: list[str] | None) -> None:
    matrix = flat(8) + 3 * leaving(np.arange(8) == 2)
    (slow,) = analyse(map_of(noisy(matrix, 0.05, seed=8), names)).slow
    assert slow.kind == "rank"
    assert slow.ranks == (2,)


def test_the_worst_comes_first() -> None:
    matrix = flat(16) + 3 * leaving(np.arange(16) == 2) + 6 * leaving(np.arange(16) == 9)
    assert [part.who for part in analyse(map_of(matrix, block(16))).slow] == ["n9", "n2"]


@pytest.mark.few(3)
@pytest.mark.parametrize("noise", [0, 0.05, 0.1])
@pytest.mark.parametrize("shape", [(4,), (16,), (2, 3), (4, 4), (8, 8), (4, 4, 4)])
def test_nothing_is_slow_on_a_torus(shape: tuple[int, ...], noise: float) -> None:
    """Far pairs are far, and not slow."""
    matrix = noisy(torus(shape), noise, seed=9)
    assert analyse(map_of(matrix, block(len(matrix)))).slow == []


# ---- measured again alone ----------------------------------------------------------------------


def test_a_pair_that_was_slow_only_once_is_not_named() -> None:
    matrix = flat(8)
    matrix[1, 4] = matrix[4, 1] = 9
    assert analyse(with_retests(map_of(matrix, block(8)), [(1, 4)], 3.1 / 9)).slow == []


def test_a_pair_that_is_slow_again_is_named_with_both_numbers() -> None:
    matrix = flat(8)
    matrix[1, 4] = matrix[4, 1] = 9
    (slow,) = analyse(with_retests(map_of(matrix, block(8)), [(1, 4)], 8 / 9)).slow
    assert (slow.kind, slow.who, slow.retested) == ("pair", "1-4", True)
    assert (slow.seconds, slow.first) == pytest.approx((8e-6, 9e-6))
    assert "8.00 µs" in slow.evidence and "9.00 µs measured" in slow.evidence


def test_a_pair_that_is_slow_only_the_second_time_is_not_confirmed() -> None:
    run = with_retests(map_of(flat(8), block(8)), [(1, 4)], 3)
    (slow,) = analyse(run).slow
    assert (slow.who, slow.retested) == ("1-4", False)
    assert (slow.seconds, slow.first) == pytest.approx((9e-6, 3e-6), rel=0.1)


ALONE = 0.5
"""Part of its time that a pair takes alone on a machine whose pairs disturb each other."""


def test_pairs_that_are_faster_alone_are_compared_with_each_other() -> None:
    matrix = noisy(flat(8), 0.02, seed=4)
    healthy = [(0, 3), (1, 6), (4, 7), (5, 6)]
    analysis = analyse(with_retests(map_of(matrix, block(8)), healthy, ALONE))
    assert analysis.slow == []
    assert analysis.not_understood.pairs == 0
    assert "undisturbed" in codes(analysis)
    slower = matrix + 3 * leaving(np.arange(8) == 2)
    of_node = [(0, 2), (1, 2), (2, 3), (2, 4), (2, 5), (2, 6), (2, 7)]
    run = with_retests(map_of(slower, block(8)), healthy, ALONE)
    (slow,) = analyse(with_retests(run, of_node, (3 + 3 * ALONE) / 6)).slow
    assert (slow.kind, slow.who, slow.retested) == ("node", "n2", True)
    assert slow.seconds == pytest.approx((3 + 3 * ALONE) * 1e-6, rel=0.05)
    assert slow.ratio == pytest.approx(1 + 1 / ALONE, rel=0.1)


@pytest.mark.parametrize(("in_map", "confirmed"), [(0.5, True), (0.1, False)])
def test_what_others_hid_in_the_map_is_confirmed_alone(in_map: float, confirmed: bool) -> None:
    """A node takes twice as long alone. In the map, other pairs hid most of that, or all."""
    matrix = noisy(flat(8), 0.02, seed=4) + in_map * leaving(np.arange(8) == 2)
    healthy = [(0, 3), (1, 6), (4, 7), (5, 6)]
    of_node = [(0, 2), (1, 2), (2, 3), (2, 4), (2, 5), (2, 6), (2, 7)]
    run = with_retests(map_of(matrix, block(8)), healthy, ALONE)
    (slow,) = analyse(with_retests(run, of_node, 2 * ALONE * 3 / (3 + in_map))).slow
    assert (slow.kind, slow.who, slow.retested) == ("node", "n2", confirmed)


def test_pairs_that_were_slow_once_say_nothing_of_measuring_alone() -> None:
    matrix = noisy(flat(8), 0.02, seed=4)
    disturbed = [(0, 3), (1, 6), (4, 7), (5, 6)]
    for i, j in disturbed:
        matrix[i, j] = matrix[j, i] = 3 * matrix[i, j]
    analysis = analyse(with_retests(map_of(matrix, block(8)), disturbed, 1 / 3))
    assert analysis.slow == []
    assert "undisturbed" not in codes(analysis)


def test_what_is_slow_by_a_factor_has_the_interval_of_the_factor() -> None:
    """Of a component of two levels; a time that it adds has an interval in seconds."""
    slow = Slow(
        kind="node",
        who="n1",
        ratio=1.5,
        ranks=(0,),
        hosts=("n1",),
        level=1,
        seconds=12e-6,
        expected=8e-6,
        pairs=96,
        added=16e-6,
        low=15.68e-6,
        high=16.32e-6,
        ratios=(LevelRatio(1, 1.5), LevelRatio(2, 1.5)),
        retested=True,
        first=12.1e-6,
    )
    assert "1.50x as long (95 % interval 1.490 to 1.510)" in slow.evidence
    near = replace(slow, ratios=(LevelRatio(1, 1.5), LevelRatio(2, 1.2)))
    assert "adds 16.0 µs" in near.evidence
    assert "(95 % interval 15.7 µs to 16.3 µs)" in near.evidence
    assert "95 %" not in replace(near, low=16e-6, high=16e-6).evidence


def test_a_pair_within_its_own_uncertainty_is_not_named() -> None:
    matrix = noisy(flat(16), 0.02, seed=10)
    matrix[1, 4] = matrix[4, 1] = 6
    low, high = 0.98 * matrix, 1.02 * matrix
    sure = analyse(map_of(matrix, block(16), low=low, high=high))
    low[1, 4], high[1, 4] = 1, 30
    unsure = analyse(map_of(matrix, block(16), low=low, high=high))
    assert named(sure) == {("pair", "1-4")}
    assert unsure.slow == []


# ---- warnings ----------------------------------------------------------------------------------


def test_the_warnings_of_the_run_come_first() -> None:
    run = map_of(flat(6), block(6))
    run.warnings = [{"code": "oversubscribed", "text": "4 ranks on 2 cores"}]
    assert analyse(run).warnings == run.warnings


def test_pairs_that_were_not_measured_are_counted(golden: Golden) -> None:
    matrix = flat(6)
    matrix[0, 1] = matrix[1, 0] = np.nan
    topology = analyse(map_of(matrix, block(6)))
    assert codes(topology) == {"incomplete-map"}
    assert topology.levels[0].pairs == 14
    golden(topology.warnings[0]["text"])


def some_of(matrix: Matrix, part: float, seed: int) -> Run:
    """Make a run of some pairs of a noisy machine, taken by chance, with a rank on each host."""
    chance = np.triu(np.random.default_rng(seed).random(matrix.shape), 1)
    seen = np.where(chance + chance.T <= part, noisy(matrix, 0.03, seed), np.nan)
    return map_of(seen, block(len(matrix)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("part", [0.02, 0.1, 0.15, 0.25])
def test_of_few_pairs_no_groups_are_read(part: float, seed: int) -> None:
    """Groups that do not exist, and slow switches to them, were what such maps seemed to show."""
    topology = analyse(some_of(tree([10, 6], [2, 3]), part, seed))
    assert [level.name for level in topology.levels] == ["network"]
    assert not topology.slow
    assert {"incomplete-map", "few-pairs"} <= codes(topology)


@pytest.mark.parametrize("seed", range(3))
def test_of_few_pairs_slow_nodes_are_read(seed: int) -> None:
    slow = np.isin(np.arange(60), [4, 17])
    topology = analyse(some_of(tree([10, 6], [2, 3]) + 3 * leaving(slow), 0.15, seed))
    assert named(topology) == {("node", "n4"), ("node", "n17")}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("part", [0.1, 0.3])
def test_of_few_pairs_nodes_behind_a_slow_way_are_not_called_slow(
    part: float, seed: int, golden: Golden
) -> None:
    """What the first group sends to others is slow; what its nodes send to each other is not."""
    group = np.arange(60) // 10
    matrix = tree([10, 6], [2, 3]) + 2 * leaving(group == 0, beyond=group)
    topology = analyse(some_of(matrix, part, seed))
    assert "node" not in {kind for kind, _ in named(topology)}
    golden([one["text"] for one in topology.warnings])


@pytest.mark.parametrize("seed", range(3))
def test_half_of_the_pairs_show_the_groups(seed: int) -> None:
    topology = analyse(some_of(tree([10, 6], [2, 3]), 0.55, seed))
    assert [len(level.groups) for level in topology.levels] == [6, 1]
    assert "few-pairs" not in codes(topology)


def test_hosts_that_the_latencies_do_not_show_are_reported() -> None:
    topology = analyse(map_of(noisy(tree([4, 4], [1, 3]), 0.02, seed=11), block(4, 4)[::-1]))
    assert "hosts-disagree" not in codes(topology)
    wrong = [f"n{rank % 4}" for rank in range(16)]
    topology = analyse(map_of(noisy(tree([4, 4], [1, 3]), 0.02, seed=11), wrong))
    assert "hosts-disagree" in codes(topology)
    assert len(topology.levels) == 2


@pytest.mark.parametrize(("count", "warned"), [(1, False), (2, True), (3, True), (4, False)])
def test_too_few_nodes_to_tell_a_slow_one_are_reported(count: int, warned: bool) -> None:
    topology = analyse(map_of(tree([2, count], [1, 3]), block(count, 2)))
    assert ("few-nodes" in codes(topology)) == warned
    assert topology.slow == []


def test_unknown_hosts_are_reported() -> None:
    assert codes(analyse(map_of(flat(6), [""] * 6))) == {"hosts-unknown"}


# ---- size --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_large_map_is_read_in_little_work() -> None:
    """1,024 ranks: 523,776 pairs. The bound is on processor time, with much to spare."""
    names = block(128, 8)
    matrix = tree([8, 16, 8], [1, 3, 5]) + 3 * leaving(np.array(names) == "n7", names)
    run = map_of(noisy(matrix, 0.05, seed=12), names)
    start = time.process_time()
    topology = analyse(run)
    assert time.process_time() - start < 30
    assert [len(level.groups) for level in topology.levels] == [128, 8, 1]
    assert named(topology) == {("node", "n7")}


def test_of_few_ranks_a_pair_is_named_only_where_the_others_agree() -> None:
    """Of four ranks: five exact times and one five times as long, or only much noise."""
    times = np.full((4, 4), 1e-6)
    times[1, 2] = times[2, 1] = 5e-6
    assert named(analyse(map_of(times, ["n0"] * 4))) == {("pair", "1-2")}
    found = analyse(map_of(noisy(flat(4), 0.3, seed=1), ["n0"] * 4))
    assert found.slow == []
    assert "few-ranks" in codes(found)


# ---- samples -----------------------------------------------------------------------------------


def sampled(part: float, extra: float = 0.0, seed: int = 3) -> Run:
    """Measure some of the pairs of 64 nodes with four ranks each, on eight switches."""
    names = block(64, 4)
    matrix = tree([4, 8, 8], [1, 3, 5]) + extra * leaving(np.array(names) == "n7", names)
    run = map_of(noisy(matrix, 0.05, seed), names)
    table = run.tables["pair"]
    keep = np.random.default_rng(seed).random(len(table)) < part
    run.tables["pair"] = table.where(keep)
    run.header["options"] = {"bytes": [64], "sample": f"{100 * part:g}%"}
    return run


@pytest.mark.slow
def test_a_sample_shows_levels_and_slow_nodes_and_says_what_it_would_not_show() -> None:
    healthy, slow = analyse(sampled(0.05)), analyse(sampled(0.05, extra=2.0))
    for found in (healthy, slow):
        assert [len(level.groups) for level in found.levels] == [64, 8, 1]
        assert "sampled" in codes(found)
        assert found.blind, "nothing is never said to be slow"
    assert healthy.slow == []
    assert named(slow) == {("node", "n7")}


def test_of_too_few_pairs_it_is_said_how_many_more_would_do() -> None:
    found = analyse(sampled(0.01))
    assert {"sampled", "few-pairs"} <= codes(found)
    (text,) = (str(one["text"]) for one in found.warnings if one["code"] == "few-pairs")
    more = int(next(word for word in text.split() if word.isdigit()))
    node_pairs = 64 * 63 / 2
    assert 0.1 * node_pairs < more < node_pairs / 2


@pytest.mark.slow
def test_single_pairs_of_a_sample_are_not_named_by_chance() -> None:
    """Where most nodes meet once or twice, few values say how much pairs differ."""
    names = block(64, 4)
    for seed in range(3):
        run = map_of(noisy(tree([4, 64], [1, 3]), 0.05, seed), names)
        table = run.tables["pair"]
        keep = np.random.default_rng(seed).random(len(table)) < 0.06
        run.tables["pair"] = table.where(keep)
        assert analyse(run).slow == []


def test_a_small_sample_of_many_ranks_is_analysed() -> None:
    """2,048 ranks on 64 nodes: each node with each other once, of a thousand pairs one."""
    node = np.repeat(np.arange(64), 32)
    a, b = np.triu_indices(64, 1)
    i, j = 32 * a + b % 32, 32 * b + a % 32
    seconds = 1e-6 * np.where(a // 8 == b // 8, 3.0, 5.0) + 3e-6 * ((a == 7) | (b == 7))
    table = Table({"i": i, "j": j, "bytes": np.full(len(i), 64), "median": seconds})
    ranks = [Rank(k, f"n{n}", int(n)) for k, n in enumerate(node.tolist())]
    header = {"experiment": "latency-map", "ranks": 2048, "options": {"sample": "2016"}}
    found = analyse(Run(header, ranks, {"pair": table}, end={"complete": True}))
    assert named(found) == {("node", "n7")}
    assert len(found.levels[0].groups) == 8


# ---- GPUs --------------------------------------------------------------------------------------


def _on_gpus(run: Run) -> Run:
    run.ranks = [msgspec.structs.replace(r, gpu_pci=f"0000:{r.rank:02x}:00.0") for r in run.ranks]
    return run


def test_a_slow_rank_is_named_by_its_gpu_and_a_slow_pair_is_a_link_of_two() -> None:
    """In a map of messages in GPU memory; without such memory nothing of a GPU is said."""
    matrix = noisy(flat(8), 0.02, 1)
    matrix[2, 6] = matrix[6, 2] = 9
    for run, slow, gpus in (
        (map_of(matrix), ("pair", (2, 6)), ("0000:02:00.0", "0000:06:00.0")),
        (
            map_of(noisy(flat(8), 0.02, 1) + 3 * leaving(np.arange(8) == 5)),
            ("rank", (5,)),
            ("0000:05:00.0",),
        ),
    ):
        plainly = analyse(run).slow
        assert [(part.kind, part.ranks, part.gpus) for part in plainly] == [(*slow, None)]
        assert "GPU" not in plainly[0].name
        (part,) = analyse(_on_gpus(run)).slow
        assert (part.kind, part.ranks, part.gpus) == (*slow, gpus)
        assert all(f"GPU {address}" in part.name for address in gpus)
        assert part.name.startswith("link" if len(gpus) == 2 else "GPU")
