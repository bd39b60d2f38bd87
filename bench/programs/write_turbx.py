"""Lets turbx (PyPI) write a made-up flow with h5py to a file, in blocks of a 3D grid."""

from __future__ import annotations

import sys

from mpi4py import MPI
from turbx.rgd import rgd
from turbx.rgd_testing import _populate_abc_flow

POINTS = 128
STEPS = 4


def main() -> None:
    """Write three datasets, chunked as turbx likes it, with the hints it gives."""
    with rgd(sys.argv[1], "w", force=True, driver="mpio", comm=MPI.COMM_WORLD) as file:
        x, y, z = MPI.Compute_dims(MPI.COMM_WORLD.size, 3)
        _populate_abc_flow(file, rx=x, ry=y, rz=z, nx=POINTS, ny=POINTS, nz=POINTS, nt=STEPS)


if __name__ == "__main__":
    main()
