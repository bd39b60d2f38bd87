"""Any generator of graphs of networkx, called with numbers or booleans."""

import inspect
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

import networkx as nx

from isochrone.applications.description.program import MAX_RANKS
from isochrone.applications.description.quantities import quantity
from isochrone.applications.description.shapes import Given, Text
from isochrone.applications.description.topology import Edge, Graph, Options, Topology
from isochrone.base.text import printable

GENERATOR_TIMEOUT = 20.0
"""Seconds that a generator may take."""

MOST_MEMORY = 2**30
"""Bytes that it may take."""


def _arguments(options: Options, generator: Callable[..., object]) -> dict[str, object]:
    """Return numbers and booleans by name; what is random is drawn from the seed."""
    parameters = inspect.signature(generator).parameters
    arguments: dict[str, object] = {}
    for name, value in options.spec.options.items():
        if name == "generator":
            continue
        if name not in parameters or name in _NOT_OURS:
            raise options.place(name).error(
                f"{options.get('generator')} has no parameter '{printable(name, 40)}'",
                f"its parameters: {', '.join(n for n in parameters if n not in _NOT_OURS)}",
            )
        arguments[name] = value
        if isinstance(value, Given):
            numeric = quantity(value, options.scope).value
            if abs(numeric) > MAX_RANKS and name != "seed":
                raise value.at.error(f"{numeric:g} is too large", f"at most {MAX_RANKS}")
            arguments[name] = int(numeric) if numeric.is_integer() else numeric
    if "seed" in parameters:
        arguments.setdefault("seed", options.seed % 2**32)
    return arguments


_NOT_OURS = ("create_using", "backend", "backend_kwargs")


@contextmanager
def _bounded() -> Iterator[None]:
    """End what runs here by an error: small numbers can ask for graphs beyond all memory."""
    end = monotonic() + GENERATOR_TIMEOUT

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if monotonic() > end:
            raise TimeoutError
        return trace

    tracing, limits = sys.gettrace(), resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # systems without /proc, or with a lower limit
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MOST_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limits[1]))
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(tracing)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def _make(options: Options) -> Graph:
    name = options.get("generator")
    generator = None if name.startswith("_") else getattr(nx, name, None)
    module = str(getattr(generator, "__module__", ""))
    if not inspect.isfunction(generator) or not module.startswith("networkx.generators."):
        raise options.place("generator").error(
            f"networkx has no generator '{printable(name, 60)}'",
            "see 'Graph generators' of its documentation",
        )
    arguments = _arguments(options, generator)
    try:
        with _bounded():
            graph = generator(**arguments)
    except (TimeoutError, MemoryError):
        raise options.at.error(f"the graph of {name} is too large", "use smaller numbers") from None
    except Exception as error:  # whatever a function that we do not know may raise
        raise options.at.error(f"{name}: {error or type(error).__name__}") from None
    if not isinstance(graph, nx.Graph):
        raise options.place("generator").error(f"{name} does not return a graph")
    if len(graph) > options.ranks:
        raise options.at.error(
            f"the graph has {len(graph)} nodes, but the application {options.ranks} ranks"
        )
    options.check_edges(graph.number_of_edges())
    rank = {node: k for k, node in enumerate(graph)}
    edges = (Edge(rank[a], rank[b]) for a, b in graph.edges() if a != b)
    return Graph(tuple(edges), directed=graph.is_directed())


TOPOLOGY = Topology(
    make=_make,
    options={"generator": Text},
    needed=("generator",),
    more=True,
    example={"generator": "random_regular_graph", "d": 3, "n": "p", "seed": 1},
)
