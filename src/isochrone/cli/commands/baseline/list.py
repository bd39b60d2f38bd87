"""List the reference runs."""

import argparse
from pathlib import Path

import msgspec

from isochrone.changes.comparability import Group, groups_of
from isochrone.changes.pages.baseline import listing
from isochrone.console.as_json import add_json, print_json
from isochrone.console.input import earlier_runs
from isochrone.console.options import add_option
from isochrone.pages.terminal import print_blocks

EXAMPLES = (
    ("what is in the folder?", "isochrone baseline list nights"),
    ("the same as JSON", "isochrone baseline list nights --json"),
)


class _Listed(msgspec.Struct):
    """The runs of a baseline, comparable ones together."""

    folder: Path
    groups: list[Group]


DOCUMENTS = {"baseline-list": _Listed}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone baseline list``."""
    add_option(parser, "folder", "FOLDER", Path, "folder of the baseline")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the groups of runs."""
    groups = groups_of(earlier_runs(args.folder))
    if args.json:
        print_json(_Listed(args.folder, groups))
    else:
        print_blocks(listing(str(args.folder), groups))
    return 0
