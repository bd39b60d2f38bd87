"""Pairs against their levels."""

from __future__ import annotations

import pytest

from isochrone.latency_map import topology
from made_up.latency_maps import block, latency_map, with_retests


def test_levels_have_a_median_at_each_size() -> None:
    run = latency_map(block(2, 4), noise=0.0, nbytes=(64, 16384))
    near, far = topology.medians_of_levels(run, "median", 16384, topology.analyse(run))
    assert near == pytest.approx(2.4e-6)
    assert far == pytest.approx(19.6e-6)


def test_the_worst_pairs_come_first_with_both_measurements() -> None:
    run = latency_map(block(2, 3), noise=0.0, slow_ranks={4: 2.0})
    run = with_retests(run, [(3, 4)], factor=1.5)
    found = topology.slowest_pairs(run, "median", topology.analyse(run), 3)
    assert len(found) == 3
    assert (found[0].i, found[0].j) == (3, 4)
    assert found[0].retested
    assert found[0].seconds == pytest.approx(1.5 * found[0].first)
    assert [pair.ratio for pair in found] == sorted((pair.ratio for pair in found), reverse=True)
