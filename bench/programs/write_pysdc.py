"""Lets pySDC (PyPI) write made-up fields with mpi4py to a file, in blocks of a 3D grid."""

from __future__ import annotations

import sys
from pathlib import Path

from mpi4py import MPI
from pySDC.helpers.fieldsIO import writeFields_MPI

GRID = [128, 128, 256]
STEPS = 3
VARIABLES = 2
DOUBLE = 0
"""Index of the type among those of pySDC."""


def main() -> None:
    """Write each step with one collective call."""
    if MPI.COMM_WORLD.rank == 0:
        Path(sys.argv[1]).unlink(missing_ok=True)  # it refuses files that exist
    MPI.COMM_WORLD.Barrier()
    writeFields_MPI(sys.argv[1], DOUBLE, "Hybrid", STEPS, VARIABLES, GRID)


if __name__ == "__main__":
    main()
