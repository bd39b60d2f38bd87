"""Remove reference runs, such as a night on which a node was slow.

RUN is a file in FOLDER, or a file with the same content elsewhere, which is not deleted.
"""

import argparse
from pathlib import Path

from isochrone.console.options import add_option
from isochrone.console.output import print_path
from isochrone.runfile.baseline_folder import remove

EXAMPLES = (
    ("a night that turned out to be bad",
     "isochrone baseline remove nights 20261122T030000-a6144b0b22a67e68.jsonl"),
    ("remove the baseline's copy; tonight.jsonl itself is kept",
     "isochrone baseline remove nights tonight.jsonl"),
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone baseline remove``."""
    add_option(parser, "folder", "FOLDER", Path, "baseline, from isochrone baseline add")
    add_option(parser, "runs", "RUN", Path,
        "file in FOLDER, or any file with the same content", nargs="+")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Delete the files, and say which."""
    for path in remove(args.folder, args.runs):
        print_path(path, " removed")
    return 0
