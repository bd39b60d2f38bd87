"""Messages of a round, as a topology that a description names; else as a list of edges."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from isochrone.applications.description.expression import Quantity
from isochrone.applications.description.shapes import KeyPath
from isochrone.applications.description.topology import MAX_EDGES, TopologySpec
from isochrone.applications.traces.gaps import Written
from isochrone.applications.traces.units import Message

MAX_HALO_DIMENSIONS = 3
"""Most dimensions of a halo."""

_ONE = {"stream": "pipeline", "token": "token-ring", "request": "client-server"}


def named(messages: Sequence[Message], kind: str, ranks: int) -> str | Written | None:
    """Return the topology that has exactly these messages, or None if there is none with a name.

    Sizes are not looked at.
    """
    for name, options in _candidates(kind, ranks):
        topology = {name: options} if options else name
        begins = kind != "token" or messages[0][0] == 0
        if begins and has_edges(messages, topology, kind, ranks):
            return topology
    return None


def has_edges(messages: Sequence[Message], topology: str | Written, kind: str, ranks: int) -> bool:
    """Whether messages go along all edges of a topology, once each, and along no other."""
    scope = {"p": Quantity(float(ranks))}
    graph = TopologySpec.read(topology, KeyPath("")).graph(ranks, scope)
    pairs = Counter((edge.source, edge.target) for edge in graph.edges)
    if not graph.directed and kind != "stream":
        pairs.update([(b, a) for a, b in pairs.elements()])
    return pairs == Counter((a, b) for a, b, _ in messages)


def _candidates(kind: str, ranks: int) -> Iterator[tuple[str, Written]]:
    """Yield topologies that may have messages of a kind; of a stream, grids for a wavefront."""
    if kind in _ONE:
        yield _ONE[kind], {}
    if kind in ("stream", "exchange"):
        for dimensions in range(1, MAX_HALO_DIMENSIONS + 1):
            turns = product((False, True), repeat=dimensions if kind == "exchange" else 0)
            for shape, around in product(_shapes(ranks, dimensions), turns):
                periodic = list(around) if len(set(around)) > 1 else around[:1] == (True,)
                if min(shape) > 1:
                    yield "halo", {"shape": list(shape), "periodic": periodic}
    if kind == "exchange" and ranks**2 <= MAX_EDGES:
        yield "all-to-all", {}


def _shapes(ranks: int, dimensions: int) -> Iterator[tuple[int, ...]]:
    if dimensions == 1:
        yield (ranks,)
        return
    for side in range(1, ranks + 1):
        if ranks % side == 0:
            for sides in _shapes(ranks // side, dimensions - 1):
                yield (side, *sides)


def edges(messages: Sequence[Message]) -> tuple[list[list[int] | Written], int]:
    """Return edges as a description lists them, and the size of those that have none of their own.

    Messages keep their order; several of one size along one edge are one with a count.
    """
    counts: Counter[tuple[int, int, int]] = Counter((a, b, round(size)) for a, b, size in messages)
    common = Counter(size for _, _, size in counts).most_common(1)[0][0]
    listed = []
    for (a, b, size), count in counts.items():
        options = ({} if size == common else {"bytes": size}) | (
            {} if count == 1 else {"count": count}
        )
        listed.append({"from": a, "to": b, **options} if options else [a, b])
    return listed, common
