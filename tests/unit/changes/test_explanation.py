"""A setting explains what changed everywhere, and not why one node became slow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isochrone.changes.compare import compare
from isochrone.runfile.run import Run
from made_up.latency_maps import Matrix, block, map_of, noisy, tree
from made_up.times import grid, run_of, times, truth
from made_up.times import noisy as noisy_times

FACTORS = (1.0, 1.06, 0.95, 1.02, 0.97)
HOSTS = block(6, 4)
MACHINE = tree([4, 3, 2], [1, 4, 12])
TCP = {"settings": {"UCX_TLS": "tcp,self"}}


def maps(times: Matrix, seed: int, launches: int = 5, **header: Any) -> list[Run]:
    found = [map_of(noisy(f * times, 0.05, seed + k), HOSTS) for k, f in enumerate(FACTORS)]
    for run in found:
        run.header.update({"memory": "host", "settings": {}} | header)
    return found[:launches]


def explained(before: list[Run], after: list[Run]) -> list[str]:
    return [one.what for one in compare(before, after).explanations]


@pytest.mark.parametrize("seed", [1, 50, 300])
@pytest.mark.parametrize("factor", [0.5, 1.5, 8.9])
def test_a_setting_explains_what_changed_everywhere(seed: int, factor: float) -> None:
    assert explained(maps(MACHINE, seed), maps(factor * MACHINE, seed + 9, **TCP)) == ["UCX_TLS"]


def test_a_setting_explains_what_changed_on_a_level() -> None:
    """Such as the network, while memory is shared as before."""
    network = np.where(tree([4, 3, 2], [0, 1, 1]) > 0, 2 * MACHINE, MACHINE)
    assert explained(maps(MACHINE, 1), maps(network, 20, **TCP)) == ["UCX_TLS"]


@pytest.mark.few(2)
@pytest.mark.parametrize("node", range(6))
def test_a_setting_does_not_explain_why_one_node_became_slow(node: int) -> None:
    """All ranks have the setting; who believed this would not look at the node."""
    own = np.arange(24) // 4 == node
    slow = np.where(own[:, None] != own, 3 * MACHINE, MACHINE)
    found = compare(maps(MACHINE, 1), maps(slow, 20, **TCP))
    assert {part.kind for part in found.parts} == {"node"}
    assert found.explanations == []
    assert found.differences[0]["what"] == "UCX_TLS"


def test_where_nothing_changed_nothing_is_explained() -> None:
    assert explained(maps(MACHINE, 1), maps(MACHINE, 20, **TCP)) == []


@pytest.mark.parametrize(
    ("factor", "expected"), [(8.9, ["UCX_TLS"]), (0.2, ["UCX_TLS"]), (1.2, [])]
)
def test_single_starts_are_explained_if_they_differ_by_more_than_starts_do(
    factor: float, expected: list[str]
) -> None:
    """There is no verdict about them, but the first thing anybody would ask is known."""
    assert explained(maps(MACHINE, 1, 1), maps(factor * MACHINE, 20, 1, **TCP)) == expected


def test_a_setting_explains_a_change_of_some_sizes_of_a_sweep() -> None:
    """Such as a threshold: no curve changed as a whole."""
    variables = grid("bcast-log")
    exact = times(truth("bcast-log"), variables)
    largest = np.where(variables["b"] == variables["b"].max(), 3.0, 1.0)

    def side(seed: int, factor: np.ndarray | float, **header: Any) -> list[Run]:
        known = {"memory": "host", "settings": {}} | header
        return [
            run_of(
                noisy_times(exact * factor * f, variables, 0.02, 10, seed + k, op="bcast"), **known
            )
            for k, f in enumerate(FACTORS)
        ]

    found = compare(side(0, 1.0), side(50, largest, settings={"UCX_RNDV_THRESH": "inf"}))
    assert {part.kind for part in found.parts} <= {"point"}
    assert [one.what for one in found.explanations] == ["UCX_RNDV_THRESH"]
