"""Options that say which MPI is meant, and which probe for it."""

from __future__ import annotations

import argparse

__all__ = ["add_mpi"]


def add_mpi(
    parser: argparse._ActionsContainer, mpicc: str = "compiler wrapper of your MPI"
) -> None:
    """Add ``--probe`` and ``--mpicc``, of which ``mpicc`` is the help."""
    parser.add_argument(
        "--probe", metavar="PATH",
        help="use this isochrone-probe (default: $ISOCHRONE_PROBE, the one on the PATH, the one "
        "that came with the package; otherwise it is compiled)",
    )  # fmt: skip
    parser.add_argument(
        "--mpicc", metavar="X", help=f"{mpicc}; compiles the probe, whatever there is already"
    )
