"""Who sends to whom, against what is known of the graphs."""

from __future__ import annotations

import resource
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from beds.golden import Golden
from isochrone.applications.description import lowering, reading
from isochrone.applications.description.program import Isend, Send
from isochrone.applications.topologies import networkx
from isochrone.applications.topologies.halo import balanced
from isochrone.base.errors import InputError


def messages(
    topology: Any, ranks: int, folder: Path = Path("here"), flow: str = "exchange"
) -> Counter[tuple[int, int, float]]:
    """Return how often each rank sends to each other rank, and how much."""
    exchange = {"topology": topology, "flow": flow, "bytes": 64}
    app = {"name": "a", "ranks": ranks, "iterations": 1, "phases": [{"exchange": exchange}]}
    parsed = reading.parse({"isochrone": "app/1", "apps": [app]}, str(folder / "app.yaml"))
    program = lowering.program(parsed)
    return Counter(
        (rank, step.to, program.values[step.size][0])
        for rank, steps in enumerate(program.applications[0].steps)
        for step in steps
        if isinstance(step, Send | Isend)
    )


def pairs(topology: Any, ranks: int) -> set[tuple[int, int]]:
    return {(a, b) for a, b, _ in messages(topology, ranks)}


@pytest.mark.parametrize("shape", [[5], [3, 4], [2, 3, 4], [1, 6], [2, 2]])
@pytest.mark.parametrize("periodic", [False, True])
def test_a_halo_is_the_grid_graph(shape: list[int], periodic: bool) -> None:
    """As networkx has it, both ways along each edge."""
    grid = nx.grid_graph(shape[::-1], periodic=periodic)
    number = {node: k for k, node in enumerate(sorted(grid.nodes))}
    expected = {(number[a], number[b]) for a, b in grid.edges if a != b}
    ranks = len(number)
    found = pairs({"halo": {"shape": shape, "periodic": periodic}}, ranks)
    assert found == expected | {(b, a) for a, b in expected}


def test_two_ranks_around_a_ring_are_neighbours_twice() -> None:
    """To the left and to the right, as in programs."""
    found = messages({"halo": {"shape": [2], "periodic": True}}, 2)
    assert found == {(0, 1, 64): 2, (1, 0, 64): 2}


def test_each_dimension_may_be_periodic_or_not() -> None:
    found = pairs({"halo": {"shape": [3, 3], "periodic": [True, False]}}, 9)
    assert (0, 6) in found
    assert (0, 2) not in found


@pytest.mark.parametrize(
    ("ranks", "dimensions", "sides"),
    [(12, 2, [4, 3]), (64, 3, [4, 4, 4]), (7, 2, [7, 1]), (36, 3, [4, 3, 3]), (1, 3, [1, 1, 1])],
)
def test_grids_are_as_square_as_can_be(ranks: int, dimensions: int, sides: list[int]) -> None:
    assert balanced(ranks, dimensions) == sides


def test_everyone_sends_to_everyone_else() -> None:
    assert pairs("all-to-all", 4) == {(a, b) for a in range(4) for b in range(4) if a != b}


def test_a_tree_has_children_in_order() -> None:
    found = messages({"tree": {"degree": 3}}, 6, flow="stream")
    assert set(found) == {(0, 1, 64), (0, 2, 64), (0, 3, 64), (1, 4, 64), (1, 5, 64)}


def test_every_rank_of_a_regular_graph_has_as_many_neighbours() -> None:
    found = pairs({"random-regular": {"degree": 3}}, 10)
    assert Counter(a for a, _ in found) == dict.fromkeys(range(10), 3)
    assert pairs({"random-regular": {"degree": 3, "seed": 2}}, 10) != found


def test_a_butterfly_needs_a_power_of_two() -> None:
    with pytest.raises(InputError, match="6 ranks"):
        messages("butterfly", 6)


def test_edges_have_sizes_and_counts_of_their_own() -> None:
    edges = [[0, 1], {"from": 1, "to": 0, "bytes": "4KiB", "count": 3}, [0, 1]]
    assert messages({"edges": edges}, 2) == {(0, 1, 64): 2, (1, 0, 4096): 3}
    both = {"list": [[0, 1]], "directed": False}
    assert messages({"edges": both}, 2) == {(0, 1, 64): 1, (1, 0, 64): 1}


def test_a_generator_of_networkx_is_its_graph() -> None:
    found = pairs({"networkx": {"generator": "petersen_graph"}}, 10)
    expected = set(nx.petersen_graph().to_directed().edges)
    assert found == expected


