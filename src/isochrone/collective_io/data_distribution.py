"""Figure of the data distribution: holders and servers of file parts, and cost of nodes.

As figure 5 of cFireworks (K. Cha): a row for each node, the file from left to right. Blue: data of
the node's ranks, darker for more. Frames: file domains of its aggregator. Data outside the frames
of their row go through the network.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.collective_io.workload import Floats, Ints, Numbers
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.traffic import Layout
from isochrone.views.head import HeadLine, write_head
from isochrone.views.style import CAPTION, SLOW, new_figure, plain_axes, time_unit
from isochrone.views.view import Axes, Figure

MAX_NODE_ROWS = 256
"""More rows are not distinguishable."""

PICTURE_COLUMNS = 512
"""Columns of the picture."""

_MAX_NAMED_CHARACTERS = 72
_HELD = ("#f4f6f9", "#a9c3e3", "#2f62a8")
_FRAME = "#e07b39"
_EQUAL_SECONDS = 5e-7


def draw(file_data: Distribution, layout: Layout, seconds: Floats, size: int) -> Figure:
    """Draw the data of each node along the file, its file domains, and its cost.

    Parameters
    ----------
    layout
        The nodes and their ranks.
    seconds
        Cost of an average round, by node.
    size
        Bytes of the file that the call touches.

    Raises
    ------
    InputError
        If there are too many nodes.
    """
    nodes = layout.nodes
    if nodes > MAX_NODE_ROWS:
        raise InputError(f"{nodes} nodes are too many for a figure; the limit is {MAX_NODE_ROWS}")
    row = 0.34 if nodes <= 16 else max(0.17 * 64 / max(nodes, 64), 0.05)
    height = 1.55 + row * nodes
    figure = new_figure(9.2, height)
    bottom, axes_height = 0.55 / height, row * nodes / height
    axes = figure.add_axes((0.11, bottom, 0.64, axes_height))
    _file(axes, file_data, size)
    labelled, ranks = range(0, nodes, -(-nodes // _MAX_NAMED_CHARACTERS)), layout.ranks
    labels = [f"{printable(layout.hosts[k], 14)} ({ranks[k]})" for k in labelled]
    axes.set_yticks(list(labelled), labels)
    _costs(figure.add_axes((0.78, bottom, 0.20, axes_height), sharey=axes), seconds)
    text = (
        "node (its ranks) · blue: what its ranks hold there, "
        f"up to {100 * file_data.held.max():.0f} % "
        f"· frames: what its aggregator serves · {100 * file_data.at_home:.0f} % stays on its node "
        "· red: hot spot"
    )
    write_head(figure, 0.02, "Data distribution: holders and servers of the file", [HeadLine(text)])
    return figure


def _file(axes: Axes, file_data: Distribution, size: int) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    nodes, part_count = file_data.held.shape
    colours = LinearSegmentedColormap.from_list("held", list(_HELD))
    axes.imshow(
        file_data.held,
        aspect="auto",
        interpolation="nearest",
        cmap=colours,
        vmin=0,
        vmax=max(float(file_data.held.max()), 1e-9),
        extent=(0, part_count, nodes - 0.5, -0.5),
    )
    # runs of parts that one node serves
    bounds = [0, *(np.flatnonzero(np.diff(file_data.server)) + 1).tolist(), part_count]
    frames = [
        Rectangle((a, int(file_data.server[a]) - 0.42), b - a, 0.84) for a, b in pairwise(bounds)
    ]
    width = 1.6 if nodes <= 16 else 0.9
    axes.add_collection(PatchCollection(frames, facecolor="none", edgecolor=_FRAME, lw=width))
    quarters = [0, 0.25, 0.5, 0.75, 1]
    labels = [format_bytes(round(size * quarter)) if quarter else "0" for quarter in quarters]
    axes.set_xticks([part_count * quarter for quarter in quarters], labels)
    plain_axes(axes, "offset in the file", size=CAPTION)


def _costs(axes: Axes, seconds: Floats) -> None:
    unit = time_unit(seconds)
    hot = seconds >= seconds.max() * (1 - _EQUAL_SECONDS)
    axes.barh(
        range(len(seconds)),
        seconds / unit.factor,
        height=0.7,
        color=np.where(hot, SLOW, "#9aa5b1").tolist(),
    )
    axes.tick_params(left=False, labelleft=False)
    plain_axes(axes, f"cost of a round in {unit.name}", size=CAPTION)


# --- the data ------------------------------------------------------------------------------------

# Distribution of file data over nodes, and the nodes that serve each part.


class Distribution(NamedTuple):
    """The data of each node along a file, and the parts of the file that it serves.

    Attributes
    ----------
    edges
        Bytes at which the parts of the file begin, and where the last ends; shape (parts + 1,).
    held
        Fraction of the bytes of each file part held by a node's ranks, shape (nodes, parts).
    server
        Node whose aggregator serves most of a part of the file, shape (parts,).
    """

    edges: Ints
    held: Floats
    server: Ints

    @property
    def at_home(self) -> float:
        """Fraction of all bytes that are served by the node that holds them."""
        length = np.diff(self.edges)
        local = self.held[self.server, np.arange(len(self.server))]
        return float(local @ length / max(length.sum(), 1))


def distribution(call: Call, layout: Layout, aggregators: Numbers, part_count: int) -> Distribution:
    """Divide the file of a call into equal parts, and find holders and servers of each.

    Parts are at least a byte long, so that there may be fewer.
    """
    first, last = call.pattern.extent
    edges = np.unique(np.linspace(first, last, part_count + 1).astype(np.int64))
    pieces = call.pattern.touches(edges[:-1], edges[1:])
    by_rank = np.zeros((len(edges) - 1, call.pattern.ranks + 1))
    np.add.at(by_rank, (pieces.window, pieces.first), pieces.bytes)
    np.add.at(by_rank, (pieces.window, pieces.last), -pieces.bytes)
    rank_bytes = np.cumsum(by_rank, axis=1)[:, :-1]
    node_bytes = np.zeros((layout.nodes, len(rank_bytes)))
    np.add.at(node_bytes, layout.of_rank, rank_bytes.T)
    totals = np.maximum(node_bytes.sum(axis=0), 1.0)
    serving = layout.of_rank[aggregators]
    # the domain that the middle of each part belongs to
    windows = call.windows(len(serving))
    order = np.argsort(windows.start, kind="stable")
    middle = (edges[:-1] + edges[1:] - 1) // 2
    index = np.searchsorted(windows.start[order], middle, side="right") - 1
    domain = windows.domain[order][np.maximum(index, 0)]
    return Distribution(edges, node_bytes / totals, serving[domain])
