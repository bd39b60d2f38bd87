"""mpi-tile-io: a picture of tiles, x by y, one tile a rank (Ross 2001)."""

from isochrone.base.errors import InputError
from isochrone.collective_io.workload.grid import Axis, Grid
from isochrone.collective_io.workload.pattern import Option, Options, Pattern, sides

TILE = (1024, 1024)
"""Elements of a tile, across and down: the default of mpi-tile-io."""

ELEMENT = 64
"""Bytes of an element; with the tile above, 4 x 4 tiles are the 1 GiB file of the cFireworks
paper."""


def tile_io(
    x: int,
    y: int,
    tile: tuple[int, int] = TILE,
    element: int = ELEMENT,
    overlap: tuple[int, int] = (0, 0),
) -> Grid:
    """Return the pattern of ``x`` tiles across and ``y`` down; rank = row * x + column.

    ``tile`` and ``overlap`` are elements across and down, ``element`` bytes.
    """
    return Grid((Axis(y, tile[1], overlap[1]), Axis(x, tile[0], overlap[0])), element)


def _square(ranks: int) -> tuple[int, int]:
    """Return the two factors of a number that are closest to each other, the larger one down."""
    x = next(n for n in range(int(ranks**0.5), 0, -1) if ranks % n == 0)
    return x, ranks // x


def _make(options: Options, ranks: int) -> Grid:
    """Return the given grid of tiles, or one per rank, as square as possible."""
    tile = options["tile"] or TILE
    if len(tile) != 2:
        raise InputError("a tile has two dimensions", where="--tile")
    x, y = options["tiles"] or _square(ranks)
    return tile_io(x, y, tile, options["element"] or ELEMENT, options["overlap"] or (0, 0))


PATTERN = Pattern(
    option=Option(
        "--tiles",
        "a tile per rank: 4x3 is 4 tiles across and 3 down",
        "XxY",
        sides(2),
    ),
    make=_make,
    more=(
        Option(
            "--overlap",
            "elements that neighbouring tiles share (default: 0x0)",
            "XxY",
            sides(2, min_value=0),
        ),
    ),
    hint=lambda ranks: "for example --tiles {}x{}".format(*_square(ranks)),
    position=10,
)
