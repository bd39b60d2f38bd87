"""Measure on this machine or in this allocation, and write a run file.

EXPERIMENT is what to measure; its own options follow, and
`isochrone measure EXPERIMENT --help` lists them.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from isochrone.base.errors import IsochroneError
from isochrone.base.text import printable
from isochrone.cli.launches import (
    Launchable,
    add_measurement,
    default_name,
    launch_files,
    launched,
    run_count,
    with_sizes,
)
from isochrone.cli.measuring import setup_of
from isochrone.cli.output import add_output, check_output
from isochrone.measure import algorithm as algorithms
from isochrone.measure import presets, probe
from isochrone.pages import terminal
from isochrone.pages.common import page_of
from isochrone.runfile.run import Run

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone measure``."""
    add_measurement(parser)
    parser.add_argument(
        "--runs", type=run_count, default=1, metavar="N",
        help="launch it N times and keep each: FILE-1.jsonl … FILE-N.jsonl. Launches of one "
        "command differ; `compare` needs three or more to tell a change from that (default: 1)",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")
    add_output(parser, "run file (default: EXPERIMENT-DATE-TIME.jsonl)")
    parser.set_defaults(passes_options_on=True)
    parser.print_help = lambda file=None: _print_help(parser, file)  # type: ignore[method-assign]


def run(args: argparse.Namespace) -> int:
    """Measure, and show what was found."""
    if args.algorithm == algorithms.LIST:
        return _list_algorithms(args)
    what = Launchable.of(args)
    files = launch_files(args.output or default_name(args.experiment), args.runs)
    for path in files:
        check_output(path, force=args.force)
    if args.dry_run:
        for k, path in enumerate(files, start=1):
            launch = f"{k} of {args.runs}" if args.runs > 1 else ""
            print(shlex.join(what.tokens(path, force=args.force, launch=launch)))
        return 0
    found = _launch(what, files, args)
    if not args.quiet:
        terminal.render(page_of(found))
        if args.runs > 1:
            print(f"\nThis is the first of {args.runs} launches: {_names(files)}")
    return 0


def _launch(what: Launchable, files: list[Path], args: argparse.Namespace) -> Run:
    """Launch for each file; all with the sizes the first one chose. Return the first."""
    first = launched(what, files[0], 1, args.runs, force=args.force, quiet=args.quiet)
    what = with_sizes(what, first)
    for k, path in enumerate(files[1:], start=2):
        launched(what, path, k, args.runs, force=args.force, quiet=args.quiet)
    return first


def _list_algorithms(args: argparse.Namespace) -> int:
    """Print what ``--algorithm`` may name for the MPI at hand."""
    mpi = setup_of(args).mpi()
    for operation, names in algorithms.known(mpi).items():
        print(f"{operation:<22}{' '.join(names)}")
    return 0


def _names(files: list[Path]) -> str:
    return printable(f"{files[0]} … {files[-1]}")


def _print_help(parser: argparse.ArgumentParser, file: object) -> None:
    """Print our options, then those the probe knows for the experiment that was named."""
    print(parser.format_help(), end="")
    named = next((word for word in sys.argv[1:] if word in probe.experiments()), None)
    if named is None:
        return
    known = [preset for preset in presets.PRESETS.values() if preset.experiment == named]
    if known:
        print(f"\npresets of {named}:")
        for preset in known:
            print(f"  {preset.name:<28}  {preset.summary}")
    try:
        built = probe.build(probe.find_mpicc(None))
        print(f"\noptions of {named}:\n{built.options_help(named)}")
    except IsochroneError as error:
        print(f"\nthe options of {named} can be listed once an MPI is found: {error}")
