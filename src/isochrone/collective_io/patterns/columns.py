"""Column-wise: each rank owns neighbouring columns of a matrix, hence a piece of every row."""

from isochrone.collective_io.workload.grid import Axis, Grid
from isochrone.collective_io.workload.pattern import Option, Pattern

DEFAULT_COLUMNS = 1024
"""Columns of a rank, and elements of a column."""

PATTERN = Pattern(
    option=Option("--columns", "array by columns: each rank has consecutive columns", expert=True),
    make=lambda options, ranks: Grid(
        (Axis(1, DEFAULT_COLUMNS), Axis(ranks, DEFAULT_COLUMNS)), options["element"] or 8
    ),
    position=40,
)
