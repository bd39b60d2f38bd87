"""Column-wise: each rank owns neighbouring columns of a matrix, hence a piece of every row."""

from __future__ import annotations

from isochrone.workloads.grid import Axis, Grid

__all__ = ["columns"]


def columns(ranks: int, each: int = 1024, height: int = 1024, element: int = 8) -> Grid:
    """Return the pattern of ``each`` columns of ``height`` elements a rank."""
    return Grid((Axis(1, height), Axis(ranks, each)), element)
