"""Figures as data: drawn from runs, and the texts in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text

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
