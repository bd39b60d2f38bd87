"""What a command reads: run files, and results of other programs as they are.

A run that did not come to its end is used, and the user is told.
"""

import atexit
import shutil
import sys
import tempfile
from argparse import Namespace, _ActionsContainer
from collections.abc import Iterable
from functools import cache
from glob import glob
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import warn, whole_number
from isochrone.console.options import add_option, count_of, hide, words_in
from isochrone.runfile.any_file import EVERYTHING, foreign, read, read_all, read_one
from isochrone.runfile.baseline_folder import read_folder
from isochrone.runfile.importer import Wanted
from isochrone.runfile.rules import below_resolution
from isochrone.runfile.run import NO_END, Run

__all__ = [
    "add_tests",
    "earlier_runs",
    "files_of",
    "read",
    "read_all",
    "read_one",
    "read_run",
    "tell_partial",
    "wanted",
]

STANDARD_INPUT = "-"


def add_tests(
    parser: _ActionsContainer, *, op: bool = True, ranks: bool = True, hidden: bool = True
) -> None:
    """Add the options that choose results of a log: ``--test``, ``--op`` and ``--ranks``."""
    add_option(
        parser,
        "--test",
        "TEST,…",
        words_in,
        "log of other programs: only these tests, such as osu_latency or PingPong (default: all)",
        dest="tests",
        default=[],
    )
    if op:
        add_option(
            parser,
            "--op",
            "OP,…",
            words_in,
            "log of other programs: only these operations, such as bcast; also that of a table "
            "that names none (default: all)",
            default=[],
        )
    if ranks:
        add_option(
            parser,
            "--ranks",
            "N",
            count_of("ranks", 1_000_000),
            "log of other programs: number of ranks where it is missing, else only results of so "
            "many ranks (default: from the file)",
            dest="rank_count",
        )
    if hidden:
        hide(parser, "--test", *["--op"] * op, *["--ranks"] * ranks)


def wanted(args: Namespace, *, launches: bool = False) -> Wanted:
    """Return what the options of `add_tests` choose; ``launches`` as of `Wanted`."""
    ops = getattr(args, "op", None) or ()
    return Wanted(
        args.tests,
        (ops,) if isinstance(ops, str) else ops,
        getattr(args, "rank_count", None),
        launches,
    )


def files_of(names: Iterable[str | Path]) -> list[Path]:
    """Return the run files that names stand for.

    A folder is all in it (or in folders of it), and ``run.jsonl``, if there is no such file, the
    ``run-1.jsonl``, ``run-2.jsonl`` … of ``measure --launches``. A pattern such as ``run-*.jsonl``,
    which the shell did not replace, is all that match. ``-`` is standard input.

    A folder without run files is its results of other programs.

    Raises
    ------
    InputError
        If a folder holds none.
    """
    return [file for name in names for file in _files(Path(name))]


def _files(path: Path) -> list[Path]:
    if str(path) == STANDARD_INPUT and not path.exists():
        return [_standard_input()]
    if path.is_dir():
        paths = sorted(path.glob("*.jsonl")) or sorted(path.glob("*/*.jsonl"))
        paths = paths or [file for file in sorted(path.iterdir()) if foreign(file)]
        if not paths:
            raise InputError(
                "the folder contains neither run files (*.jsonl) nor results of other programs",
                where=path,
            )
        return paths
    if not path.exists() and path.parent.is_dir():
        numbered = path.parent.glob(f"{path.stem}-*{path.suffix}")
        launches = {file.stem.removeprefix(f"{path.stem}-"): file for file in numbered}
        counted = {
            launch: file
            for text, file in launches.items()
            if (launch := whole_number(text)) is not None
        }
        if counted:
            return [counted[launch] for launch in sorted(counted)]
        # of pathlib, an odd pattern raises
        return [*map(Path, sorted(glob(str(path))))] or [path]  # noqa: PTH207
    return [path]


@cache
def _standard_input() -> Path:
    """Return a file with all of standard input, which is read several times; it is temporary."""
    folder = Path(tempfile.mkdtemp(prefix="isochrone-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "stdin"
    with path.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    return path


def read_run(path: Path, which: Wanted = EVERYTHING) -> Run:
    """Read a run for a command whose output has no place to say that the run is partial.

    Raises
    ------
    InputError
        As `isochrone.runfile.any_file.read_all`, and if there are several.
    """
    run = read_one(path, which)
    if not run.complete:
        tell_partial(str(path))
    return run


def earlier_runs(folder: Path) -> list[Run]:
    """Read the runs of a folder; say which are left out: unreadable, or with times of 0.

    Raises
    ------
    InputError
        If there is no such folder.
    """
    runs, errors = read_folder(folder)
    zeros = (f"{run.where}: {why}" for run in runs if (why := below_resolution(run)))
    for reason in (*errors, *zeros):
        warn(f"skipped: {reason}", 510)
    return runs


def tell_partial(where: str) -> None:
    """Say on standard error that a run did not come to its end."""
    warn(f"{where}: partial run: {NO_END}", 5000)
