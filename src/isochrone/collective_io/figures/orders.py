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
_MAX_INCHES = 12.0
"""… and of all together, if there are many."""
_ORDERS_WIDTH = 4.6


def draw(runs: Sequence[ComparedOrders], options: Options) -> Figure:
    """Draw expected and measured bars of each order, sorted by expected time.

    Raises
    ------
    InputError
        If there are no orders to draw.
    """
    if not runs:
        raise InputError("no orders are given", hint="give the file of isochrone place orders -o")
    comparison = runs[0]
    labels = [
        f"{printable(comparison.what_is(k), 32)}  {printable(comparison.label(k), 48)}".strip()
        for k in range(len(comparison.orders))
    ]
    left = 0.25 + min(0.8 * max(text_width(text, LABEL) for text in labels), 4.2)
    rows = min(_HEIGHT * len(labels), _MAX_INCHES)
    width, head = left + _ORDERS_WIDTH + 0.25, 1.0
    notes = head_lines(_notes(comparison), width - 0.3)
    head += 0.17 * (len(notes) - 1)
    height = rows + head + 0.55
    figure = new_figure(width, height)
    axes = axes_at(figure, left, 0.55, _ORDERS_WIDTH, rows)
    _bars(axes, comparison)
    size = LABEL if rows / len(labels) > 0.16 else 72 * 0.8 * rows / len(labels)
    axes.set_yticks(range(len(labels)), labels, fontsize=size, parse_math=False)
    axes.set_ylim(len(labels) - 0.45, -0.55)  # the best one on top
    side = f"Expected and {comparison.origin}" if comparison.launched else "Expected"
    write_head(figure, 0.15 / width, f"{side}: {len(labels)} orders of {comparison.what}", notes)
    return figure


def _bars(axes: Axes, comparison: ComparedOrders) -> None:
    predicted = [(order.predicted, order.low, order.high) for order in comparison.orders]
    sides = {"expected": np.array(predicted)}
    if comparison.launched:
        sides[comparison.origin] = np.array(
            [(order.measured, *order.interval) for order in comparison.orders]
        )
    unit = time_unit(np.concatenate([side[:, 0] for side in sides.values()]))
    thick = 0.8 / len(sides)
    for index, (name, side) in enumerate(sides.items()):
        values, low, high = (side / unit.factor).T
        at = np.arange(len(values)) + (index - (len(sides) - 1) / 2) * thick
        axes.barh(at, values, 0.92 * thick, color=_COLOURS[index], label=name)
        finite = np.isfinite(low) & np.isfinite(high)
        if finite.any():
            ends = np.vstack([values - low, high - values])[:, finite].clip(min=0)
            axes.errorbar(
                values[finite],
                at[finite],
                xerr=ends,
                fmt="none",
                ecolor=INK,
                elinewidth=0.9,
                capsize=2,
            )
    axes.set_xlim(left=0)
    plain_axes(axes, f"{_what(comparison)}, {unit.name}", size=CAPTION, grid="x", frame=("bottom",))
    plain_legend(axes, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))


def _what(comparison: ComparedOrders) -> str:
    does = "writing" if comparison.op == "write" else "reading"
    if comparison.launched and comparison.timed != comparison.expected:
        return f"exchange (expected) and whole call ({comparison.origin}) when {does}"
    return f"{'exchange' if comparison.expected == 'exchange' else 'whole call'} when {does}"


def _notes(comparison: ComparedOrders) -> list[str]:
    first_order = comparison.orders[0]
    notes = [f"{sum(first_order.nodes)} ranks on {len(first_order.nodes)} nodes"]
    if not comparison.launched:
        return [*notes, "nothing was launched"]
    mean, worst = comparison.deviations()
    notes.append(f"{len(first_order.times)} launches of each, alternately; 95 % intervals")
    notes.append(f"deviation {100 * mean:.1f} % on average, {100 * worst:.1f} % at most")
    ranks = comparison.correlation
    if np.isfinite(ranks.value):
        notes.append(f"rank correlation {ranks.value:.2f}")
    return notes


VIEW = View(draw, kinds=(ORDERS,), usual=(ORDERS,))
