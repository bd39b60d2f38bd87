"""Row-wise: each rank owns neighbouring rows of a matrix, hence one piece of the file."""

from isochrone.collective_io.workload.grid import Axis, Grid
from isochrone.collective_io.workload.pattern import Option, Pattern

ROWS = 1024
"""Rows of a rank, and elements of a row."""

PATTERN = Pattern(
    option=Option("--rows", "array by rows: each rank has consecutive rows", expert=True),
    make=lambda options, ranks: Grid((Axis(ranks, ROWS), Axis(1, ROWS)), options["element"] or 8),
    position=30,
)
