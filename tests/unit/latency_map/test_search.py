"""How an explanation is found: what shortens it, and the steps from a wrong hierarchy."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from isochrone.latency_map.explanation import ENDS, LEAVING, TOUCHING, Explanation, Part
from isochrone.latency_map.groupings import Blocks
from isochrone.latency_map.hierarchy import Known, _Search, explain, moved
from isochrone.latency_map.pairs import Times, between_nodes, rank_pairs
from isochrone.latency_map.partitions import Partition, canonical
from isochrone.latency_map.slow_components import PartFinder
from isochrone.latency_map.topology import analyse
from made_up.machines import map_with, random_machine, random_slow_nodes

SWITCH = np.repeat(np.arange(4), 4)
EVERYONE = np.zeros(16, dtype=np.int64)


def times_of(extra: np.ndarray, noise: float = 0.0, seed: int = 1) -> Times:
    """Return a map of four switches of four nodes, 10 µs near and 20 µs far, and what is added."""
    random = np.random.default_rng(seed)
    i, j = np.triu_indices(16, 1)
    seconds = np.where(SWITCH[i] == SWITCH[j], 10e-6, 20e-6) + extra[i, j] * 1e-6
    seconds *= np.exp(noise * random.standard_normal(len(i)))
    return Times(16, i, j, seconds, np.zeros(len(i)), EVERYONE)


def slowed(nodes: list[int], microseconds: float) -> np.ndarray:
    own = np.zeros(16)
    own[nodes] = microseconds
    return own[:, None] + own


def explained(times: Times, groups: Partition, parts: list[Part]) -> Explanation:
    finder = PartFinder(times, [groups, EVERYONE], 0.0, {})
    fit = finder.starts()[0]
    for part in parts:
        fit = finder.with_part(fit, part)
    return fit


def test_nodes_that_are_slow_alike_take_one_number() -> None:
    """Else a group made up of just these nodes would be the shorter explanation."""
    found = explain(times_of(slowed([1, 6, 7, 12], 15.0), noise=0.02))
    assert [part.pattern for part in found.parts] == [ENDS]
    assert found.parts[0].members == (1, 6, 7, 12)
    assert not found.is_group(found.parts[0])
    assert np.array_equal(found.chain[0], SWITCH)


def test_nodes_that_are_not_slow_alike_keep_their_own_numbers() -> None:
    extra = slowed([1], 15.0) + slowed([6], 30.0)
    found = explain(times_of(extra, noise=0.02))
    assert {part.members for part in found.parts} == {(1,), (6,)}
    assert sorted(found.seconds * 1e6) == pytest.approx([15, 30], rel=0.05)


@pytest.mark.parametrize("seed", range(6))
def test_levels_are_seen_beside_the_noise_of_nodes_ten_times_as_slow(seed: int) -> None:
    """The noise of 200 µs is as large as the step from 10 to 20 µs."""
    found = explain(times_of(slowed([2, 9], 200.0), noise=0.05, seed=seed))
    assert len(found.chain) == 2
    assert {m for part in found.parts for m in part.members} == {2, 9}
    healthy = [k for k in range(16) if k not in (2, 9)]
    assert np.array_equal(canonical(found.chain[0][healthy]), canonical(SWITCH[healthy]))


def test_a_level_most_of_whose_pairs_are_slow_has_the_time_of_the_others() -> None:
    """Of three ways between three groups two are slow: it is the uplink of one group."""
    group = np.repeat([0, 1, 2], [8, 4, 4])
    i, j = np.triu_indices(16, 1)
    first = (group[i] == 0) != (group[j] == 0)
    seconds = np.where(group[i] == group[j], 10e-6, 20e-6) + 50e-6 * first
    found = explain(Times(16, i, j, seconds, np.zeros(len(i)), EVERYONE))
    assert found.base == pytest.approx([10e-6, 20e-6], rel=0.01)
    assert found.parts == (Part(LEAVING, tuple(range(8))),)


def test_a_unit_in_the_wrong_group_is_moved_where_its_times_fit() -> None:
    times = times_of(slowed([3], 40.0), noise=0.02)
    wrong = SWITCH.copy()
    wrong[[0, 5]] = [1, 0]
    fit = explained(times, wrong, [Part(LEAVING, (3,))])
    (first, *_) = moved(fit, times)
    assert np.array_equal(canonical(first[0]), SWITCH)


def test_groups_of_ranks_under_different_nodes_are_never_joined() -> None:
    """Pairs between them were not measured here, so nothing would speak against it."""
    node = np.repeat([0, 1], 4)
    i, j = np.triu_indices(8, 1)
    inside = node[i] == node[j]
    i, j = i[inside], j[inside]
    socket = np.repeat(np.arange(4), 2)
    seconds = np.where(socket[i] == socket[j], 1e-6, 2e-6)
    times = Times(8, i, j, seconds, np.zeros(len(i)), node)
    wrong = np.array([0, 0, 0, 1, 2, 2, 3, 3])
    fit = PartFinder(times, [wrong, node], 0.0, {}).starts()[0]
    for (groups,) in moved(fit, times):
        assert all(len(set(node[groups == k])) == 1 for k in np.unique(groups))


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        ([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2], []),
        ([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4], []),
        ([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 4, 4], [Part(LEAVING, (11,))]),
    ],
)
def test_the_true_grouping_is_among_the_next_of_a_wrong_one(
    wrong: list[int], parts: list[Part]
) -> None:
    """Whether two groups were taken for one, one for two, or a slow node for a group."""
    times = times_of(slowed([11], 30.0), noise=0.02)
    fit, search = explained(times, np.array(wrong), parts), _Search(times, ())
    proposed = [*search.plain(), *search.cleaned(fit), *search.neighbours(fit)]
    assert [SWITCH.tobytes()] in [[canonical(p).tobytes() for p in chain] for chain in proposed]


def test_the_estimate_on_blocks_speaks_for_the_true_groups() -> None:
    times = times_of(slowed([4], 30.0), noise=0.05)
    matrix = np.ones((16, 16))
    matrix[times.i, times.j] = matrix[times.j, times.i] = times.seconds
    for wrong in (np.repeat([0, 1], 8), np.repeat(np.arange(8), 2)):
        assert Blocks(matrix, wrong).nats > Blocks(matrix, SWITCH).nats + 20


@pytest.mark.filterwarnings("error")
def test_what_a_machine_told_may_be_no_grouping() -> None:
    """As packages of machines with a rank on each, or with a single package."""
    times = times_of(slowed([4], 30.0), noise=0.05)
    found = explain(times, [np.arange(16), EVERYONE])
    assert np.array_equal(found.chain[0], SWITCH)


@pytest.mark.parametrize(("pairs", "sparse"), [(14, True), (15, False), (45, False)])
def test_of_less_than_a_third_of_the_pairs_groups_are_not_seen(pairs: int, sparse: bool) -> None:
    i, j = (side[:pairs] for side in np.triu_indices(10, 1))
    times = Times(10, i, j, np.ones(pairs), np.zeros(pairs), np.zeros(10, dtype=np.int64))
    assert times.sparse == sparse


def same_as_searched(machine_seed: int, *, drop: bool) -> None:
    """Fail if a map is explained otherwise where a similar one was explained before.

    ``drop`` offers a hierarchy that lacks a level.
    """
    random = np.random.default_rng([12, machine_seed])
    machine = random_machine(random, 24)
    noise = (0, 0.02, 0.05, 0.15)[machine_seed % 4]
    slow = ("nothing", "nothing", "node", "pair", "uplink")[machine_seed % 5]
    maps = [map_with(machine, what, 0.2, noise, random) for what in ("nothing", slow)]
    if maps[1] is None:
        return
    first, second = (
        between_nodes(rank_pairs(made[0], "median", 64), machine.node, np.zeros(len(machine.node)))[
            0
        ]
        for made in maps
        if made
    )
    known = Known()
    whole, before = explain(second, (), known), explain(first)
    (key,) = known
    known[key] = replace(before, chain=before.chain[drop and len(before.chain) > 1 :])
    found = explain(second, (), known)
    assert [p.tolist() for p in found.chain] == [p.tolist() for p in whole.chain]
    assert found.parts == whole.parts
    assert found.base == pytest.approx(whole.base, rel=2e-3, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("drop", [False, True], ids=["as before", "a level is missing"])
def test_a_map_like_one_before_is_explained_as_the_search_explains_it(drop: bool) -> None:
    for seed in range(10 + 10 * drop, 20 + 10 * drop):
        same_as_searched(seed, drop=drop)


def test_a_healthy_map_like_one_before_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known()
    nothing = np.zeros((16, 16))
    first = explain(times_of(nothing, 0.03), (), known)
    monkeypatch.setattr(_Search, "run", lambda _: pytest.fail("searched again"))
    for seed in range(2, 8):
        found = explain(times_of(nothing, 0.03, seed), (), known)
        assert [p.tolist() for p in found.chain] == [p.tolist() for p in first.chain]


@pytest.mark.parametrize("seed", [80021, 80108, 80132])
def test_a_pair_of_two_slow_nodes_is_not_slow_by_itself(seed: int) -> None:
    """Each is slow in latency and in bandwidth, in parts of its own: no single law fits all."""
    run, truth = random_slow_nodes(np.random.default_rng([46, seed]), 0.0, "both")
    found = analyse(run).slow
    assert {(part.kind, frozenset(part.hosts)) for part in found} == truth.named


def latency_and_bandwidth(latency: np.ndarray, bandwidth: np.ndarray) -> np.ndarray:
    """Return what slow nodes add to each pair: latencies add, of bandwidths the slower decides."""
    return np.add.outer(latency, latency) + np.maximum.outer(bandwidth, bandwidth)


@pytest.mark.parametrize("slow", [[1, 6], [1, 6, 7, 12], [0, 5, 10, 14, 15]])
def test_scattered_nodes_of_a_low_bandwidth_are_no_group(slow: list[int]) -> None:
    """Their pairs take as long with each other as with all others: so do those of a slow switch."""
    bandwidth = np.zeros(16)
    bandwidth[slow] = 80.0
    found = explain(times_of(latency_and_bandwidth(np.zeros(16), bandwidth)))
    assert np.array_equal(found.chain[0], SWITCH)
    assert found.parts == (Part(ENDS, tuple(slow)),)
    assert found.shares == pytest.approx([0.0])


@pytest.mark.slow
def test_each_slow_node_has_its_own_share_of_latency() -> None:
    """Else what one share for all leaves over is taken for levels, and for slow pairs."""
    slow = [2, 5, 8, 11, 15]
    latency, bandwidth = np.zeros((2, 16))
    latency[slow] = [10.0, 40.0, 30.0, 60.0, 5.0]
    bandwidth[slow] = [40.0, 20.0, 90.0, 15.0, 27.0]
    found = explain(times_of(latency_and_bandwidth(latency, bandwidth), noise=0.003))
    assert np.array_equal(found.chain[0], SWITCH)
    shares = {part.members: share for part, share in zip(found.parts, found.shares, strict=True)}
    for node in slow:
        true = latency[node] / (latency[node] + bandwidth[node])
        # the slower of two bandwidths says nothing of its own share
        if bandwidth[node] < max(bandwidth):
            assert shares[node,] == pytest.approx(true, abs=0.08)


def test_what_slows_all_pairs_of_a_switch_alike_is_the_switch() -> None:
    """A low bandwidth of each of its nodes would explain the same, but is less simple."""
    bandwidth = np.where(SWITCH == 2, 30.0, 0.0)
    found = explain(times_of(latency_and_bandwidth(np.zeros(16), bandwidth), noise=0.03))
    assert [part.pattern for part in found.parts] == [TOUCHING]


@pytest.mark.parametrize(("slow", "named"), [(5, True), (6, False)])
def test_more_than_a_third_of_the_nodes_are_not_slow(slow: int, named: bool) -> None:
    """They are nodes of another kind: so the fewer are never more than the usual ones."""
    nodes = [0, 3, 5, 9, 12, 14][:slow]
    found = explain(times_of(slowed(nodes, 30.0)))
    assert ({m for part in found.parts if part.of_units for m in part.members} == {*nodes}) == named
