"""Choose the fastest measured algorithm of each collective.

First measure collectives with --launches 3, and with --grid (two-phase algorithms on grids of
ranks) or --algorithm (algorithms of the MPI library). The default of the MPI library is replaced
only where another algorithm saves at least --min-gain, with 95 % confidence. Often, the default is
best.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import sha256, write_text, written_name
from isochrone.base.text import printable
from isochrone.collectives import tuning_file as tunings
from isochrone.collectives import tuning_table
from isochrone.collectives.cli.tuning import Tuned, add_modelled, modelled, sections
from isochrone.collectives.tune.proof import by_counting, by_file
from isochrone.collectives.tune.times import TuningTimes, read_times
from isochrone.collectives.tune.tuning import (
    Kind,
    Saving,
    algorithm_rules,
    cautions,
    grid_rules,
    savings,
)
from isochrone.collectives.tuning_table import Table
from isochrone.console.as_json import add_json
from isochrone.console.decision_page import add_page, check_page_file, tell_decision
from isochrone.console.measuring import add_setup, setup_of
from isochrone.console.options import add_flag, add_option, hide, read_percent
from isochrone.console.output import add_output, check_output
from isochrone.measure.library import library_file
from isochrone.measure.setup import Setup
from isochrone.runfile.file import read
from isochrone.runfile.origin import together

EXAMPLES = (
    ("how much time do grids save?", "isochrone tune collectives grids-4.jsonl grids-8.jsonl"),
    (
        "write a table for isochrone exec",
        "isochrone tune collectives grids-8.jsonl algorithms-8.jsonl -o table.json",
    ),
)

TABLE = "table"
"""The file of ``isochrone exec``; all others are those of MPI libraries."""


DOCUMENTS = {"tune-collectives": Tuned}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone tune collectives``."""
    formats = [TABLE, *tunings.names()]
    add_option(
        parser, "run_files", "RUN", Path, "run files of isochrone measure collective", nargs="+"
    )
    add_option(
        parser,
        "--to",
        "FORMAT",
        str,
        "format of the tuning file: table (for isochrone exec, default), or "
        + " or ".join(formats[1:])
        + " (for that MPI library)",
        choices=formats,
        default=TABLE,
    )
    add_option(
        parser,
        "--min-gain",
        "PERCENT",
        read_percent,
        "replace a default only if at least this share of its time is saved (default: 5%%)",
        default=0.05,
    )
    add_modelled(parser)
    add_json(parser)
    add_output(parser, "tuning file to write (default: only print the choice)")
    add_page(parser, "what is chosen, and the times before and after")
    add_flag(parser, "--verify", "check with short jobs that the tuning file takes effect")
    add_setup(parser)
    hide(parser, "--mpicc", "--launcher", "--platform", "--dry-run")


def run(args: Namespace) -> int:
    """Choose, write, say what is saved, and prove what was asked for."""
    if args.verify and args.output is None:
        raise InputError("--verify needs a file", hint="give -o FILE")
    if args.verify and args.dry_run:
        raise InputError("--verify needs the file; remove --dry-run")
    if args.output is not None:
        check_output(args.output, force=args.force, inputs=args.run_files)
    check_page_file(args, args.run_files)
    if args.dry_run:
        args.output = None
    times = read_times([read(path) for path in args.run_files])
    document = _of_grids(args, times) if args.to == TABLE else _of_algorithms(args, times)
    files = [printable(path.name, 60) for path in args.run_files]
    tell_decision(
        args, document, "Choice of collectives", sections(document, args.min_gain), *files
    )
    return 1 if any(rule.verdict == "not active" for rule in document.verified) else 0


def _of_grids(args: Namespace, times: TuningTimes) -> Tuned:
    """Choose grids; write the table of ``isochrone exec``."""
    measured = savings(times, "grid", args.min_gain)
    model_savings, model_sizes, origin = modelled(args, times)
    choices = [*measured, *model_savings]
    rules = grid_rules(choices, times.sizes | model_sizes)
    origin = together([times.origin, origin]) if model_savings else times.origin
    document = _document(args, choices, times, origin)
    document.rules = rules
    if args.output is not None:
        files = [*args.run_files, *([Path(args.model)] if args.model else [])]
        made_from = [{"path": written_name(path), "sha256": sha256(path)} for path in files]
        table = Table(times.mpi, rules, args.min_gain, made_from, origin)
        tuning_table.write(args.output, table)
        document.files = [args.output]
        if times.exact:
            document.warnings.append("the MPI is simulated: no program can use this table")
        else:
            document.use = [f"isochrone exec --tuning {args.output} -- mpiexec -n … ./a.out"]
    if args.verify:
        document.verified = by_counting(_same(args, times.mpi), rules, args.output)
    return document


def _of_algorithms(args: Namespace, times: TuningTimes) -> Tuned:
    """Choose algorithms of the library; write its own file."""
    if args.model is not None:
        raise InputError("models do not cover the algorithms of the library", where="--model")
    tuning_file = tunings.load(args.to)
    tuning_file.check(times.mpi)
    choices = savings(times, "algorithm", args.min_gain)
    rules = algorithm_rules(choices, times.sizes)
    document = _document(args, choices, times, times.origin)
    if args.output is not None:
        library = _library(args, times.mpi) if tuning_file.of_library else b""
        written = tuning_file.write(rules, args.output, library)
        rules = [rule for rule in rules if rule not in written.left_out]
        for path in written.files:
            if path != args.output:
                check_output(path, force=args.force, inputs=args.run_files)
        for path, text in written.files.items():
            write_text(path, text)
        document.files = [*written.files]
        document.use = [f"export {key}={value}" for key, value in written.environ.items()]
        document.warnings += written.warnings
        if args.verify:
            setup = _same(args, times.mpi)
            document.verified = by_file(setup, rules, written, tuning_file.seen_by)
    document.rules = rules
    return document


def _document(args: Namespace, choices: list[Saving], times: TuningTimes, origin: str) -> Tuned:
    kind: Kind = "grid" if args.to == TABLE else "algorithm"
    return Tuned(times.mpi, origin, choices, cautions(times, choices, kind, args.min_gain))


def _library(args: Namespace, mpi: str) -> bytes:
    """Return the content of the file of the MPI library, which must be that of the runs."""
    file = library_file(_same(args, mpi).built.path)
    if file is None:
        raise InputError("the file of the MPI library was not found", where=f"--to {args.to}")
    return file.read_bytes()


def _same(args: Namespace, mpi: str) -> Setup:
    """Return the MPI to use, which must be that of the runs."""
    setup = setup_of(args)
    this_mpi = tuning_table.mpi_name(setup.mpi().library)
    if this_mpi != mpi:
        raise InputError(
            f"the runs were measured with {mpi}, but this MPI is {this_mpi or setup.name}",
            where="--mpicc",
            hint="give the mpicc of that MPI",
        )
    return setup
