"""What a command reads: run files, and results of other programs as they are.

A run that did not come to its end is used, and the user is told.
"""

from __future__ import annotations

import sys
from pathlib import Path

from isochrone.base.text import printable, printable_path
from isochrone.runfile.any_file import read
from isochrone.runfile.baseline_folder import read_folder
from isochrone.runfile.rules import below_resolution
from isochrone.runfile.run import NO_END, Run

__all__ = ["earlier_runs", "read", "read_run", "tell_partial"]


def read_run(path: Path) -> Run:
    """Read a run file for a command whose output has no place to say that the run is partial.

    Raises
    ------
    InputError
        As `isochrone.runfile.any_file.read`.
    """
    run = read(path)
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
        print(f"isochrone: left out: {printable(reason, 500)}", file=sys.stderr)
    return runs


def tell_partial(where: str) -> None:
    """Say on standard error that a run did not come to its end."""
    print(f"isochrone: {printable_path(where)}: partial run: {NO_END}", file=sys.stderr)
