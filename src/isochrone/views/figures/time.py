"""Time by message size: the median of each size with its 95 % interval, several runs in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from isochrone.runfile.run import Run
from isochrone.views.labels import tell_apart
from isochrone.views.lines import Words, draw_lines
from isochrone.views.scales import tick_bytes, tick_seconds
from isochrone.views.sweeps import chosen_scale, collect, facts, lines, meaning

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DRAWS", "draw"]

DRAWS: Final = "sweep"
"""The kind of run it draws; any number of them."""


def draw(
    runs: Sequence[Run], *, scale: str | None = None, sizes: Sequence[int] = (),
    ops: Sequence[str] = (),
) -> Figure:  # fmt: skip
    """Draw all curves of all runs (``sizes`` are of no use here: all are drawn)."""
    drawn = collect(runs, ops)
    labels = tell_apart(drawn)
    of = meaning(runs)
    words = Words(
        title="Time by message size",
        facts=facts(runs, labels, f"time: {of}" if of else "", "bars: 95 % interval of the median"),
        below="message size",
        tick_x=tick_bytes,
        tick_y=tick_seconds,
    )
    made = lines(drawn, labels, "median", lambda _: ("low", "high"))
    return draw_lines(made, words, chosen_scale(scale, drawn))
