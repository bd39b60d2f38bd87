"""What the figures of emulated applications share: a run of them, their titles and colours."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from isochrone.applications.emulation.recorded import KIND
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.runfile.run import Run
from isochrone.views.head import head_lines, write_head
from isochrone.views.scales import tick_seconds, value_ticks
from isochrone.views.style import CAPTION, COLOURS, FAINT, new_figure, plain_axes
from isochrone.views.view import Axes, Figure

COMPUTATION = COLOURS[0]
COMMUNICATION = COLOURS[1:]
"""Of the phases that communicate, in their order."""

HEAD = 0.8
"""Inches of the title and the lines below it."""


def the_run(runs: Sequence[Run]) -> Run:
    """Return the run that is drawn.

    Raises
    ------
    InputError
        If it is none of emulated applications.
    """
    run = runs[0]
    if run.kind != KIND:
        raise InputError(
            "the run contains no emulated applications",
            where=run.where,
            hint="isochrone emulate SPEC -n N",
        )
    return run


def with_rows(
    width: float, heights: Sequence[float], above: float, below: float
) -> tuple[Figure, list[float]]:
    """Return a figure with room for rows of these heights, and the lower edges; all in inches."""
    ends = list(accumulate(above + high + below for high in heights))
    height = HEAD + ends[-1] + 0.1
    return new_figure(width, height), [height - HEAD - end + below for end in ends]


def time_axis(axes: Axes, longest: float, wide: float, dressed: Literal["x", "both"]) -> None:
    """Write times from 0 along the lower axis, as densely as its inches allow, and dress it."""
    ticks = value_ticks(0.0, longest, "linear", tick_seconds)
    step = -(-len(ticks.places) // int(wide / 0.62))
    axes.set_xticks(ticks.places[::step], ticks.texts[::step])
    plain_axes(axes, frame=("bottom",))
    axes.tick_params(axis=dressed, length=2, labelsize=CAPTION, colors=FAINT, pad=2)


def head(figure: Figure, left: float, title: str, run: Run, notes: Sequence[str]) -> None:
    """Write the title, and below it of which run it is; ``left`` in inches."""
    origin = [] if run.origin == "measured" else [run.origin]
    partial = [] if run.complete else ["partial run"]
    facts = [*origin, f"{run.size} ranks", *partial, *notes]
    lines = head_lines(facts, figure.get_figwidth() - left - 0.1)
    write_head(figure, left / figure.get_figwidth(), title, lines)


def short(name: str, limit: int = 22) -> str:
    """Shorten the name of an application or phase; its end is kept."""
    name = printable(name, 200) or "?"
    return name if len(name) <= limit else name[: limit // 2] + "…" + name[-(limit // 2 - 1) :]
