"""Add reference runs to a baseline.

A baseline needs at least three launches. Five launches on different days are better. The folder
may hold runs of several experiments. Runs with a slow component, and runs slower than those in the
folder, are refused.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import command_line
from isochrone.base.verdicts import SLOW, SLOWER
from isochrone.changes.check import Earlier, check
from isochrone.console.options import add_flag, add_option
from isochrone.console.output import print_path
from isochrone.runfile.baseline_folder import Others, add, read_folder
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

EXAMPLES = (
    (
        "create a baseline of three runs",
        "isochrone baseline add nights run-1.jsonl run-2.jsonl run-3.jsonl",
    ),
    ("add tonight's run", "isochrone baseline add nights latency-map-20261122-030000.jsonl"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone baseline add``."""
    add_option(parser, "folder", "FOLDER", Path, "folder of the baseline; created if missing")
    add_option(parser, "runs", "RUN", Path, "run files to add", nargs="+")
    add_flag(parser, "--allow-slow", "allow runs with a slow component")


def run(args: argparse.Namespace) -> int:
    """Copy the runs, and say where they are."""
    if args.folder.is_file():
        swapped = command_line(
            ["isochrone", "baseline", "add", *map(str, args.runs), str(args.folder)]
        )
        raise InputError(
            "it is a file, not the folder",
            where=args.folder,
            hint=f"the folder comes first: {swapped}",
        )
    runs = [read(file) for file in args.runs]
    if not args.allow_slow:
        _refuse_slow(runs, args.folder)
    for stored in add(args.folder, runs):
        print_path(stored.path, "" if stored.new else " (already there)")
    return 0


def _refuse_slow(runs: Sequence[Run], folder: Path) -> None:
    baseline_runs = read_folder(folder)[0] if folder.is_dir() else []
    for run in filter(lambda run: run.complete, runs):
        judgement = check(run, Earlier(str(folder), Others(baseline_runs).but(run.path)))
        if judgement.verdict in (SLOW, SLOWER):
            complaint = f"{judgement.findings[0].who} is {judgement.findings[0].verdict}"
            raise InputError(complaint, where=run.where, hint="use --allow-slow to add it anyway")
