"""Victims and congestors: who is on which ranks, and that their descriptions can be run."""

from __future__ import annotations

import pytest

from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import parse
from isochrone.applications.emulation.congestion import (
    CONGESTORS,
    VICTIMS,
    description,
    victim_ranks,
)


def hosts(nodes: int, per_node: int) -> list[str]:
    return [f"n{k // per_node}" for k in range(nodes * per_node)]


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        ((1, 4), [1, 3]),
        ((2, 4), [2, 6]),
        ((4, 2), [2, 3, 6, 7]),
        ((10, 1), [2, 7]),
        ((20, 1), [2, 7, 12, 17]),
        ((20, 2), [4, 5, 14, 15, 24, 25, 34, 35]),
    ],
    ids=str,
)
def test_a_fifth_of_the_nodes_spread_evenly_has_the_victim(
    machine: tuple[int, int], expected: list[int]
) -> None:
    """Whole nodes, from four nodes on; with fewer, nodes have ranks of both."""
    assert victim_ranks(hosts(*machine)) == expected


@pytest.mark.parametrize("machine", [(1, 4), (1, 5), (3, 3), (4, 1), (5, 4), (25, 3)], ids=str)
def test_every_pair_can_be_run(machine: tuple[int, int], subtests: pytest.Subtests) -> None:
    """Every rank of the job is of one of both; a congestor repeats, a victim does not."""
    names = hosts(*machine)
    for victim in VICTIMS:
        for congestor in CONGESTORS:
            with subtests.test(f"{victim} {congestor}"):
                job = program(parse(description(names, victim, congestor), "test"), len(names))
                both = [set(app.on) for app in job.applications]
                assert both[0] | both[1] == set(range(len(names)))
                assert not both[0] & both[1]
                assert min(map(len, both)) >= 2
                assert [app.background for app in job.applications] == [False, True]


def test_ranks_of_different_nodes_add_up_in_an_allreduce() -> None:
    """The first ranks of all nodes of the victim, and the second ones."""
    (phase,) = description(hosts(20, 2), "multiple_allreduce", "bcast")["apps"][0]["phases"]
    assert phase["allreduce"]["among"] == [[0, 2, 4, 6], [1, 3, 5, 7]]
