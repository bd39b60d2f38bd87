"""How large a figure is, its fonts and its title, as a paper or a slide wants them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.views.view import Figure


@dataclass(frozen=True)
class Appearance:
    """What a person may change of every figure.

    Attributes
    ----------
    size
        Width and height in inches; None: those of the view.
    font_size
        Points of the labels at the axes; all other texts keep their ratio to them. None: 9.
    title
        In place of the title of the view; None: that one.
    style
        A style file of matplotlib, or the name of one of its styles; empty: none. It applies to
        what a view leaves to matplotlib, such as the font.
    """

    size: tuple[float, float] | None = None
    font_size: float | None = None
    title: str | None = None
    style: str = ""

    @contextmanager
    def styled(self) -> Iterator[None]:
        """Let figures be drawn and written in the style.

        Raises
        ------
        InputError
            If there is no such style, or its file is damaged.
        """
        if not self.style:
            yield
            return
        from matplotlib import style

        known = self.style in style.available
        if not known and not Path(self.style).is_file():
            raise InputError(
                "there is no such style file",
                where=self.style,
                hint="give a file such as paper.mplstyle, or a name such as ggplot",
            )
        with style.context(self.style):
            yield

    def apply(self, figure: Figure) -> None:
        """Change a figure that was drawn."""
        from matplotlib.text import Text

        from isochrone.views.style import LABEL

        if self.title is not None and figure.texts:  # the first text is the title
            figure.texts[0].set_text(self.title)
        if self.font_size is not None:
            for text in figure.findobj(Text):
                text.set_fontsize(float(text.get_fontsize()) * self.font_size / LABEL)
        if self.size is not None:
            figure.set_size_inches(*self.size)
