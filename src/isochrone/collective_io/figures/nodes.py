"""Messages of every node in an exchange of collective I/O; the hot spot is marked."""

from collections.abc import Sequence

import numpy as np

from isochrone.base.arrays import Ints
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.runfile.run import Run
from isochrone.views.head import taken, write_head
from isochrone.views.style import (
    CAPTION,
    COLOURS,
    FAINT,
    INK,
    LABEL,
    PALE,
    SLOW,
    new_figure,
    plain_axes,
    plain_legend,
    short_names,
    text_width,
)
from isochrone.views.view import Axes, Figure, Options, View

MAX_NAMES = 24
_MAX_NODE_NAME = 12  # characters of a name
_NODES_WIDTH = 7.2  # inches
_AXES_SHARE = 0.89  # part of it that the axes take
_COLOURS = {"intra": PALE, "in": COLOURS[0], "out": COLOURS[1]}
_WORDS = {"intra": "within the node", "in": "into it", "out": "out of it"}

Counts = dict[str, Ints]


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw bars of the messages of each node, a panel for each run, all on one scale.

    Raises
    ------
    InputError
        If a run holds no messages of nodes.
    """
    if not runs:
        raise InputError("no run is given", hint="give at least one tile-io run")
    counts = [_counts(run) for run in runs]
    highest = max(float(side.max()) for count in counts for side in count.values())
    named = [_ticks(run, len(count["in"])) for run, count in zip(runs, counts, strict=True)]
    deep = max(_upright(names) for names in named)
    panel = 2.1 + deep
    height = 0.75 + panel * len(runs)
    figure = new_figure(_NODES_WIDTH, height)
    write_head(figure, 0.08, "Messages of each node", [])
    for index, (run, count) in enumerate(zip(runs, counts, strict=True)):
        bottom = 1 - (0.62 + panel * (index + 1) - 0.55 - deep) / height
        axes = figure.add_axes((0.08, bottom, _AXES_SHARE, 1.3 / height))
        _panel(axes, count, highest, named[index])
        name = run.path.stem if run.path is not None else run.experiment
        axes.set_title(
            _heading(name, run, count), size=CAPTION, color=FAINT, loc="left", parse_math=False
        )
        if index == 0:
            plain_legend(axes, ncols=3, loc="upper right", bbox_to_anchor=(1, 1.45))
    return figure


def _counts(run: Run) -> Counts:
    """Return the messages by direction, of nodes in rank order."""
    table = run.tables.get("node")
    if table is None or not len(table) or any(key not in table for key in _COLOURS):
        raise InputError(
            "the run contains no messages between nodes",
            where=run.where,
            hint="measure tile-io with --phase all or exchange",
        )
    return {key: table[key].astype(np.int64) for key in _COLOURS}


def _hot(count: Counts) -> Ints:
    """Return the nodes that have the most messages with other nodes."""
    between = count["in"] + count["out"]
    return np.flatnonzero(between == between.max())


def _heading(name: str, run: Run, count: Counts) -> str:
    worst = int((count["in"] + count["out"]).max())
    origin = [] if run.origin == "measured" else [run.origin]
    facts = [
        printable(name, 40),
        *origin,
        *taken([run]),
        f"{run.size} ranks",
        f"hot spot: {worst} messages with other nodes",
    ]
    return " · ".join(facts)


def _ticks(run: Run, nodes: int) -> dict[int, str]:
    """Choose the nodes that are named, and their names."""
    hosts = list(dict.fromkeys(run.hosts))
    names = short_names(hosts, _MAX_NODE_NAME)
    step = -(-nodes // MAX_NAMES)
    return {k: names[hosts[k]] if k < len(hosts) else str(k) for k in range(0, nodes, step)}


def _upright(names: dict[int, str]) -> float:
    """Return the height in inches of rotated names; 0 if they fit side by side."""
    longest = max(text_width(name, LABEL) for name in names.values())
    return longest if longest > 0.95 * _AXES_SHARE * _NODES_WIDTH / len(names) else 0.0


def _panel(axes: Axes, count: Counts, highest: float, names: dict[int, str]) -> None:
    positions = np.arange(len(count["in"]))
    for k, (key, colour) in enumerate(_COLOURS.items()):
        axes.bar(positions + (k - 1) * 0.27, count[key], 0.27, color=colour, label=_WORDS[key])
    hot = _hot(count)
    for node in hot[:MAX_NAMES]:
        top = max(side[node] for side in count.values())
        axes.plot([node - 0.45, node + 0.45], [top + 0.06 * highest] * 2, color=SLOW, linewidth=2)
    axes.set_ylim(0, 1.18 * highest)
    axes.set_xlim(-0.6, len(positions) - 0.4)
    axes.set_xticks(
        list(names), list(names.values()), parse_math=False, rotation=90 if _upright(names) else 0
    )
    plain_axes(axes, "", "messages", grid="y")
    for label, node in zip(axes.get_xticklabels(), names, strict=True):
        label.set_color(SLOW if node in hot else INK)


VIEW = View(draw, kinds=("tile-io",), usual=("tile-io",), several=True)
