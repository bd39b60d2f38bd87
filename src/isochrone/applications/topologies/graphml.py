"""Any graph in a GraphML file; edges may have attributes ``bytes`` and ``count``."""

from isochrone.applications.description import graphml_file
from isochrone.applications.description.shapes import Text
from isochrone.applications.description.topology import Graph, Options, Topology


def _make(options: Options) -> Graph:
    at = options.place("file")
    nodes, graph = graphml_file.read(options.folder / options.get("file"), at)
    if nodes > options.ranks:
        raise at.error(f"the graph has {nodes} nodes, but the application {options.ranks} ranks")
    options.check_edges(sum(edge.times for edge in graph.edges))
    return graph


TOPOLOGY = Topology(
    make=_make, options={"file": Text}, needed=("file",), short="file", example="g.graphml"
)
