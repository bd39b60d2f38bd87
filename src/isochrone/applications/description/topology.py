"""Topologies: who sends to whom in an exchange.

`isochrone.applications.topologies` holds them, one per file; each file ends in its
`Topology`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from isochrone.applications.description import quantities, shapes
from isochrone.applications.description.key_path import KeyPath
from isochrone.applications.description.quantities import Scope
from isochrone.applications.description.shapes import Given, Schema
from isochrone.base import registry

FAMILY = "applications.topologies"

MAX_EDGES = 2**21
"""Of a graph; each becomes a few steps of ranks."""

Kind = Literal[
    "number", "numbers", "boolean", "booleans", "number-or-boolean", "text", "edges", "offsets"
]
"""What an option takes; a number may be an expression, and ``booleans`` are one or a list."""


class Edge(NamedTuple):
    """A message, or several.

    Attributes
    ----------
    source, target
        Ranks of the application.
    bytes
        Size of each; None: that of the exchange.
    times
        How many.
    round
        Of an exchange in rounds: it begins when the rounds before are over.
    """

    source: int
    target: int
    bytes: int | None = None
    times: int = 1
    round: int = 0


@dataclass(frozen=True)
class Graph:
    """Who sends to whom.

    Attributes
    ----------
    edges
        Not more than `MAX_EDGES`.
    directed
        Else data go both ways along each edge.
    root
        Where a flow begins that begins somewhere; None: the flow finds it.
    """

    edges: tuple[Edge, ...]
    directed: bool = False
    root: int | None = None


def star(options: Options) -> Graph:
    """Join rank 0 with all others."""
    return Graph(tuple(Edge(0, rank) for rank in range(1, options.ranks)), root=0)


@dataclass(frozen=True)
class Options:
    """What a topology is asked for.

    Attributes
    ----------
    ranks
        Of the application; all edges must be among them.
    written
        Its options by name.
    scope
        What names stand for in expressions.
    seed
        Of what is random and has no seed of its own.
    at
        Place of the options.
    folder
        Where files are looked for.
    short
        The option that is written without its name; empty: none.
    """

    ranks: int
    written: Mapping[str, Any]
    scope: Scope
    seed: int
    at: KeyPath
    folder: Path = field(default_factory=Path)
    short: str = ""

    def place(self, name: str) -> KeyPath:
        """Return where an option is written."""
        return self.at if name == self.short else self.at.key(name)

    def __contains__(self, name: str) -> bool:
        return name in self.written

    def count(self, name: str, least: int, most: int, default: int = 0) -> int:
        """Return a whole number of a range."""
        given = Given(self.written.get(name, default), self.place(name))
        return quantities.count(given, self.scope, least, most)

    def check_edges(self, count: float) -> None:
        """Refuse a graph of too many edges before it is made."""
        if count > MAX_EDGES:
            raise self.at.error(f"the graph has {count:.0f} edges", f"at most {MAX_EDGES}")


@dataclass(frozen=True)
class Topology:
    """A topology that a description can name.

    Attributes
    ----------
    make
        Returns the graph; raises `InputError` with the place of what is wrong.
    flow
        When messages are sent, if the description does not say: ``request``, ``farm``, ``token``,
        ``stream`` or ``exchange``.
    options
        Keys that it takes, and what each is.
    needed
        Keys without which it is nothing.
    short
        The key that is meant if there is a value instead of a mapping; empty: none.
    more
        Whether it takes other keys, too, with numbers or booleans.
    example
        Options that make it for eight ranks.
    """

    make: Callable[[Options], Graph]
    flow: str = "exchange"
    options: Mapping[str, Kind] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    short: str = ""
    more: bool = False
    example: Any = None


def edge(source: int, target: int, written: Mapping[str, Any], scope: Scope, at: KeyPath) -> Edge:
    """Return an edge with its size and count, if they are written.

    Raises
    ------
    InputError
        If it is of one rank, or one of both is not possible.
    """
    if source == target:
        raise at.error(f"rank {source} sends to itself")
    size = None
    if "bytes" in written:
        size = int(quantities.size(Given(written["bytes"], at.key("bytes")), scope))
    count = Given(written.get("count", 1), at.key("count"))
    return Edge(source, target, size, quantities.count(count, scope, 1, 2**20 - 1))


def names() -> list[str]:
    """List the topologies as they are written in descriptions."""
    return registry.names(FAMILY)


def load(name: str) -> Topology:
    """Return a topology by its name.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    found: Topology = registry.load(FAMILY, name).TOPOLOGY
    return found


class _Edge:
    """A pair of ranks, or a mapping."""

    _KEYS: Final = ("from", "to", "bytes", "count")

    @classmethod
    def read(cls, value: Any, at: KeyPath) -> None:
        """Refuse anything else."""
        if not isinstance(value, list):
            shapes.check_keys(value, at, cls._KEYS, cls._KEYS[:2])
        elif len(value) != 2:
            raise at.error(
                f"the edge has {len(value)} ranks, not two",
                "sizes are written {from: 0, to: 1, bytes: 4KiB}",
            )
        for end in value.values() if isinstance(value, dict) else value:
            Given.read(end, at)

    @classmethod
    def schema(cls) -> Schema:
        """Return what it may be."""
        scalar = shapes.schema(Given)
        return shapes.one_of(
            {"type": "array", "items": scalar, "minItems": 2, "maxItems": 2},
            shapes.keys_schema(dict.fromkeys(cls._KEYS, scalar), cls._KEYS[:2]),
        )


class _Offset:
    """Steps along the dimensions of a grid, and the size of a message that way."""

    @staticmethod
    def read(value: Any, at: KeyPath) -> None:
        """Refuse anything else."""
        shapes.check_keys(value, at, ("to", "bytes"), ("to",))
        for k, step in enumerate(shapes.listed(value["to"], at.key("to"))):
            Given.read(step, at.key("to").item(k))
        if "bytes" in value:
            Given.read(value["bytes"], at.key("bytes"))

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        scalar = shapes.schema(Given)
        steps = {"type": "array", "items": scalar, "minItems": 1}
        return shapes.keys_schema({"to": steps, "bytes": scalar}, ("to",))


class _Text:
    @staticmethod
    def read(value: Any, at: KeyPath) -> None:
        """Refuse what is no text."""
        if not isinstance(value, str) or not value:
            raise at.error("the value is not a text")

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        return {"type": "string", "minLength": 1}


KINDS = {
    "number": Given,
    "numbers": tuple[Given, ...],
    "boolean": bool,
    "booleans": bool | tuple[bool, ...],
    "number-or-boolean": Given | bool,
    "text": _Text,
    "edges": tuple[_Edge, ...],
    "offsets": tuple[_Offset, ...],
}
"""What options of topologies are, as `shapes` has it."""
