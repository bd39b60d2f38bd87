"""Show the typical times of a baseline, and the range that is expected of the next run.

The typical time is the geometric mean of the medians of the runs. The range is the 95 % prediction
interval.
"""

import argparse
from pathlib import Path

from msgspec import Struct

from isochrone.base.documents import Inline
from isochrone.changes.baseline import Typical, typical
from isochrone.changes.comparability import Group, groups_of
from isochrone.changes.pages.baseline import typical_times
from isochrone.console.as_json import add_json, print_json
from isochrone.console.input import earlier_runs
from isochrone.console.options import add_option
from isochrone.pages.terminal import print_blocks

EXAMPLES = (
    ("which times are normal?", "isochrone baseline show nights"),
    ("all nodes and pairs, as JSON", "isochrone baseline show nights --json"),
)


class _Times(Struct):
    group: Inline[Group]
    times: list[Typical]


class _Usual(Struct):
    """Typical times of the runs of a baseline, and between which the next run will be."""

    folder: Path
    groups: list[_Times]


DOCUMENTS = {"baseline-show": _Usual}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone baseline show``."""
    add_option(parser, "folder", "FOLDER", Path, "folder of the baseline")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the typical times of each group of runs."""
    typical_by_group = [
        (group, typical(group.runs)) for group in groups_of(earlier_runs(args.folder))
    ]
    if args.json:
        print_json(_Usual(args.folder, [_Times(*group_times) for group_times in typical_by_group]))
    else:
        print_blocks(typical_times(str(args.folder), typical_by_group))
    return 0
