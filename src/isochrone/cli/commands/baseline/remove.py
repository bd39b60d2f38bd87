"""Remove reference runs, such as one with a slow node.

Only the copy in FOLDER is deleted.
"""

import argparse
from pathlib import Path

from isochrone.console.options import add_option
from isochrone.console.output import print_path
from isochrone.runfile.baseline_folder import remove

EXAMPLES = (
    (
        "remove a file of the baseline",
        "isochrone baseline remove nights 20261122T030000-a6144b0b22a67e68.jsonl",
    ),
    (
        "remove the copy of tonight.jsonl; that file itself is kept",
        "isochrone baseline remove nights tonight.jsonl",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone baseline remove``."""
    add_option(parser, "folder", "FOLDER", Path, "folder of the baseline")
    add_option(
        parser,
        "runs",
        "RUN",
        Path,
        "file in FOLDER, or another file with the same content",
        nargs="+",
    )


def run(args: argparse.Namespace) -> int:
    """Delete the files, and say which."""
    for path in remove(args.folder, args.runs):
        print_path(path, " removed")
    return 0
