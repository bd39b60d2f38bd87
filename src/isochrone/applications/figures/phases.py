"""Time of an iteration by phase: as it ran, and next to it what models predict."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from isochrone.applications.emulation.recorded import App
from isochrone.applications.emulation.summary import Emulation, emulation
from isochrone.applications.figures._emulations import head, short, the_run, time_axis, with_rows
from isochrone.applications.predict.application_accuracy import Said, predicted
from isochrone.base.errors import InputError
from isochrone.runfile.origin import one_word
from isochrone.runfile.run import Run
from isochrone.views.scales import tick_seconds
from isochrone.views.style import CAPTION, COLOURS, FAINT, INK, LABEL, axes_at, text_width
from isochrone.views.view import Axes, Figure, Options, View

TOTAL = "iteration"
"""What all phases of an iteration together are called."""

_RAN = COLOURS[0]
_PREDICTED = COLOURS[1]
_BAR_INCHES = 5.0  # inches of the bars
_ROW = 0.36  # inches of a phase with two bars
_SINGLE = 0.24  # and with one
_ABOVE, _BELOW = 0.32, 0.36
_MAX_DRAWN_PHASES = 40


class Group(NamedTuple):
    """One phase of one application: as it ran, and as predicted (None if it is not)."""

    name: str
    ran: Said
    predicted: Said | None


Predicted = dict[tuple[str, str], Said]
"""By the name of the application and of the phase, `TOTAL` for all of them."""


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the phases of each application alone, and what models predict if any are given.

    Raises
    ------
    InputError
        If no launch of an application alone was recorded by phase, or the models do not hold what
        the applications do.
    """
    run = the_run(runs)
    bars = {}
    for prediction in predicted(run, options.models) if options.models else ():
        for phase_time in prediction.phases:
            bars[prediction.app, phase_time.phase] = Said.of(phase_time)
        bars[prediction.app, TOTAL] = Said.of(prediction, prediction.iterations)
    return figure_of(run, bars)


def figure_of(run: Run, predicted: Predicted) -> Figure:
    """Draw the phases of each application alone, with what is predicted of them.

    Raises
    ------
    InputError
        If no launch of an application alone was recorded by phase.
    """
    summary = emulation(run)
    panels = [(app, groups) for app in summary.apps if (groups := _groups(summary, app, predicted))]
    if not panels:
        raise InputError(
            "no application ran alone", where=run.where, hint="emulate with --combinations alone"
        )
    names = [short(group.name, 26) for _, groups in panels for group in groups]
    left = 0.3 + max(text_width(name, LABEL) for name in names)
    heights = [(_ROW if predicted else _SINGLE) * len(groups) for _, groups in panels]
    figure, bottoms = with_rows(left + _BAR_INCHES + 1.35, heights, _ABOVE, _BELOW)
    for (app, groups), high, bottom in zip(panels, heights, bottoms, strict=True):
        axes = axes_at(figure, left, bottom, _BAR_INCHES, high)
        _panel(axes, groups)
        axes.set_title(
            short(app.name, 60),
            size=LABEL + 1,
            color=INK,
            loc="left",
            weight="bold",
            pad=6,
            parse_math=False,
        )
    ran = one_word(run.origin)
    notes = ["mean over the ranks, waiting included", "lines: 95 % intervals"]
    notes += [f"percent: (predicted - {ran}) / {ran}"] if predicted else []
    title = f"Phases of an iteration, {ran}" + (" and predicted" if predicted else "")
    head(figure, 0.2, title, run, notes)
    if predicted:
        _legend(figure, left, ran)
    return figure


def _groups(summary: Emulation, app: App, predicted: Predicted) -> list[Group]:
    """Return the phases of one application alone, and all of them together."""
    phases = [phase for phase in summary.phases if phase.number == app.number and not phase.beside]
    groups = [
        Group(phase.name, Said.measured(phase.mean), predicted.get((app.name, phase.name)))
        for phase in phases[:_MAX_DRAWN_PHASES]
    ]
    wall = summary.alone(app.number)
    if groups and wall is not None:
        total = Said.measured(wall.seconds, app.iterations)
        groups.append(Group(TOTAL, total, predicted.get((app.name, TOTAL))))
    return groups


def _panel(axes: Axes, groups: list[Group]) -> None:
    """Draw the bars of one application, each with its number behind it."""
    pairs = any(group.predicted for group in groups)
    bars = [bar for group in groups for bar in (group.ran, group.predicted) if bar]
    longest = max(max(bar.seconds, bar.high if isfinite(bar.high) else 0.0) for bar in bars) or 1.0
    for y, group in enumerate(groups):
        _bar(axes, y - (0.2 if pairs else 0), group.ran, _RAN, 0.36 if pairs else 0.62, longest, "")
        if group.predicted:
            off = group.predicted.seconds / group.ran.seconds - 1 if group.ran.seconds else None
            label = "" if off is None else f"  {round(100 * off, 1) + 0.0:+.1f} %"
            _bar(axes, y + 0.2, group.predicted, _PREDICTED, 0.36, longest, label)
    if len(groups) > 1 and groups[-1].name == TOTAL:
        axes.axhline(len(groups) - 1.5, color=FAINT, linewidth=0.5)
    axes.set_xlim(0, 1.04 * longest)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_yticks(
        range(len(groups)), [short(group.name, 26) for group in groups], parse_math=False
    )
    time_axis(axes, longest, _BAR_INCHES, "x")
    axes.tick_params(axis="y", length=0, pad=4)


def _bar(
    axes: Axes, y: float, bar: Said, colour: str, high: float, longest: float, label: str
) -> None:
    """Draw a bar, its interval as a line, and its number behind both."""
    axes.barh(y, bar.seconds, high, color=colour, linewidth=0)
    end = bar.seconds
    if isfinite(bar.low) and isfinite(bar.high):
        axes.plot([bar.low, bar.high], [y, y], color=INK, linewidth=1.0, solid_capstyle="butt")
        end = max(end, bar.high)
    axes.annotate(
        f"{tick_seconds(float(f'{bar.seconds:.3g}'))}{label}",
        (end, y),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        size=CAPTION,
        color=INK,
        annotation_clip=False,
    )


def _legend(figure: Figure, left: float, ran: str) -> None:
    """Say which bar is which, on the right of the title."""
    from matplotlib.patches import Patch

    handles = [Patch(color=_RAN, label=ran), Patch(color=_PREDICTED, label="predicted")]
    figure.legend(
        handles=handles,
        loc="upper right",
        ncols=2,
        frameon=False,
        fontsize=CAPTION,
        labelcolor=INK,
        handlelength=1.0,
        handleheight=0.8,
        bbox_to_anchor=(0.99, 1 - 0.06 / figure.get_figheight()),
    )


VIEW = View(draw, kinds=("emulation",), usual=("emulation",), predicts=True)
