"""Topologies: who sends to whom in an exchange.

`isochrone.applications.topologies` holds them, one per file; each file ends in its
`Topology`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from isochrone.applications.description import fields, quantities
from isochrone.applications.description.description import Given
from isochrone.applications.description.key_path import KeyPath
from isochrone.applications.description.quantities import Scope
from isochrone.base import registry

__all__ = [
    "FAMILY",
    "MAX_EDGES",
    "Edge",
    "Graph",
    "Kind",
    "Options",
    "Topology",
    "check_option",
    "load",
    "names",
]

FAMILY: Final = "applications.topologies"

MAX_EDGES: Final = 2**21
"""Of a graph; each becomes a few steps of ranks."""

Kind = Literal["number", "numbers", "boolean", "booleans", "number-or-boolean", "text", "edges"]
"""What an option takes; a number may be an expression, and ``booleans`` are one or a list."""


@dataclass(frozen=True)
class Edge:
    """A message, or several.

    Attributes
    ----------
    source, target
        Ranks of the application.
    bytes
        Size of each; None: that of the exchange.
    count
        How many.
    round
        Of an exchange in rounds: it begins when the rounds before are over.
    """

    source: int
    target: int
    bytes: int | None = None
    count: int = 1
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

    def counts(self, name: str, least: int, most: int) -> list[int]:
        """Return a list of whole numbers."""
        at = self.place(name)
        return [
            quantities.count(Given(value, at.item(k)), self.scope, least, most)
            for k, value in enumerate(self.written[name])
        ]

    def booleans(self, name: str, length: int) -> list[bool]:
        """Return so many of true and false; one stands for all, and none means false."""
        value = self.written.get(name, False)
        found = value if isinstance(value, list) else [value] * length
        if len(found) != length:
            raise self.place(name).error(f"{len(found)} values for {length} dimensions")
        return found

    def check_edges(self, count: float) -> None:
        """Refuse a graph of too many edges before it is made."""
        if count > MAX_EDGES:
            raise self.at.error(f"a graph of {count:.0f} edges", f"at most {MAX_EDGES}")


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


def check_option(value: Any, kind: Kind, at: KeyPath) -> None:
    """Refuse a value that an option of this kind cannot have.

    Raises
    ------
    InputError
        If it is of another type.
    """
    if kind == "text":
        if not isinstance(value, str) or not value:
            raise at.error("a text is expected")
    elif kind == "edges":
        _check_edges(value, at)
    elif kind == "number":
        fields.given(value, at)
    elif kind == "number-or-boolean":
        if not isinstance(value, bool):
            fields.given(value, at)
    elif kind == "boolean" or (kind == "booleans" and not isinstance(value, list)):
        fields.boolean(value, at)
    else:
        for k, one in enumerate(fields.listed(value, at)):
            check_option(one, "boolean" if kind == "booleans" else "number", at.item(k))


def _check_edges(value: Any, at: KeyPath) -> None:
    """Refuse what is no list of pairs or of mappings with from and to."""
    for k, edge in enumerate(fields.listed(value, at)):
        ends: Sequence[Any]
        if isinstance(edge, list):
            ends = edge
            if len(edge) != 2:
                raise at.item(k).error(
                    f"{len(edge)} ranks, not two", "sizes are written {from: 0, to: 1, bytes: 4KiB}"
                )
        else:
            known = ("from", "to", "bytes", "count")
            ends = list(fields.Fields(edge, at.item(k), known, ("from", "to")).value.values())
        for end in ends:
            fields.given(end, at.item(k))
