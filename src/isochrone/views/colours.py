"""The colours of times, for pages that draw maps themselves."""

from __future__ import annotations

from typing import Final

__all__ = ["MAP", "stops"]

MAP: Final = "viridis"
"""From fast to slow; even steps look even, to colour-blind eyes, too."""


def stops(count: int) -> list[str]:
    """Return so many colours from fast to slow, as ``#rrggbb``.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    colours = colormaps[MAP]
    return [to_hex(colours(k / (count - 1))) for k in range(count)]
