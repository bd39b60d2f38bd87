"""Figures as data: drawn from runs, the texts in them, and where these stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from isochrone.runfile.run import Run
from isochrone.views import Options


def draw(view: Any, runs: Sequence[Run], **options: Any) -> Figure:
    """Draw a figure of several runs."""
    given = {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
    figure = view.draw(runs, Options(**given))
    assert isinstance(figure, Figure)
    return figure


def texts(figure: Figure) -> list[Text]:
    """Return the texts that can be seen."""
    return [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]


def words(figure: Figure) -> str:
    """Return what they say."""
    return "\n".join(text.get_text() for text in texts(figure))


def boxes_inside(figure: Figure) -> list[tuple[str, Bbox]]:
    """Check that no text leaves the picture; return each with its place in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    boxes = [(t.get_text(), t.get_window_extent(canvas.get_renderer())) for t in texts(figure)]
    for name, box in boxes:
        assert -1 <= box.x0 <= box.x1 <= width + 1, name
        assert -1 <= box.y0 <= box.y1 <= height + 1, name
    return boxes
