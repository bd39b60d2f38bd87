"""What the figures of emulated applications share: a run of them, their titles and colours."""

from collections.abc import Sequence

from isochrone.applications.emulation.recorded import KIND
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.runfile.run import Run
from isochrone.views.head import head_lines, write_head
from isochrone.views.style import COLOURS
from isochrone.views.view import Figure

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
            "the run contains no emulated applications", where=run.where,
            hint="isochrone emulate SPEC -n N",
        )  # fmt: skip
    return run


def head(figure: Figure, left: float, title: str, run: Run, notes: Sequence[str]) -> None:
    """Write the title, and below it of which run it is; ``left`` in inches."""
    origin = [] if run.origin == "measured" else [run.origin]
    partial = [] if run.complete else ["partial run"]
    words = [*origin, f"{run.size} ranks", *partial, *notes]
    lines = head_lines(words, figure.get_figwidth() - left - 0.1)
    write_head(figure, left / figure.get_figwidth(), title, lines)


def short(name: str, limit: int = 22) -> str:
    """Shorten the name of an application or phase; its end is kept."""
    name = printable(name, 200) or "?"
    return name if len(name) <= limit else name[: limit // 2] + "…" + name[-(limit // 2 - 1) :]