def test_a_random_generator_is_drawn_from_the_seed() -> None:
    """Two emulations of a description send the same."""
    topology = {"networkx": {"generator": "gnp_random_graph", "n": 12, "p": 0.4}}
    assert pairs(topology, 12) == pairs(topology, 12)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"generator": "random_regular_graph", "d": 3, "n": 5}, "must be even"),
        ({"generator": "cycle_graph", "n": 10**9}, "too large"),
        ({"generator": "ego_graph", "G": 1, "n": 1}, "ego_graph"),
        ({"generator": "number_of_nonisomorphic_trees", "order": 4}, "does not return a graph"),
        ({"generator": "_Graph"}, "no generator"),
        ({"generator": "write_gml", "G": 1, "path": 1}, "no generator"),
        ({"generator": "config"}, "no generator"),
        ({"generator": "cycle_graph", "n": 4, "create_using": 1}, "has no parameter"),
    ],
)
def test_only_generators_of_graphs_are_called(asked: dict[str, Any], expected: str) -> None:
    """One line, whatever they do; and they are bounded in time and memory."""
    with pytest.raises(InputError, match=expected) as caught:
        messages({"networkx": asked}, 5)
    assert "topology.networkx" in caught.value.where


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("asked", "limit", "most"),
    [
        ({"generator": "kneser_graph", "n": 40, "k": 20}, "MOST_MEMORY", 2**26),
        ({"generator": "hypercube_graph", "n": 60}, "GENERATOR_TIMEOUT", 0.2),
    ],
)
def test_small_numbers_that_ask_for_large_graphs_are_refused(
    asked: dict[str, Any], limit: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By memory or time, whichever ends first; then both are as before."""
    monkeypatch.setattr(networkx, limit, most)
    before = resource.getrlimit(resource.RLIMIT_AS), sys.gettrace()
    with pytest.raises(InputError, match="too large"):
        messages({"networkx": asked}, 5)
    assert (resource.getrlimit(resource.RLIMIT_AS), sys.gettrace()) == before


GRAPH = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="edge" attr.name="bytes" attr.type="long"/>
<key id="d1" for="edge" attr.name="count" attr.type="int"/>
<graph edgedefault="directed">
<node id="{first}"/><node id="{second}"/><node id="{third}"/>
<edge source="{first}" target="{second}"><data key="d0">4096</data></edge>
<edge source="{second}" target="{third}"><data key="d1">2</data></edge>
</graph></graphml>
"""


def test_graphml_has_ranks_in_the_order_of_its_nodes(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(GRAPH.format(first="z", second="y", third="x"))
    found = messages({"graphml": "g.graphml"}, 3, tmp_path)
    assert found == {(0, 1, 4096): 1, (1, 2, 64): 2}


def test_graphml_with_numbers_has_ranks_by_number(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(GRAPH.format(first=2, second=1, third=0))
    assert set(messages({"graphml": "g.graphml"}, 3, tmp_path)) == {(2, 1, 4096), (1, 0, 64)}


def test_what_networkx_writes_is_read(tmp_path: Path) -> None:
    """Undirected: both ways."""
    nx.write_graphml(nx.cycle_graph(4), tmp_path / "g.graphml")
    found = messages({"graphml": "g.graphml"}, 4, tmp_path)
    assert {(a, b) for a, b, _ in found} == set(nx.cycle_graph(4).to_directed().edges)


def test_a_graph_goes_with_the_description_into_a_run_file(tmp_path: Path) -> None:
    """A run file stands on its own: its description has the edges in it."""
    (tmp_path / "g.graphml").write_text(GRAPH.format(first="a", second="b", third="c"))
    exchange = {"topology": {"graphml": "g.graphml"}, "bytes": 64}
    app = {"name": "a", "ranks": 3, "iterations": 1, "phases": [{"exchange": exchange}]}
    parsed = reading.parse({"isochrone": "app/1", "apps": [app]}, str(tmp_path / "app.yaml"))
    document, program = reading.as_document(parsed), lowering.program(parsed)
    (tmp_path / "g.graphml").unlink()
    again = lowering.program(reading.parse(document, "run.jsonl"))
    assert set(document["apps"][0]["phases"][0]["exchange"]["topology"]) == {"edges"}
    assert again == program


LAUGHS = '<!DOCTYPE graphml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><graphml>&b;</graphml>'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LAUGHS, "document type"),
        ('<!DOCTYPE g SYSTEM "file:///etc/passwd"><graphml/>', "document type"),
        (
            GRAPH.format(first="a", second="b", third="c").replace('source="b"', 'source="q"'),
            "unknown node 'q'",
        ),
        (GRAPH.format(first="a", second="b", third="c").replace("4096", "-1"), "negative"),
        (GRAPH.format(first="a", second="b", third="c").replace(">2<", ">0<"), "not from 1"),
        ("<graphml", "is not valid XML:"),
        ("<html/>", "is not valid GraphML"),
        ("\0", "is not valid XML:"),
    ],
)
def test_graphml_from_elsewhere_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    """Nothing in it grows, and nothing else is read."""
    (tmp_path / "g.graphml").write_text(text)
    with pytest.raises(InputError, match=expected) as caught:
        messages({"graphml": "g.graphml"}, 3, tmp_path)
    assert "topology.graphml" in caught.value.where


def test_a_graph_of_more_nodes_than_ranks_is_refused(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "g.graphml").write_text(GRAPH.format(first="a", second="b", third="c"))
    with golden.refusal():
        messages({"graphml": "g.graphml"}, 2, tmp_path)


def test_more_messages_than_there_is_room_for_are_refused() -> None:
    """Before anything is made of them."""
    with pytest.raises(InputError, match="the graph"):
        messages("all-to-all", 60_000)
    many = {"from": 0, "to": 1, "count": 2**20 - 1}
    with pytest.raises(InputError, match="4194300 edges"):
        messages({"edges": [many] * 4}, 2)
