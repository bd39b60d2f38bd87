"""Medians of levels, nodes or curves, run after run; changes and other settings are marked."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.changes.effects import at_size
from isochrone.changes.history import Change, History, Series, histories_of
from isochrone.runfile.run import Run
from isochrone.views.head import HeadLine, write_head
from isochrone.views.style import (
    CAPTION,
    FAINT,
    SLOW,
    axes_at,
    host_colours,
    new_figure,
    plain_axes,
    plain_legend,
    short_names,
    time_ticks,
    time_unit,
)
from isochrone.views.view import Axes, Figure, Options, View

MAX_HISTORY_LINES = 10
MAX_HISTORY_PANELS = 16
MAX_DATES = 8
_CHANGES_WIDTH = 9.0
_PANEL = 2.35
_NAMES_INCHES = 2.3
"""Inches: of the figure, the height of a panel, and what is left for names on the right."""

_FREE_AXIS_SHARE = 0.12
"""Part of an axis that is left free above the lines."""

_MIN_LOG_RATIO = 2.5
"""Ratio from which on an axis is logarithmic."""


class _Panel(NamedTuple):
    """Lines of one history that belong together, drawn on one scale."""

    title: str
    of: History
    lines: list[Series]
    behind: list[Series]


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the levels, then the nodes of each thing that was measured, by date.

    Nodes that changed have a colour and a name, all others are a grey band of lines.

    Raises
    ------
    InputError
        If no run came to its end, or they hold no times.
    """
    histories = list(options.histories) or histories_of(runs)
    if not histories:
        raise InputError("there is no complete run to plot", hint="give runs of isochrone measure")
    panels = [panel for history in histories for panel in _panels(history, options)]
    if not panels:
        raise InputError("the runs have no point of this size in common")
    left_out = max(0, len(panels) - MAX_HISTORY_PANELS)
    panels = panels[:MAX_HISTORY_PANELS]
    height = 0.6 + _PANEL * len(panels)
    figure = new_figure(_CHANGES_WIDTH, height)
    total = sum(len(history.nights) for history in histories)
    note = f"; {left_out} panels left out" if left_out else ""
    legend = f"median of each run · dashed: the times changed · dotted: other settings{note}"
    title = f"History of {total} run{'s' if total > 1 else ''}"
    write_head(figure, 0.08, title, [HeadLine(legend)])
    for index, panel in enumerate(panels):
        bottom = 0.45 + (len(panels) - 1 - index) * _PANEL
        size = _CHANGES_WIDTH - 0.75 - _NAMES_INCHES, _PANEL - 0.85
        _draw(axes_at(figure, 0.75, bottom, *size), panel)
    return figure


def _panels(history: History, options: Options) -> list[_Panel]:
    """Return what is drawn of a history: levels and nodes, or curves, or points."""

    def chosen(*kinds: str) -> list[Series]:
        sizes = options.sizes
        return [
            series
            for series in history.of(*kinds)
            if not sizes or series.what.nbytes in (None, *sizes)
        ]

    first = history.nights[0]
    about = f"{printable(first.experiment, 40)} on {first.ranks} ranks, {first.origin}"
    levels, nodes = chosen("level"), chosen("node")
    if not levels:
        curves = chosen("curve") or chosen("point")
        drawn = sorted(curves, key=lambda series: -len(series.changes))[:MAX_HISTORY_LINES]
        count_note = f" ({len(drawn)} of {len(curves)})" if len(curves) > len(drawn) else ""
        return [_Panel(f"{about}{count_note}", history, drawn, [])] if drawn else []
    panels = [_Panel(f"levels of a {about}", history, levels[:MAX_HISTORY_LINES], [])]
    if nodes:
        changed = sorted(  # the largest change first
            (series for series in nodes if series.changes),
            key=lambda series: -max(abs(log(change.ratio)) for change in series.changes),
        )[:MAX_HISTORY_LINES]
        all_fit = len(nodes) <= MAX_HISTORY_LINES
        lines = nodes if all_fit else changed
        behind = [] if all_fit else [series for series in nodes if series not in changed]
        panels.append(_Panel(f"{len(nodes)} nodes of a {about}", history, lines, behind))
    return panels


