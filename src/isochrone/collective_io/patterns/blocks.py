"""Block-block-block: an array of up to three dimensions, cut along all of them (S3D-IO, BTIO)."""

from isochrone.base.errors import InputError
from isochrone.collective_io.workload.grid import Axis, Grid
from isochrone.collective_io.workload.pattern import Option, Options, Pattern, sides

DEFAULT_BLOCK_LENGTH = 64
"""Default number of elements of a block along each axis."""


def _make(options: Options, ranks: int) -> Grid:
    """Return the given blocks, one per rank."""
    blocks = options["blocks"]
    length = options["tile"] or (DEFAULT_BLOCK_LENGTH,) * len(blocks)
    if len(blocks) != len(length):
        raise InputError(f"--blocks has {len(blocks)} axes, but --tile {len(length)}")
    return Grid(tuple(map(Axis, blocks, length)), options["element"] or 8)


PATTERN = Pattern(
    option=Option(
        "--blocks",
        "array in blocks: number of blocks along each axis, slowest first",
        "ZxYxX",
        sides(1, 3),
        expert=True,
    ),
    make=_make,
    position=20,
)
