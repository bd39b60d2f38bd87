"""Column-wise: each rank owns neighbouring columns of a matrix, hence a piece of every row."""

from isochrone.collective_io.workload.grid import Axis, Grid
from isochrone.collective_io.workload.pattern import Option, Pattern


def columns(ranks: int, each: int = 1024, height: int = 1024, element: int = 8) -> Grid:
    """Return the pattern of ``each`` columns of ``height`` elements a rank."""
    return Grid((Axis(1, height), Axis(ranks, each)), element)


PATTERN = Pattern(
    option=Option("--columns", "array by columns: each rank has consecutive columns"),
    make=lambda options, ranks: columns(ranks, element=options["element"] or 8),
    position=40,
)