def _draw(axes: Axes, panel: _Panel) -> None:
    drawn = [*panel.lines, *panel.behind]
    seconds = np.concatenate([series.seconds for series in drawn])
    unit = time_unit(seconds[~np.isnan(seconds)])
    nights = np.arange(len(panel.of.nights))
    for series in panel.behind:
        axes.plot(
            nights,
            series.seconds / unit.factor,
            "-" if len(nights) > 1 else "o",
            color="#b8bec7",
            lw=0.7,
            ms=2,
            zorder=1,
        )
    names = _names(panel.lines)
    colours = host_colours(names)
    for series, name in zip(panel.lines, names, strict=True):
        axes.plot(
            nights,
            series.seconds / unit.factor,
            "-o",
            color=colours[name],
            lw=1.3,
            ms=3,
            label=name,
            zorder=3,
        )
    _mark(axes, panel)
    _scale(axes)
    axes.set_xlim(-0.5, max(len(nights) - 0.5, 0.5))
    at = nights[:: -(-len(nights) // MAX_DATES)].tolist()
    axes.set_xticks(at, _dates(panel.of, at), fontsize=CAPTION, parse_math=False)
    below = f"median in {unit.name}"
    plain_axes(axes, "", below, size=CAPTION, title=panel.title, grid="y")
    if names:
        plain_legend(axes, loc="upper left", bbox_to_anchor=(1.01, 1.05))


def _names(lines: Sequence[Series]) -> list[str]:
    short = short_names([series.what.host for series in lines if series.what.kind == "node"])
    names = []
    for series in lines:
        name = short[series.what.host] if series.what.kind == "node" else printable(series.name, 28)
        names.append(name + at_size(series.what.kind, series.what.nbytes))
    return names


def _mark(axes: Axes, panel: _Panel) -> None:
    """Draw a line where something changed, and where a run has other settings."""
    changes_at: dict[int, list[tuple[Series, Change]]] = {}
    for series in panel.lines:
        for change in series.changes:
            changes_at.setdefault(change.at, []).append((series, change))
    for at, changes in changes_at.items():
        axes.axvline(at - 0.5, color=SLOW, lw=1, ls="--", zorder=2)
        ratio = max((change.ratio for _, change in changes), key=lambda r: abs(log(r)))
        axes.annotate(
            f"{ratio:.2f}x",
            (at - 0.5, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2, -9),
            textcoords="offset points",
            size=CAPTION,
            color=SLOW,
        )
    for at, mark in enumerate(panel.of.marks):
        if mark:
            axes.axvline(at - 0.5, color=FAINT, lw=1, ls=":", zorder=2)


def _dates(history: History, at: Sequence[int]) -> list[str]:
    """Return when some runs were made, as exactly as tells them from each other."""
    texts = [printable(history.dates[k], 40) for k in at]
    for end in (10, 16, 19):
        labels = [f"{text[:10]}\n{text[11:end]}".strip() for text in texts]
        if len({*labels, ""}) > len(labels):
            return labels
    return [f"{text[:10]}\nrun {k + 1}".strip() for k, text in zip(at, texts, strict=True)]


def _scale(axes: Axes) -> None:
    """Choose a logarithmic axis for levels that differ much, and leave room for the changes."""
    low, high = axes.get_ylim()
    wide = low > 0 and high > _MIN_LOG_RATIO * low
    if wide:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
    # changes are named above the lines
    axes.set_ylim(
        top=high * (high / low) ** _FREE_AXIS_SHARE
        if wide
        else high + _FREE_AXIS_SHARE * (high - low)
    )
    if wide:
        time_ticks(axes.yaxis, 0, wide=True)


VIEW = View(draw, kinds=("latency-map", "sweep", "hotspot", "tile-io", "emulation"), several=True)
