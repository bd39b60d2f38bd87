"""Pairs against their levels."""

from __future__ import annotations

import pytest

from isochrone.latency_map import topology
from isochrone.latency_map.pairs import level_of_pairs, medians, slowest
from isochrone.latency_map.topology import Level
from made_up.latency_maps import block, latency_map, with_retests


def level(k: int, name: str, groups: list[list[int]]) -> Level:
    return Level(k, name, 1e-6 * 3**k, 0.0, 1.0, 5, groups)


def test_every_pair_has_its_level() -> None:
    made = [level(0, "group", [[0, 1], [2], [3]]), level(1, "node", [[0, 1, 2], [3]]),
            level(2, "network", [[0, 1, 2, 3]])]  # fmt: skip
    found = level_of_pairs(made, 4)
    assert (found[0, 1], found[0, 2], found[1, 2], found[0, 3], found[2, 3]) == (0, 1, 1, 2, 2)


def test_levels_have_a_median_at_each_size() -> None:
    run = latency_map(block(2, 4), noise=0.0, nbytes=(64, 16384))
    near, far = medians(run, "median", 16384, topology.analyse(run))
    assert near == pytest.approx(2.4e-6)
    assert far == pytest.approx(19.6e-6)


def test_the_worst_pairs_come_first_with_both_measurements() -> None:
    run = latency_map(block(2, 3), noise=0.0, slow_ranks={4: 2.0})
    run = with_retests(run, [(3, 4)], factor=1.5)
    found = slowest(run, "median", topology.analyse(run), 3)
    assert len(found) == 3
    assert (found[0].i, found[0].j) == (3, 4)
    assert found[0].retested
    assert found[0].seconds == pytest.approx(1.5 * found[0].first)
    assert [pair.ratio for pair in found] == sorted((pair.ratio for pair in found), reverse=True)
