"""Access patterns of arrays in blocks, rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.collective_io.workload.grid import Axis, Grid


def block_array(blocks: Sequence[int], length: Sequence[int], element: int = 8) -> Grid:
    """Return ``blocks`` ranks along each axis, slowest first, of ``length`` elements each."""
    return Grid(tuple(map(Axis, blocks, length)), element)


def rows(ranks: int, each: int = 1024, width: int = 1024) -> Grid:
    """Return ``each`` rows of ``width`` elements a rank; they are not interleaved."""
    return block_array((ranks, 1), (each, width))


def columns(ranks: int) -> Grid:
    """Return 1024 columns a rank."""
    return block_array((1, ranks), (1024, 1024))
