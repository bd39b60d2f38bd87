"""The maps made up for tests and rates are what they say: laws, truths, levels, defects."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.runfile.run import Run
from made_up.latency_maps import Matrix
from made_up.machines import LAWS, Law, map_with, random_machine, random_slow_nodes, slow_nodes
from made_up.processors import (
    DEFECTS,
    FAMILIES,
    Defect,
    deviations,
    map_with_defect,
    random_processor,
    visible,
    with_defect,
)


def microseconds(run: Run) -> Matrix:
    """Return the round trips of all pairs."""
    return 1e6 * run.matrix("median", 64)


def two_slow(law: Law) -> tuple[float, float, float]:
    """Return times of a healthy pair, one with one slow end, and that of two slow nodes."""
    run, truth = slow_nodes(
        np.random.default_rng(1), nodes=8, slow=2, factors=[3.0], law=law, noise=0.0
    )
    slow = {int(host[1:]) for _, hosts in truth.named for host in hosts}
    times = microseconds(run)
    by_ends = {len(slow & {i, j}): times[i, j] for i in range(8) for j in range(8) if i != j}
    return by_ends[0], by_ends[1], by_ends[2]


@pytest.mark.parametrize(("law", "both"), [("sum", 5.0), ("max", 3.0)])
def test_two_slow_ends_add_in_latency_and_the_slower_decides_in_bandwidth(
    law: Law, both: float
) -> None:
    healthy, one, two = two_slow(law)
    assert one / healthy == pytest.approx(3)
    assert two / healthy == pytest.approx(both)


def test_a_node_slow_in_both_is_between_the_laws() -> None:
    healthy, one, two = two_slow("both")
    assert one / healthy == pytest.approx(3)
    assert 3.1 < two / healthy < 4.9


@pytest.mark.parametrize("kind", ["node", "nodes", "half rack"])
def test_the_law_changes_pairs_of_two_slow_nodes_only(kind: str) -> None:
    maps = {}
    for law in LAWS[:2]:
        random = np.random.default_rng(3)
        made = map_with(random_machine(random, 32), kind, 1.0, 0.0, random, law)
        assert made is not None
        maps[law] = microseconds(made[0])
        hosts, named = made[0].hosts, made[1].named
    slow = np.array([("node", frozenset({host})) in named for host in hosts])
    node = np.array(hosts)
    both = slow[:, None] & slow & (node[:, None] != node)
    np.testing.assert_array_equal(maps["sum"] > maps["max"] * (1 + 1e-9), both)


@pytest.mark.parametrize("law", LAWS)
def test_each_slow_node_takes_its_own_factor_with_healthy_ones(law: Law) -> None:
    factors = [1.25, 2.0, 10.0]
    run, truth = slow_nodes(
        np.random.default_rng(4), nodes=9, slow=3, factors=factors, law=law, noise=0.0
    )
    slow = np.array([("node", frozenset({host})) in truth.named for host in run.hosts])
    times = microseconds(run)[np.ix_(~slow, slow)]
    usual = np.nanmin(microseconds(run))
    assert sorted(times[0] / usual) == pytest.approx(factors)
    assert np.ptp(times, axis=0) == pytest.approx(0)


@pytest.mark.parametrize("seed", range(12))
def test_at_most_a_third_of_the_nodes_is_slow(seed: int) -> None:
    run, truth = random_slow_nodes(np.random.default_rng(seed), 0.05, LAWS[seed % len(LAWS)])
    nodes = len(set(run.hosts))
    assert 4 <= nodes <= 64
    assert 1 <= len(truth.named) <= max(1, nodes // 3)
    assert {kind for kind, _ in truth.named} == {"node"}
    assert 1 <= run.size // nodes <= 4


@pytest.mark.parametrize("seed", range(8))
def test_every_switch_keeps_a_healthy_node(seed: int) -> None:
    run, truth = slow_nodes(
        np.random.default_rng(seed),
        nodes=12,
        slow=4,
        factors=[1.25, 2, 5, 10],
        law="max",
        noise=0.05,
        ranks_per_node=2,
        switches=4,
    )
    assert [len(level) for level in truth.levels] == [12, 4, 1]
    slow = {host for _, hosts in truth.named for host in hosts}
    for group in truth.levels[1]:
        assert {run.hosts[rank] for rank in group} - slow


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(6))
def test_processors_are_one_host_of_4_to_128_ranks(family: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    run, truth = map_with_defect(random_processor(random, family), random, shuffled=True)
    assert 4 <= run.size <= 128
    assert set(run.hosts) == {"n01"}
    assert len(run.pairs()) == run.size * (run.size - 1) // 2
    times = 1e3 * microseconds(run)
    assert 3 < np.nanmin(times) < np.nanmax(times) < 1200
    for groups in truth.visible | truth.may:
        assert sorted(rank for group in groups for rank in group) == list(range(run.size))
    assert not truth.visible & truth.may
    assert truth.defect == frozenset()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_changes_the_pairs_of_its_ranks_only(family: str, defect: Defect) -> None:
    maps = []
    whats: tuple[Defect, ...] = ("nothing", defect)
    for what in whats:
        random = np.random.default_rng(5)
        processor = random_processor(random, family)
        run, truth = map_with_defect(processor, random, what)
        maps.append(microseconds(run))
    ranks = sorted(truth.defect)
    changed = {0: 0, 1: run.size - 1, 2: 1}[len(ranks)]
    off = np.triu(maps[1] / maps[0], 1)
    assert np.sum(off > 1.001) == changed
    np.testing.assert_allclose(off[off > 1.001], {0: 1.0, 1: 1.5, 2: 2.0}[len(ranks)])


def test_a_level_is_visible_from_10_percent_and_with_at_most_a_fifth_of_exceptions() -> None:
    group = np.arange(8) // 4
    same = group[:, None] == group
    near, far = np.where(same, 100.0, 109.0), np.where(same, 100.0, 111.0)
    assert visible(near, [group]) == frozenset()
    (seen,) = visible(far, [group])
    assert seen == {frozenset(range(4)), frozenset(range(4, 8))}
    far[0, 1:3] = far[1:3, 0] = 120.0  # two of the 12 pairs within groups
    assert visible(far, [group])
    far[0, 3] = far[3, 0] = 120.0
    assert not visible(far, [group])


def test_deviations_are_those_of_the_peers() -> None:
    random = np.random.default_rng(2)
    log = 0.1 * random.standard_normal((40, 40))
    times = 50 * np.exp(np.triu(log, 1) + np.triu(log, 1).T)
    np.fill_diagonal(times, np.nan)
    assert deviations(times, [], [3, 7]) == pytest.approx(np.log(2) / 0.1, rel=0.1)
    assert deviations(times, [], [3]) > 2 * np.log(1.5) / 0.1  # medians scatter less
    assert np.nanmax(with_defect(times, [3]) / times) == pytest.approx(1.5)
    siblings = np.arange(40) // 2
    siblings[4:] = np.arange(4, 40)
    assert deviations(times, [siblings], [0, 1]) == 0  # two pairs of siblings tell nothing


def test_the_scatter_of_a_processor_is_that_asked_for() -> None:
    """Within levels, beyond siblings: as a part of the time, of cores and of pairs."""
    ratios = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        processor = random_processor(random, "ring")
        run, _ = map_with_defect(processor, random)
        far = np.triu(processor.times, 1) > 15  # ns: no siblings
        off = np.log(1e3 * microseconds(run)[far] / processor.times[far])
        ratios.append(float(np.std(off)) / processor.scatter)
    assert np.median(ratios) == pytest.approx(1, abs=0.15)
