"""The picture of the messages of every node, for runs that replayed an exchange."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from isochrone import views
from isochrone.pages.html.pictures import Picture, inline
from isochrone.runfile.run import Run

__all__ = ["nodes_picture"]

MOST_RUNS: Final = 4

TITLE: Final = "Messages of each node"
CAPTION: Final = (
    "Counted in a collective write, those of an aggregator to itself included; a read has them the "
    "other way round. The node with the most messages to and from other nodes is marked: all "
    "others wait for it. Bars of several runs, such as before and after a change, have one scale."
)


def nodes_picture(runs: Sequence[Run]) -> Iterator[tuple[int, Picture]]:
    """Yield the first run that holds messages of nodes, and a picture of all that do."""
    with_nodes = [k for k, run in enumerate(runs) if len(run.tables.get("node", ()))]
    if with_nodes:
        chosen = [runs[k] for k in with_nodes[:MOST_RUNS]]
        svg = views.to_svg(views.draw("nodes", chosen))
        words = f"{TITLE} in {len(chosen)} run{'s' if len(chosen) > 1 else ''}"
        name = f"run-{with_nodes[0] + 1}-nodes"
        yield with_nodes[0], Picture("nodes", TITLE, CAPTION, inline(svg, name, words))
