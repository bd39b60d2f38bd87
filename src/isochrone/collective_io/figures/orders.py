"""Compared orders, expected and measured (figure 6 of the cFireworks paper)."""

from collections.abc import Sequence

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.collective_io.orders.compared_orders import ComparedOrders
from isochrone.views.head import head_lines, write_head
from isochrone.views.style import (
    CAPTION,
    COLOURS,
    INK,
    LABEL,
    PALE,
    axes_at,
    new_figure,
    plain_axes,
    plain_legend,
    text_width,
    time_unit,
)
from isochrone.views.view import ORDERS, Axes, Figure, Options, View

_COLOURS = (PALE, COLOURS[0])
"""Of expected and measured times."""

_HEIGHT = 0.4
"""Inches of an order, if there are few …"""
_MOST = 12.0
"""… and of all together, if there are many."""
_WIDTH = 4.6


def draw(runs: Sequence[ComparedOrders], options: Options) -> Figure:
    """Draw expected and measured bars of each order, sorted by expected time.

    Raises
    ------
    InputError
        If there are no orders to draw.
    """
    if not runs:
        raise InputError("no orders are given", hint="give the file of isochrone place orders -o")
    found = runs[0]
    labels = [
        f"{printable(found.what_is(k), 32)}  {printable(found.label(k), 48)}".strip()
        for k in range(len(found.orders))
    ]
    left = 0.25 + min(0.8 * max(text_width(text, LABEL) for text in labels), 4.2)
    rows = min(_HEIGHT * len(labels), _MOST)
    width, head = left + _WIDTH + 0.25, 1.0
    notes = head_lines(_notes(found), width - 0.3)
    head += 0.17 * (len(notes) - 1)
    height = rows + head + 0.55
    figure = new_figure(width, height)
    axes = axes_at(figure, left, 0.55, _WIDTH, rows)
    _bars(axes, found)
    size = LABEL if rows / len(labels) > 0.16 else 72 * 0.8 * rows / len(labels)
    axes.set_yticks(range(len(labels)), labels, fontsize=size, parse_math=False)
    axes.set_ylim(len(labels) - 0.45, -0.55)  # the best one on top
    side = f"Expected and {found.origin}" if found.launched else "Expected"
    write_head(figure, 0.15 / width, f"{side}: {len(labels)} orders of {found.what}", notes)
    return figure


def _bars(axes: Axes, found: ComparedOrders) -> None:
    predicted = [(one.predicted, one.low, one.high) for one in found.orders]
    sides = {"expected": np.array(predicted)}
    if found.launched:
        sides[found.origin] = np.array([(one.measured, *one.interval) for one in found.orders])
    unit = time_unit(np.concatenate([side[:, 0] for side in sides.values()]))
    thick = 0.8 / len(sides)
    for number, (name, side) in enumerate(sides.items()):
        values, low, high = (side / unit.factor).T
        at = np.arange(len(values)) + (number - (len(sides) - 1) / 2) * thick
        axes.barh(at, values, 0.92 * thick, color=_COLOURS[number], label=name)
        known = np.isfinite(low) & np.isfinite(high)
        if known.any():
            ends = np.vstack([values - low, high - values])[:, known].clip(min=0)
            axes.errorbar(values[known], at[known], xerr=ends, fmt="none", ecolor=INK,
                          elinewidth=0.9, capsize=2)  # fmt: skip
    axes.set_xlim(left=0)
    plain_axes(axes, f"{_what(found)}, {unit.name}", size=CAPTION, grid="x", frame=("bottom",))
    plain_legend(axes, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))


def _what(found: ComparedOrders) -> str:
    does = "writing" if found.op == "write" else "reading"
    if found.launched and found.timed != found.expected:
        return f"exchange (expected) and whole call ({found.origin}) when {does}"
    return f"{'exchange' if found.expected == 'exchange' else 'whole call'} when {does}"


def _notes(found: ComparedOrders) -> list[str]:
    one = found.orders[0]
    notes = [f"{sum(one.nodes)} ranks on {len(one.nodes)} nodes"]
    if not found.launched:
        return [*notes, "nothing was launched"]
    mean, worst = found.deviations()
    notes.append(f"{len(one.times)} launches of each, alternately; 95 % intervals")
    notes.append(f"deviation {100 * mean:.1f} % on average, {100 * worst:.1f} % at most")
    ranks = found.correlation
    if np.isfinite(ranks.value):
        notes.append(f"rank correlation {ranks.value:.2f}")
    return notes


VIEW = View(draw, kinds=(ORDERS,), usual=(ORDERS,))
