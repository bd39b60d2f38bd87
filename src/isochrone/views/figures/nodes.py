"""Messages of every node in an exchange of collective I/O; the hot spot is marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.runfile.run import Run
from isochrone.views.style import CAPTION, FAINT, INK, LABEL, SLOW, TITLE, new_figure, short_names
from isochrone.views.view import Options, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["VIEW", "draw"]

MAX_NAMES: Final = 24
_COLOURS: Final = {"intra": "#9aa5b1", "in": "#4e79a7", "out": "#f2a541"}
_WORDS: Final = {"intra": "within the node", "in": "into it", "out": "out of it"}

Counts = dict[str, NDArray[np.float64]]


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw bars of the messages of each node, a panel for each run, all on one scale.

    Raises
    ------
    InputError
        If a run holds no messages of nodes.
    """
    if not runs:
        raise InputError("no run to draw", hint="name at least one tile-io run")
    counts = [_counts(run) for run in runs]
    most = max(float(max(c["in"].max(), c["out"].max(), c["intra"].max())) for c in counts)
    height = 0.75 + 2.1 * len(runs)
    figure = new_figure(7.2, height)
    figure.text(0.08, 1 - 0.16 / height, "Messages of each node", size=TITLE, weight="bold",
                color=INK, va="top")  # fmt: skip
    for number, (run, count) in enumerate(zip(runs, counts, strict=True)):
        bottom = 1 - (0.62 + 2.1 * (number + 1) - 0.55) / height
        axes = figure.add_axes((0.08, bottom, 0.89, 1.3 / height))
        _panel(axes, run, count, most)
        name = run.path.stem if run.path is not None else run.experiment
        axes.set_title(_heading(name, run, count), size=CAPTION, color=FAINT, loc="left")
        if number == 0:
            axes.legend(frameon=False, fontsize=CAPTION, ncols=3, loc="upper right",
                        bbox_to_anchor=(1, 1.45), labelcolor=INK)  # fmt: skip
    return figure


def _counts(run: Run) -> Counts:
    """Return the messages by direction, of nodes in the order in which ranks meet them."""
    table = run.tables.get("node")
    if table is None or not len(table) or any(key not in table for key in _COLOURS):
        raise InputError(
            "this run holds no messages of nodes",
            where=run.where,
            hint="measure tile-io with --phase all or exchange",
        )
    found = {key: np.asarray(table[key], np.float64) for key in _COLOURS}
    if not all(np.all(np.isfinite(v) & (v >= 0)) for v in found.values()):
        raise InputError("an invalid number of messages", where=run.where)
    return found


def _hot(count: Counts) -> NDArray[np.int64]:
    """Return the nodes that have the most messages with other nodes."""
    between = count["in"] + count["out"]
    return np.flatnonzero(between == between.max())


def _heading(name: str, run: Run, count: Counts) -> str:
    hot = _hot(count)
    worst = int(count["in"][hot[0]] + count["out"][hot[0]])
    origin = [] if run.origin == "measured" else [run.origin]
    parts = [name, *origin, f"{run.size} ranks", f"hot spot: {worst} messages with other nodes"]
    return " · ".join(parts)


def _panel(axes: Axes, run: Run, count: Counts, most: float) -> None:
    place = np.arange(len(count["in"]))
    for k, (key, colour) in enumerate(_COLOURS.items()):
        axes.bar(place + (k - 1) * 0.27, count[key], 0.27, color=colour, label=_WORDS[key])
    hot = _hot(count)
    for node in hot[:MAX_NAMES]:
        top = max(count["in"][node], count["out"][node], count["intra"][node])
        axes.plot([node - 0.45, node + 0.45], [top + 0.06 * most] * 2, color=SLOW, linewidth=2)
    axes.set_ylim(0, 1.18 * most)
    axes.set_xlim(-0.6, len(place) - 0.4)
    hosts = list(dict.fromkeys(run.hosts))
    names = short_names(hosts, 10)
    step = -(-len(place) // MAX_NAMES)
    ticks = place[::step]
    axes.set_xticks(ticks, [names[hosts[k]] if k < len(hosts) else str(k) for k in ticks])
    axes.tick_params(labelsize=LABEL, colors=INK, length=2)
    axes.tick_params(axis="y", labelsize=CAPTION, colors=FAINT)
    for label, node in zip(axes.get_xticklabels(), ticks, strict=True):
        label.set_color(SLOW if node in hot else INK)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.grid(axis="y", color=FAINT, alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)


VIEW: Final = View(draw, kinds=("tile-io",), usual=("tile-io",), several=True)
