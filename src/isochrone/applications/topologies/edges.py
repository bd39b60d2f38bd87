"""Any graph, as a list of edges: ``[0, 1]``, or ``{from: 0, to: 1, bytes: 4KiB, count: 2}``."""

from typing import Any, Final

from isochrone.applications.description import quantities, shapes
from isochrone.applications.description.shapes import Given, KeyPath, Schema
from isochrone.applications.description.topology import Edge, Graph, Options, Topology, edge


class _Written:
    """A pair of ranks, or a mapping."""

    _KEYS: Final = ("from", "to", "bytes", "count")

    @classmethod
    def read(cls, value: Any, at: KeyPath) -> Any:
        """Return it as a mapping."""
        if not isinstance(value, list):
            shapes.check_keys(value, at, cls._KEYS, cls._KEYS[:2])
        elif len(value) == 2:
            value = {"from": value[0], "to": value[1]}
        else:
            raise at.error(
                f"the edge has {len(value)} ranks, not two",
                "sizes are written {from: 0, to: 1, bytes: 4KiB}",
            )
        for entry in value.values():
            Given.read(entry, at)
        return value

    @classmethod
    def schema(cls) -> Schema:
        """Return what it may be."""
        scalar = shapes.schema(Given)
        return shapes.one_of(
            {"type": "array", "items": scalar, "minItems": 2, "maxItems": 2},
            shapes.keys_schema(dict.fromkeys(cls._KEYS, scalar), cls._KEYS[:2]),
        )


def _edge(written: Any, options: Options, at: KeyPath) -> Edge:
    def rank(key: str) -> int:
        index = quantities.count(Given(written[key], at), options.scope, 0, 2**31)
        if index >= options.ranks:
            raise at.error(
                f"there is no rank {index} in an application of {options.ranks} ranks",
                f"ranks are 0 to {options.ranks - 1}",
            )
        return index

    return edge(rank("from"), rank("to"), written, options.scope, at)


def _make(options: Options) -> Graph:
    at = options.place("list")
    edges = tuple(_edge(entry, options, at.item(k)) for k, entry in enumerate(options.get("list")))
    options.check_edges(sum(link.times for link in edges))
    return Graph(edges, directed=options.get("directed", True))


TOPOLOGY = Topology(
    make=_make,
    options={"list": tuple[_Written, ...], "directed": bool},
    needed=("list",),
    short="list",
    example=[[0, 1], [1, 2], {"from": 2, "to": 7, "bytes": "4KiB", "count": 2}],
)
