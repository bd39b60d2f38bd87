"""Show typical times of the runs of a folder, and between which the next run will be.

The typical time is the geometric mean of the medians of the runs; the interval holds that of one
more run with 95 %. isochrone check uses narrower ones for nodes and pairs, because it leaves out
what a run has in common.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from isochrone.changes.baseline import typical
from isochrone.changes.comparable import groups_of
from isochrone.changes.pages.baseline import typical_times
from isochrone.console.as_json import add_json, print_json
from isochrone.console.input import earlier_runs
from isochrone.pages.terminal import print_blocks

EXAMPLES: Final = (
    ("what is usual?", "isochrone baseline show nights"),
    ("all nodes and pairs, for scripts", "isochrone baseline show nights --json"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone baseline show``."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of isochrone baseline add")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the typical times of each group of runs."""
    found = [(group, typical(group.runs)) for group in groups_of(earlier_runs(args.folder))]
    if args.json:
        groups = [{**group.to_json(), "times": times} for group, times in found]
        print_json({"folder": str(args.folder), "groups": groups})
    else:
        print_blocks(typical_times(str(args.folder), found))
    return 0
