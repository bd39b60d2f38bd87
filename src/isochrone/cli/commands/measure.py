"""Measure on this machine or in this allocation, and write a run file.

EXPERIMENT is what to measure; its own options follow, and
`isochrone measure EXPERIMENT --help` lists them.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path

from isochrone.base.errors import IsochroneError
from isochrone.cli.measuring import (
    add_setup,
    follow,
    rank_count,
    seconds_above_zero,
    see_again,
    setup_of,
)
from isochrone.cli.output import add_output, check_output
from isochrone.measure import presets, probe
from isochrone.pages import terminal
from isochrone.pages.common import page_of
from isochrone.runfile.file import read

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone measure``."""
    names = probe.experiments()
    parser.add_argument(
        "experiment", metavar="EXPERIMENT", choices=names, help=f"one of: {', '.join(names)}"
    )
    parser.add_argument(
        "-n", "--ranks", type=rank_count, metavar="N",
        help="number of ranks (default: those of the Slurm job, or one for each processor)",
    )  # fmt: skip
    parser.add_argument(
        "--preset", metavar="NAME",
        help="named set of options, e.g. --preset longnb; options given as well override it",
    )  # fmt: skip
    parser.add_argument(
        "--timeout",
        type=seconds_above_zero,
        metavar="SECONDS",
        help="end the ranks after this time",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")
    add_output(parser, "run file (default: EXPERIMENT-DATE-TIME.jsonl)")
    add_setup(parser)
    parser.set_defaults(passes_options_on=True)
    parser.print_help = lambda file=None: _print_help(parser, file)  # type: ignore[method-assign]


def run(args: argparse.Namespace) -> int:
    """Measure, and show what was found."""
    options, notes = list(args.rest), {}
    if args.preset is not None:
        options = [*presets.find(args.preset, args.experiment).options, *options]
        notes["preset"] = args.preset
    setup = setup_of(args)
    ranks = args.ranks or setup.default_ranks()
    setup.check(args.experiment, options, ranks)
    path = args.output or Path(f"{args.experiment}-{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
    check_output(path, force=args.force)
    tokens = setup.tokens(args.experiment, options, ranks, path, force=args.force, notes=notes)
    if args.dry_run:
        print(shlex.join(tokens))
        return 0
    before = time.monotonic()
    follow(tokens, path, title=args.experiment, timeout=args.timeout, quiet=args.quiet)
    left = args.timeout and max(1.0, args.timeout - (time.monotonic() - before))
    see_again(setup, args.experiment, options, ranks, path, timeout=left, quiet=args.quiet)
    if not args.quiet:
        terminal.render(page_of(read(path)))
    return 0


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
