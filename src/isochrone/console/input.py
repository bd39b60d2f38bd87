"""What a command reads: run files, and results of other programs as they are.

A run that did not come to its end is used, and the user is told.
"""

from collections.abc import Iterable
from glob import glob
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import warn, whole_number
from isochrone.runfile.any_file import read
from isochrone.runfile.baseline_folder import read_folder
from isochrone.runfile.rules import below_resolution
from isochrone.runfile.run import NO_END, Run

__all__ = ["earlier_runs", "files_of", "read", "read_run", "tell_partial"]


def files_of(names: Iterable[str | Path]) -> list[Path]:
    """Return the run files that names stand for.

    A folder is all in it (or in folders of it), and ``run.jsonl``, if there is no such file, the
    ``run-1.jsonl``, ``run-2.jsonl`` … of ``measure --launches``. A pattern such as ``run-*.jsonl``,
    which the shell did not replace, is all that match.

    Raises
    ------
    InputError
        If a folder holds none.
    """
    return [file for name in names for file in _files(Path(name))]


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(path.glob("*.jsonl")) or sorted(path.glob("*/*.jsonl"))
        if not found:
            raise InputError("the folder contains no run files (*.jsonl)", where=path)
        return found
    if not path.exists() and path.parent.is_dir():
        numbered = path.parent.glob(f"{path.stem}-*{path.suffix}")
        launches = {file.stem.removeprefix(f"{path.stem}-"): file for file in numbered}
        counted = {
            number: file for text, file in launches.items()
            if (number := whole_number(text)) is not None
        }  # fmt: skip
        if counted:
            return [counted[number] for number in sorted(counted)]
        # of pathlib, an odd pattern raises
        return [*map(Path, sorted(glob(str(path))))] or [path]  # noqa: PTH207
    return [path]


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
        warn(f"skipped: {reason}", 510)
    return runs


def tell_partial(where: str) -> None:
    """Say on standard error that a run did not come to its end."""
    warn(f"{where}: partial run: {NO_END}", 5000)
