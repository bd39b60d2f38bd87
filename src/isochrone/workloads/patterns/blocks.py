"""Block-block-block: an array of up to three dimensions, cut along all of them (S3D-IO, BTIO)."""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.base.errors import InputError
from isochrone.workloads.grid import Axis, Grid

__all__ = ["block_array"]


def block_array(blocks: Sequence[int], length: Sequence[int], element: int = 8) -> Grid:
    """Return the pattern of ``blocks`` ranks along each axis, slowest axis first.

    ``length`` are the elements of one rank's block along each axis, ``element`` bytes of one.
    """
    if len(blocks) != len(length) or not blocks:
        raise InputError(f"{len(blocks)} numbers of blocks, but {len(length)} lengths of a block")
    return Grid(tuple(Axis(n, size) for n, size in zip(blocks, length, strict=True)), element)
