"""What every topology promises; a new one is tested by being there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from isochrone.applications.description import lowering, phases, reading, schema, topology
from isochrone.applications.description.expression import Quantity
from isochrone.applications.description.topology import Graph, Topology
from isochrone.base import registry
from made_up.played import play

NAMES = topology.names()
RANKS = 8

GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="b" for="edge" attr.name="bytes" attr.type="string"/>
<graph edgedefault="undirected"><node id="x"/><node id="y"/>
<edge source="x" target="y"><data key="b">4KiB</data></edge></graph></graphml>
"""


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def description(name: str, folder: Path) -> dict[str, Any]:
    """Return a description with the topology as its example has it."""
    example = topology.load(name).example
    if name == "graphml":
        (folder / "g.graphml").write_text(GRAPHML)
    written = name if example is None else {name: example}
    flow = topology.load(name).flow
    exchange = {"topology": written, "bytes": 64, "compute": "1us"}
    if flow == "farm":
        exchange["tasks"] = 20
    app = {"name": "a", "ranks": RANKS, "iterations": 1, "phases": [{"exchange": exchange}]}
    return {"isochrone": "app/1", "apps": [app]}


def graph(name: str, folder: Path) -> Graph:
    """Return the graph of its example."""
    parsed = reading.parse(description(name, folder), str(folder / "here"))
    spec = parsed.apps[0].phases[0].topology  # type: ignore[union-attr]
    scope = {"p": Quantity(float(RANKS))}
    found: Graph = spec.graph(RANKS, scope, 1, folder)
    return found


def test_it_is_declared_and_says_what_it_is(name: str) -> None:
    """Its flow and its options are those that the format knows."""
    kind = topology.load(name)
    assert isinstance(kind, Topology)
    assert kind.flow in get_args(phases.Flow)
    assert set(kind.needed) <= set(kind.options)
    assert not kind.short or kind.short in kind.options
    assert registry.summary(topology.FAMILY, name)


def test_its_edges_are_among_the_ranks(name: str, tmp_path: Path) -> None:
    """And nobody sends to itself."""
    edges = graph(name, tmp_path).edges
    assert edges
    for edge in edges:
        assert 0 <= edge.source < RANKS
        assert 0 <= edge.target < RANKS
        assert edge.source != edge.target
        assert edge.times >= 1


def test_it_is_the_same_graph_each_time(name: str, tmp_path: Path) -> None:
    """Two emulations send the same messages."""
    assert graph(name, tmp_path) == graph(name, tmp_path)


def test_its_flow_runs_to_its_end(name: str, tmp_path: Path) -> None:
    """As it is if the description does not say one."""
    parsed = reading.parse(description(name, tmp_path), str(tmp_path / "here"))
    (app,) = lowering.program(parsed).applications
    assert play(app)


def test_the_schema_knows_it(name: str, tmp_path: Path) -> None:
    """With the options of its example, and without others."""
    document = description(name, tmp_path)
    validator = jsonschema.Draft202012Validator(schema.schema())
    validator.validate(document)
    document["apps"][0]["phases"][0]["exchange"]["topology"] = {name: {"unknown": [[]]}}
    assert not validator.is_valid(document)


def test_the_reference_tells_it(name: str) -> None:
    """docs/applications.md has a row for each topology."""
    page = Path(__file__).parents[2] / "docs/applications.md"
    assert f"`{name}" in page.read_text()
