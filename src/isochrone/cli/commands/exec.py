"""Run an unmodified MPI program with faster collectives from a tuning table.

    isochrone exec --tuning table.json -- mpiexec -n 16 ./app ...

A library is loaded into the ranks (LD_PRELOAD). It replaces the calls that the table lists
(MPI_Bcast, Gather, Scatter, Reduce, Allreduce, Allgather, Alltoall, Reduce_scatter_block) by two
steps on a grid of ranks: along its rows and along its columns. All other calls go straight to the
MPI library. Exit code, output and signals are those of the program. On a grid floating-point
numbers are added in another order, so the last digits of sums may differ; --library-reductions
avoids that by leaving reductions to the MPI library.
"""

import argparse
import os
import sys
from pathlib import Path

from isochrone.cli.program import add_program, command_of
from isochrone.collectives import tuning_table
from isochrone.console.options import add_flag, add_option
from isochrone.measure import discovery, tuned

EXAMPLES = (
    ("with the collectives of a table",
     "isochrone exec --tuning table.json -- mpiexec -n 16 ./app"),
    ("say at the end how often each choice was taken",
     "isochrone exec --tuning table.json --report -- srun -n 64 ./app"),
    ("sums with the same bits as without the table (an expert option: --help-all)",
     "isochrone exec --tuning table.json --library-reductions -- srun -n 64 ./app"),
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone exec``."""
    parser.usage = "%(prog)s --tuning TABLE [--report] [--mpicc X] -- COMMAND ..."
    add_option(
        parser,
        "--tuning",
        "TABLE",
        Path,
        "tuning table, from isochrone tune collectives -o",
        required=True,
    )
    add_flag(parser, "--report",
        "print at MPI_Finalize how often each entry of the table was used, and the time saved"
    )  # fmt: skip
    add_flag(parser, "--library-reductions",
        "do not replace reductions, so that sums are bitwise the same as without a table",
        expert=True)  # fmt: skip
    add_program(parser)


def run(args: argparse.Namespace) -> int:
    """Check the table, find the library, and become the command."""
    command = command_of(args, "isochrone exec --tuning T -- mpiexec ./app")
    table = tuning_table.compiled(args.tuning)
    built = tuned.probe_of(command[0], args.mpicc, args.probe)
    library = discovery.library(built)
    variables = tuned.settings(
        library, table, os.environ, report=args.report,
        reductions=not args.library_reductions,
    )  # fmt: skip
    words, environ = tuned.with_settings(command, built.library, variables, args.environ)
    sys.stdout.flush()
    return tuned.become(words, environ)
