"""Writes a field of temperatures to one HDF5 file, as simulations do: a block of it for each rank.

    mpiexec -n 16 python field.py FILE.h5 [--steps 3] [--block 1024]

It needs h5py and HDF5 built with MPI. Each step is one dataset, written by one collective call. The
ranks form a grid as square as possible, rank 0 at the top left, rank 1 to its right.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import h5py
import numpy as np
from mpi4py import MPI


def main() -> None:
    """Write all steps, and print how long each took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--steps", type=int, default=3, help="datasets to write")
    parser.add_argument("--block", type=int, default=1024, help="rows and columns of a block")
    args = parser.parse_args()
    world = MPI.COMM_WORLD
    down, across = MPI.Compute_dims(world.size, 2)
    row, column = divmod(world.rank, across)
    mine = np.s_[
        row * args.block : (row + 1) * args.block, column * args.block : (column + 1) * args.block
    ]
    block = np.full((args.block, args.block), world.rank, np.float32)
    with h5py.File(args.file, "w", driver="mpio", comm=world) as file:
        for step in range(args.steps):
            field = file.create_dataset(
                f"step-{step}", (down * args.block, across * args.block), np.float32
            )
            world.Barrier()
            start = MPI.Wtime()
            with field.collective:
                field[mine] = block
            seconds = world.allreduce(MPI.Wtime() - start, MPI.MAX)
            if world.rank == 0:
                print(f"step {step}: {field.nbytes / 2**20:.0f} MiB in {seconds:.2f} s", flush=True)


if __name__ == "__main__":
    main()
