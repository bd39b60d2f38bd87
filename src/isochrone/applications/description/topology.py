"""Topologies: who sends to whom in an exchange.

`isochrone.applications.topologies` holds them, one per file; each file ends in its
`Topology`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from isochrone.applications.description import quantities, shapes
from isochrone.applications.description.quantities import Scope
from isochrone.applications.description.shapes import ONE, Given, KeyPath, Schema
from isochrone.base import registry
from isochrone.base.record import Members

FAMILY = "applications.topologies"

MAX_EDGES = 2**21
"""Of a graph; each becomes a few steps of ranks."""


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
    spec
        As it was written.
    scope
        What names stand for in expressions.
    seed
        Of what is random and has no seed of its own.
    folder
        Where files are looked for.
    """

    ranks: int
    spec: TopologySpec
    scope: Scope
    seed: int
    folder: Path

    @property
    def at(self) -> KeyPath:
        """Place of the options."""
        return self.spec.at

    def place(self, name: str) -> KeyPath:
        """Return where an option is written."""
        return self.at if name == self.spec.short else self.at.key(name)

    def __contains__(self, name: str) -> bool:
        return name in self.spec.options

    def get(self, name: str, default: object = None) -> Any:
        """Return what an option says, or what it is if it was not written."""
        return self.spec.options.get(name, default)

    def count(self, name: str, minimum: int, maximum: int, default: int = 0) -> int:
        """Return a whole number of a range."""
        expression = self.get(name, Given(default, self.at))
        return quantities.count(expression, self.scope, minimum, maximum)

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
        Keys that it takes, and what each is, as `shapes` has it.
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
    options: Mapping[str, object] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    short: str = ""
    more: bool = False
    example: object = None


def edge(
    source: int,
    target: int,
    at: KeyPath,
    scope: Scope,
    bytes: Given | None = None,
    count: Given = ONE,
) -> Edge:
    """Return an edge with its size and count, if they are written.

    Raises
    ------
    InputError
        If it is of one rank, or one of both is not possible.
    """
    if source == target:
        raise at.error(f"rank {source} sends to itself")
    size = None if bytes is None else int(quantities.size(bytes, scope))
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
    topology: Topology = registry.load(FAMILY, name).TOPOLOGY
    return topology


@dataclass(frozen=True)
class TopologySpec:
    """Who talks to whom: a name of ``topologies`` and its options.

    `short` is the option that was written without its name.
    """

    name: str
    options: Members
    at: KeyPath = field(compare=False)
    short: str = ""
    REF: ClassVar = "topology"

    @classmethod
    def read(cls, value: object, at: KeyPath) -> TopologySpec:
        """Return a topology by name, or one with options."""
        options: object = {}
        if isinstance(value, str):
            name = shapes.word(value, at, names())
        else:
            name, options, at = shapes.single(value, at, names(), "one topology is expected")
        kind = load(name)
        short = ""
        if kind.short and not isinstance(options, dict):
            short, options = kind.short, {kind.short: options}
        if options is None:
            options = {}
        allowed = [*kind.options, *(options if kind.more and isinstance(options, dict) else ())]
        parsed = {
            key: shapes.read(kind.options.get(key, _MORE), option, at if short else at.key(key))
            for key, option in shapes.mapping(options, at, allowed, kind.needed).items()
        }
        return cls(name, parsed, at, short)

    def graph(self, ranks: int, scope: Scope, seed: int = 0, folder: Path = Path()) -> Graph:
        """Return the graph; see `Options`."""
        return load(self.name).make(Options(ranks, self, scope, seed, folder))

    @classmethod
    def schema(cls) -> Schema:
        """Return all: by name alone where nothing else is needed, or with options."""
        kinds = {name: load(name) for name in names()}
        choices = {}
        for name, kind in kinds.items():
            options = {key: shapes.schema(of) for key, of in kind.options.items()}
            schema = shapes.keys_schema(options, kind.needed)
            if kind.more:
                schema["additionalProperties"] = shapes.schema(_MORE)
            if not kind.needed:
                schema["type"] = ["object", "null"]
            choices[name] = shapes.one_of(schema, options[kind.short]) if kind.short else schema
        standalone = [name for name, kind in kinds.items() if not kind.needed]
        return shapes.one_of({"enum": standalone}, shapes.single_schema(choices))


_MORE: object = Given | bool
"""What other keys may be, where a topology takes them."""
