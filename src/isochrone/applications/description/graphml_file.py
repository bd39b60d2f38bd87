"""Graphs from GraphML files; a file may come from anywhere, so no entities and nothing large."""

from pathlib import Path
from xml.etree import ElementTree

import networkx as nx

from isochrone.applications.description.shapes import Given, KeyPath
from isochrone.applications.description.topology import Graph, edge
from isochrone.base.table import grouped
from isochrone.base.text import printable

MAX_FILE = 2**24
"""Bytes of the largest file."""


def read(path: Path, at: KeyPath) -> tuple[int, Graph]:
    """Return the number of nodes, and the graph.

    Nodes are ranks in their order, or by their number if all ids are 0 to n - 1.

    Parameters
    ----------
    path
        A GraphML file. Edges may have attributes ``bytes`` (of each message) and ``count``.
    at
        Where errors say that it was named.

    Raises
    ------
    InputError
        If it cannot be read, is no GraphML, or names a node that is not there.
    """
    text = _text(path, at)
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise at.error(f"{_shown(path)} is not valid XML: {error}") from None
    by_tag = grouped((str(element.tag).rpartition("}")[2], element) for element in root.iter())
    node_ids = {element.get("id") for element in by_tag.get("node", ())}
    for element in by_tag.get("edge", ()):
        for end in (element.get("source"), element.get("target")):
            if end not in node_ids:  # networkx would make it
                raise at.error(
                    f"{_shown(path)} has an edge to the unknown node '{printable(end, 40)}'"
                )
    try:
        graph = nx.parse_graphml(text)
    except Exception as error:  # its reader does not say what it raises
        problem = str(error).strip("'\"") or type(error).__name__
        raise at.error(f"{_shown(path)} is not valid GraphML: {problem}") from None
    nodes = [str(node) for node in graph]
    rank = {str(k): k for k in range(len(nodes))}
    if rank.keys() != {*nodes}:
        rank = {node: k for k, node in enumerate(nodes)}
    edges = []
    for a, b, data in graph.edges(data=True):
        location = at.key(f"{a}-{b}")
        written = {
            key: Given(data[key], location.key(key)) for key in ("bytes", "count") if key in data
        }
        edges.append(edge(rank[str(a)], rank[str(b)], location, {}, **written))
    return len(graph), Graph(tuple(edges), graph.is_directed())


def _text(path: Path, at: KeyPath) -> str:
    """Return the text of a file in which nothing is defined that could grow."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        raise at.error(f"cannot read {_shown(path)}: {problem}") from None
    if len(data) > MAX_FILE:
        raise at.error(f"{_shown(path)} is larger than 16 MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise at.error(f"{_shown(path)} is not UTF-8 text") from None
    if "<!" in text.replace("<!--", "").replace("<![CDATA[", ""):
        raise at.error(f"{_shown(path)} has a document type or entities; remove them")
    return text


def _shown(path: Path) -> str:
    return f"'{printable(path, 100)}'"
