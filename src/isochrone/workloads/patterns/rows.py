"""Row-wise: each rank owns neighbouring rows of a matrix, hence one piece of the file."""

from __future__ import annotations

from isochrone.workloads.grid import Axis, Grid

__all__ = ["rows"]


def rows(ranks: int, each: int = 1024, width: int = 1024, element: int = 8) -> Grid:
    """Return the pattern of ``each`` rows of ``width`` elements a rank. It is not interleaved."""
    return Grid((Axis(ranks, each), Axis(1, width)), element)
