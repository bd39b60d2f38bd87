"""Record (trace) the MPI calls or the collective I/O of a program.

A library loaded into the ranks (LD_PRELOAD) records the MPI calls and the computation between them.
Exit code and output are those of the program.
"""

import argparse
from pathlib import Path

from isochrone.applications.description import reading
from isochrone.applications.pages.positions import listing
from isochrone.applications.results import recording
from isochrone.applications.results.recorded_calls import NOTHING_COMPUTED
from isochrone.applications.traces.deriving import describe
from isochrone.base.errors import InputError, Interrupted
from isochrone.base.text import warn
from isochrone.cli.program import add_program, command_of
from isochrone.console.options import add_flag, add_option
from isochrone.console.output import add_output, check_output, output_of
from isochrone.measure import recorded, tuned
from isochrone.pages.terminal import print_blocks
from isochrone.runfile.file import read

EXAMPLES = (
    ("which ranks send how much to which?", "isochrone record -o run.jsonl -- mpiexec -n 16 ./app"),
    ("where in the code is the time spent?", "isochrone record --list -- mpiexec -n 16 ./app"),
    (
        "which bytes of a file does each rank access?",
        "isochrone record --collective-io -o io.jsonl -- mpiexec -n 16 ./app",
    ),
)

USUAL = Path("recording.jsonl")
FAILED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone record``."""
    add_output(parser, f"run file to write (default: {USUAL})")
    add_flag(
        parser,
        "--collective-io",
        "record collective MPI-IO, also below HDF5 and NetCDF, instead of MPI calls",
    )
    add_flag(
        parser, "--list", "print the recorded program: calls, partners, time and lines of code"
    )
    add_option(
        parser,
        "--description",
        "FILE",
        Path,
        "also write an application description, for isochrone emulate and isochrone predict app",
    )
    add_program(parser)


def run(args: argparse.Namespace) -> int:
    """Find the library, run the command, and say where the recording is."""
    command = command_of(args, "isochrone record -- mpiexec -n 4 ./app")
    if args.collective_io and args.description is not None:
        raise InputError(
            "--description and --collective-io exclude each other",
            hint="record the program twice",
        )
    path = output_of(args, USUAL)
    if args.description is not None:
        check_output(args.description, force=args.force, inputs=[path])
    built = tuned.probe_of(command[0], args.mpicc, args.probe)
    mode = "io" if args.collective_io else "record"
    try:
        code = recorded.record(command, built, path, args.environ, mode)
    except Interrupted as error:
        recording_exists = recorded.is_there(path)
        error.hint = f"recorded in {path}" if recording_exists else "nothing was recorded"
        raise
    if not recorded.is_there(path):
        warn(
            "nothing was recorded: not all ranks called MPI_Finalize, or the program is not "
            f"dynamically linked with {built.library or built.mpicc}"
        )
        return code or FAILED
    warn(f"wrote the recording {path}")
    if args.list and mode == "record":
        print_blocks(listing(read(path)))
    if args.description is None:
        if mode == "record" and "smpirun" in command[0]:
            times = recording.rank_times(read(path))
            if all(rank_time.computation < 1e-3 * rank_time.seconds for rank_time in times):
                warn(NOTHING_COMPUTED)
        return code
    try:
        _describe(path, args.description)
    except InputError as error:
        warn(str(error))
        return code or error.exit_code
    return code


def _describe(path: Path, description: Path) -> None:
    """Write the description of what was recorded."""
    document, warnings = describe(recording.trace(read(path)))
    reading.write(reading.parse(document, str(description)), description, warnings)
    for warning in warnings:
        warn(warning)
    warn(f"wrote the description {description}")
