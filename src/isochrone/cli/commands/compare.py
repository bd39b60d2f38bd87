"""Compare two measurements: ratio of medians at each point, and whether it is significant.

A and B are each a run file, several joined by commas, or a folder of run files; several runs of one
side count as repetitions. B is compared with A: a ratio above 1 means that B is slower.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.cli.input import tell_partial
from isochrone.pages.comparison import blocks, change, name_of
from isochrone.pages.terminal import print_blocks
from isochrone.results.comparison import Change, Comparison, compare
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone compare``."""
    parser.add_argument(
        "before",
        metavar="A",
        help="run file, FILE,FILE,… or folder; two folders of suites are compared file by file",
    )
    parser.add_argument("after", metavar="B", help="likewise; B is compared with A")
    parser.add_argument(
        "--fail-on", action="append", default=[], metavar="WHAT:PERCENT", type=_limit,
        help="exit with status 1 if a point is significantly slower (or faster) by more than this, "
        "e.g. slower:5%%",
    )  # fmt: skip
    parser.add_argument(
        "--common", action="store_true", help="compare only the points that both sides have"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document, for scripts")


def run(args: argparse.Namespace) -> int:
    """Compare, print what changed, and fail if that was asked for."""
    before, after = _runs(args.before), _runs(args.after)
    folders = Path(args.before).is_dir() and Path(args.after).is_dir()
    if folders and _of_several(before) and _of_several(after):
        return _compare_folders(_by_name(before), _by_name(after), args)
    found = _compared(before, after, args)
    failed = _failed(found, args)
    if args.json:
        print(json.dumps({**found.to_json(), "failed": [point.key for point in failed]}))
    else:
        print_blocks(blocks(found))
    _complain(failed, args)
    return 1 if failed else 0


def _of_several(runs: list[Run]) -> bool:
    """Whether runs are of several kinds, such as those of a suite."""
    return len({(run.experiment, run.size, str(run.notes.get("preset"))) for run in runs}) > 1


def _compared(before: list[Run], after: list[Run], args: argparse.Namespace) -> Comparison:
    """Compare two sides; say which of their runs did not come to their end."""
    for run in (*before, *after):
        if not run.complete:
            tell_partial(run.where)
    return compare(before, after, common=args.common)


def _by_name(runs: list[Run]) -> dict[str, Run]:
    return {Path(run.where).name: run for run in runs}


def _compare_folders(
    before: dict[str, Run], after: dict[str, Run], args: argparse.Namespace
) -> int:
    """Compare the files of two folders that have the same name."""
    if not before.keys() & after.keys():
        raise InputError(
            "no run files of the same name in both folders", where=str(Path(args.after))
        )
    documents, failed = {}, []
    for name in sorted(before.keys() & after.keys()):
        found = _compared([before[name]], [after[name]], args)
        own = _failed(found, args)
        documents[name] = {**found.to_json(), "failed": [point.key for point in own]}
        if not args.json:
            print(f"{name}:")
            print_blocks(blocks(found))
        _complain(own, args, name)
        failed += own
    alone = sorted(before.keys() ^ after.keys())
    if alone:
        print(f"isochrone: in one folder only: {', '.join(alone)}", file=sys.stderr)
    if args.json:
        print(json.dumps({"comparisons": documents}))
    return 1 if failed else 0


def _failed(found: Comparison, args: argparse.Namespace) -> list[Change]:
    """Return the points that became slower, or faster, by more than was allowed."""
    return [
        point
        for point in found.points
        if any(point.verdict == what and change(point) > limit for what, limit in args.fail_on)
    ]


def _complain(failed: list[Change], args: argparse.Namespace, name: str = "") -> None:
    for point in failed:
        line = f"{point.verdict} by {100 * change(point):.1f} %: {name_of(point)}"
        line = f"{name}: {line}" if name else line
        print(line, file=sys.stderr if args.json else sys.stdout)


def _runs(text: str) -> list[Run]:
    """Read the runs of one side."""
    path = Path(text)
    if path.is_dir():
        paths = sorted(path.glob("*.jsonl"))
        if not paths:
            raise InputError("no run files (*.jsonl) in this folder", where=text)
    else:
        paths = [path] if path.exists() else [Path(part) for part in text.split(",")]
    return [read(path) for path in paths]


def _limit(text: str) -> tuple[str, float]:
    """Read ``slower:5%`` for argparse."""
    what, _, number = text.partition(":")
    try:
        limit = float(number.strip().removesuffix("%") or 0) / 100
    except ValueError:
        limit = -1.0
    if what not in ("slower", "faster") or not 0 <= limit < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is neither slower:PERCENT nor faster:PERCENT")
    return what, limit
