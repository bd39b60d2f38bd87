"""mpi-tile-io: a picture of tiles, x by y, one tile a rank (Ross 2001)."""

from __future__ import annotations

from typing import Final

from isochrone.workloads.grid import Axis, Grid

__all__ = ["ELEMENT", "TILE", "tile_io"]

TILE: Final = (1024, 1024)
"""Elements of a tile, across and down: the default of mpi-tile-io."""

ELEMENT: Final = 64
"""Bytes of an element; with the tile above, 4 x 4 tiles are the 1 GiB file of the cFireworks
paper."""


def tile_io(
    x: int,
    y: int,
    tile: tuple[int, int] = TILE,
    element: int = ELEMENT,
    overlap: tuple[int, int] = (0, 0),
    header: int = 0,
) -> Grid:
    """Return the pattern of ``x`` tiles across and ``y`` down; rank = row * x + column.

    ``tile`` and ``overlap`` are elements across and down, ``element`` and ``header`` bytes.
    """
    return Grid((Axis(y, tile[1], overlap[1]), Axis(x, tile[0], overlap[0])), element, header)
