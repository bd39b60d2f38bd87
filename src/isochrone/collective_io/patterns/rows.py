"""Row-wise: each rank owns neighbouring rows of a matrix, hence one piece of the file."""

from isochrone.collective_io.workload.grid import Axis, Grid
from isochrone.collective_io.workload.pattern import Option, Pattern


def rows(ranks: int, each: int = 1024, width: int = 1024, element: int = 8) -> Grid:
    """Return the pattern of ``each`` rows of ``width`` elements a rank. It is not interleaved."""
    return Grid((Axis(ranks, each), Axis(1, width)), element)


PATTERN = Pattern(
    option=Option("--rows", "array by rows: each rank has consecutive rows"),
    make=lambda options, ranks: rows(ranks, element=options["element"] or 8),
    position=30,
)
