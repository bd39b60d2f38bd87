"""A figure in the place of axes of another one, as a paper or a notebook combines them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from isochrone.views.view import Axes, Figure

_MARGINS = {"left": 0.1, "right": 0.98, "bottom": 0.12, "wspace": 0.25, "hspace": 0.35}
_TITLES = 0.05
"""Around and between the axes of a part, of its size: matplotlib fits only whole figures."""

_PLACE: ContextVar[Axes | None] = ContextVar("place", default=None)


@contextmanager
def in_place_of(axes: Axes) -> Iterator[None]:
    """Let the next figure be drawn in the place of these axes, whose frame disappears."""
    token = _PLACE.set(axes)
    try:
        yield
    finally:
        _PLACE.reset(token)


def panel(width: float, height: float) -> Figure | None:
    """Return a part of the user's figure, at the place asked for; None if nothing was asked.

    Views lay out inches of a figure of this width and height; the part scales them to its own size.
    """
    axes = _PLACE.get()
    if axes is None:
        return None
    from matplotlib.figure import SubFigure

    axes.set_axis_off()
    whole: Any = axes.figure
    [cell] = whole.add_gridspec(1, 1)
    part: Any = SubFigure(whole, cell, facecolor="none")
    whole.subfigs.append(part)
    part.bbox_relative.set_points(axes.get_position().get_points())
    part.get_figwidth, part.get_figheight = (lambda: width), (lambda: height)
    part.tight_layout = lambda rect: part.subplots_adjust(**_MARGINS, top=rect[3] - _TITLES)
    return part  # type: ignore[no-any-return]


def scale_texts(part: Any) -> None:
    """Make the texts of a part smaller by as much as the part is smaller than its figure."""
    from matplotlib.text import Text

    inches = part.bbox.width / part.figure.dpi, part.bbox.height / part.figure.dpi
    ratio = min(1.0, inches[0] / part.get_figwidth(), inches[1] / part.get_figheight())
    for text in part.findobj(Text):
        text.set_fontsize(float(text.get_fontsize()) * ratio)
