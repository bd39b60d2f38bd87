"""Run an unmodified MPI program with tuned collectives.

A library loaded into the ranks (LD_PRELOAD) runs the collectives of the table in two steps on a
grid of ranks: along its rows and along its columns. Sums may then differ in their last digits;
--keep-reductions avoids that. Exit code and output are those of the program.
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
    (
        "run ./app with the collectives of a table",
        "isochrone exec --tuning table.json -- mpiexec -n 16 ./app",
    ),
    (
        "how often is each entry of the table used?",
        "isochrone exec --tuning table.json --report -- srun -n 64 ./app",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone exec``."""
    parser.usage = "%(prog)s [options] --tuning FILE -- COMMAND ..."
    add_option(
        parser,
        "--tuning",
        "FILE",
        Path,
        "tuning file with a table (from isochrone tune collectives -o)",
        required=True,
    )
    add_flag(
        parser, "--report", "report how often each entry of the table was used, and the time saved"
    )
    add_flag(
        parser,
        "--keep-reductions",
        "keep the reductions of the MPI library, so that sums do not change",
    )
    add_program(parser)


def run(args: argparse.Namespace) -> int:
    """Check the table, find the library, and become the command."""
    command = command_of(args, "isochrone exec --tuning T -- mpiexec ./app")
    table = tuning_table.compiled(args.tuning)
    built = tuned.probe_of(command[0], args.mpicc, args.probe)
    library = discovery.library(built)
    variables = tuned.settings(
        library,
        table,
        os.environ,
        report=args.report,
        reductions=not args.keep_reductions,
    )
    tokens, environ = tuned.with_settings(command, built.library, variables, args.environ)
    sys.stdout.flush()
    return tuned.become(tokens, environ)
