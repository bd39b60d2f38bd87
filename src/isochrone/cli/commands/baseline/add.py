"""Copy runs into a folder of earlier runs; what it has already is not added twice.

A copy is named by the date of the run and a hash of its content. Runs of several kinds, places and
settings may be in one folder: isochrone check takes those that belong to the run it judges. Runs
of separate starts, best of separate days, show how much runs differ; five are good, three the
least.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from isochrone.cli.output import print_path
from isochrone.runfile.baseline_folder import add

__all__ = ["EXAMPLES", "add_arguments", "run"]

EXAMPLES: Final = (
    ("start a baseline with five runs", "isochrone baseline add nights run-1.jsonl run-2.jsonl"),
    ("add tonight's run, if it was good",
     "isochrone baseline add nights latency-map-20261122-030000.jsonl"),
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone baseline add``."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="made if it does not exist")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="complete run file")


def run(args: argparse.Namespace) -> int:
    """Copy the runs, and say where they are."""
    for one in add(args.folder, args.runs):
        print_path(one.path, "" if one.new else " (it was there already)")
    return 0
