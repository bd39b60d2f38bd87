"""What is just below a limit, and just above it: each number that decides, on a map made for it.

`bench/thresholds.py` changes the numbers and names those that no test holds.
"""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.latency_map.groupings import cuts_of
from isochrone.latency_map.grid import grid_of
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.topology import Topology, analyse
from made_up.latency_maps import Matrix, block, flat, map_of, noisy, torus


def read(times: Matrix) -> Topology:
    return analyse(map_of(times, block(len(times))))


def texts(found: Topology, code: str) -> list[str]:
    return [warning["text"] for warning in found.warnings if warning["code"] == code]


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


def test_a_draw_keeps_the_nearest_partners_of_each_unit() -> None:
    """Protects small groups of large maps: 16 partners of each unit, and few of one far away."""
    place = np.append(np.random.default_rng(1).random(199), 50.0)
    drawn = times_of(1 + np.abs(place[:, None] - place)).some(0)
    partners = np.bincount(np.concatenate([drawn.i, drawn.j]), minlength=200)
    assert partners.min() == partners[199] == 16


def test_few_cuts_of_a_dendrogram_are_tried() -> None:
    """Protects the time of a search where times have no structure."""
    assert [len(cuts) for cuts in cuts_of(noisy(flat(40), 0.3, 1))] == [6, 6]
