"""Compile the probe for an MPI; the other commands do this automatically when needed."""

from __future__ import annotations

import argparse

from isochrone.measure import probe

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone build``."""
    parser.add_argument(
        "--mpicc", metavar="X", help="compiler wrapper of your MPI (default: $MPICC, then mpicc)"
    )
    parser.add_argument("--again", action="store_true", help="compile even if it was built before")


def run(args: argparse.Namespace) -> int:
    """Build and say what was built."""
    built = probe.build(probe.find_mpicc(args.mpicc), again=args.again)
    print(f"probe    {built.path}")
    print(f"mpicc    {built.mpicc}")
    print(f"library  {built.library}")
    return 0
