"""Any graph, as a list of edges: ``[0, 1]``, or ``{from: 0, to: 1, bytes: 4KiB, count: 2}``."""

from typing import Any

from isochrone.applications.description import quantities
from isochrone.applications.description.key_path import KeyPath
from isochrone.applications.description.shapes import Given
from isochrone.applications.description.topology import Edge, Graph, Options, Topology, edge


def _edge(written: Any, options: Options, at: KeyPath) -> Edge:
    if isinstance(written, list):
        written = {"from": written[0], "to": written[1]}

    def rank(key: str) -> int:
        found = quantities.count(Given(written[key], at), options.scope, 0, 2**31)
        if found >= options.ranks:
            raise at.error(
                f"there is no rank {found} in an application of {options.ranks} ranks",
                f"ranks are 0 to {options.ranks - 1}",
            )
        return found

    return edge(rank("from"), rank("to"), written, options.scope, at)


def _make(options: Options) -> Graph:
    at = options.place("list")
    edges = tuple(_edge(one, options, at.item(k)) for k, one in enumerate(options.written["list"]))
    options.check_edges(sum(one.times for one in edges))
    return Graph(edges, directed=bool(options.written.get("directed", True)))


TOPOLOGY = Topology(
    make=_make,
    options={"list": "edges", "directed": "boolean"},
    needed=("list",),
    short="list",
    example=[[0, 1], [1, 2], {"from": 2, "to": 7, "bytes": "4KiB", "count": 2}],
)
