"""Any graph, as a list of edges: ``[0, 1]``, or ``{from: 0, to: 1, bytes: 4KiB, count: 2}``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from isochrone.applications.description import quantities, shapes
from isochrone.applications.description.shapes import ONE, Declared, Given, KeyPath, Schema
from isochrone.applications.description.topology import Edge, Graph, Options, Topology, edge


@dataclass(frozen=True, kw_only=True)
class Link(Declared):
    """A pair of ranks, or a mapping."""

    from_: Given
    to: Given
    bytes: Given | None = None
    count: Given = ONE

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Self:
        """Return what was written."""
        if not isinstance(value, list):
            return shapes.declared(cls, value, at)
        if len(value) != 2:
            raise at.error(
                f"the edge has {len(value)} ranks, not two",
                "sizes are written {from: 0, to: 1, bytes: 4KiB}",
            )
        source, target = (Given.read(rank, at) for rank in value)
        return cls(at=at, from_=source, to=target)

    @classmethod
    def schema(cls) -> Schema:
        """Return what it may be."""
        pair = {"type": "array", "items": shapes.schema(Given), "minItems": 2, "maxItems": 2}
        return shapes.one_of(pair, shapes.declared_schema(cls))


def _edge(link: Link, options: Options) -> Edge:
    source, target = (
        quantities.count(written, options.scope, 0, 2**31) for written in (link.from_, link.to)
    )
    if max(source, target) >= options.ranks:
        raise link.at.error(
            f"there is no rank {max(source, target)} in an application of {options.ranks} ranks",
            f"ranks are 0 to {options.ranks - 1}",
        )
    return edge(source, target, link.at, options.scope, link.bytes, link.count)


def _make(options: Options) -> Graph:
    edges = tuple(_edge(link, options) for link in options.get("list"))
    options.check_edges(sum(messages.times for messages in edges))
    return Graph(edges, directed=options.get("directed", True))


TOPOLOGY = Topology(
    make=_make,
    options={"list": tuple[Link, ...], "directed": bool},
    needed=("list",),
    short="list",
    example=[[0, 1], [1, 2], {"from": 2, "to": 7, "bytes": "4KiB", "count": 2}],
)
