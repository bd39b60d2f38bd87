"""Tori and meshes: no levels, but hops that explain the times."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.latency_map.grid import grid_of
from isochrone.latency_map.pairs import between_nodes, nodes_of, rank_pairs
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Run
from made_up.latency_maps import Matrix, dragonfly, flat, map_of, noisy, torus, tree


def of_nodes(times: Matrix) -> Run:
    return map_of(times, [f"n{k}" for k in range(len(times))])


def codes(run: Run) -> set[str]:
    return {str(one["code"]) for one in analyse(run).warnings}


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize(("shape", "hops"), [((8, 8), 8), ((4, 4, 4), 6), ((16,), 8)])
def test_times_of_a_torus_grow_with_its_hops(
    shape: tuple[int, ...], hops: int, noise: float
) -> None:
    run = of_nodes(noisy(torus(shape, base=2.0, step=1.0), noise, 2))
    pairs, node = rank_pairs(run, "median", 64), nodes_of(run.hosts)
    found = grid_of(between_nodes(pairs, node, np.zeros(len(node)))[0])
    assert found is not None
    assert found.hops == hops
    assert found.further == pytest.approx(1e-6, rel=0.05)
    assert found.first == pytest.approx(3e-6, rel=0.1)
    assert "no-hierarchy" in codes(run)


@pytest.mark.parametrize(
    "times",
    [
        flat(32),
        noisy(flat(40), 0.3, 1),
        tree([4, 8], [1, 3]),
        tree([2, 4, 4], [1, 3, 9]),
        dragonfly(5, 4, 2),
    ],
    ids=["flat", "noise", "two levels", "three levels", "dragonfly"],
)
def test_other_machines_are_no_grids(times: Matrix) -> None:
    assert "no-hierarchy" not in codes(of_nodes(times))
