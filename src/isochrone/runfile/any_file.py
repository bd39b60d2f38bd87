"""A file of measured times of any program: a run file, or a format of an importer.

Which one it is, is seen in its beginning and never in its name.
"""

from collections.abc import Sequence
from pathlib import Path

from isochrone.base.errors import InputError, failing
from isochrone.base.text import listed
from isochrone.runfile import file as runs
from isochrone.runfile import importer as importers
from isochrone.runfile.file_type import import_format
from isochrone.runfile.importer import Wanted
from isochrone.runfile.run import Run

EVERYTHING = Wanted()
"""All results of a file."""

_LISTED_TESTS = 8
"""Tests that an error names."""


def foreign(path: Path) -> str:
    """Return the import format of a file; empty of a run file, and of what is not known."""
    with failing("the file cannot be read", path):
        return import_format(path) if path.is_file() else ""  # a pipe can be read only once


def read(path: str | Path, ranks: int | None = None) -> Run:
    """Read a run file, or the output of another program as `isochrone import` does.

    Parameters
    ----------
    path
        The file.
    ranks
        Number of ranks, for output of other programs that does not contain it.

    Raises
    ------
    InputError
        If it cannot be read, is damaged, or of no known format.
    """
    return read_one(path, Wanted(ranks=ranks))


def read_one(path: str | Path, wanted: Wanted) -> Run:
    """Read the only run that is wanted; errors as of `read_all`, and if there are several."""
    all_runs = read_all(path, wanted)
    if len(all_runs) > 1:
        raise several(all_runs)
    return all_runs[0]


def read_all(path: str | Path, wanted: Wanted = EVERYTHING) -> list[Run]:
    """Read all runs in a file: one in a run file, several in a log of another program.

    Raises
    ------
    InputError
        As of `read`, and if there is nothing that is wanted.
    """
    path = Path(path)
    name = foreign(path)
    return importers.load(name).all_runs(path, wanted) if name else [runs.read(path)]


def tests_of(run: Run) -> str:
    """Return the names of the tests in an imported run."""
    return str(run.header.get("imported", {}).get("tests", run.experiment))


def several(all_runs: Sequence[Run]) -> InputError:
    """Return the error to raise if one run of several in a file is needed."""
    tests = [*dict.fromkeys(test for run in all_runs for test in tests_of(run).split(", "))]
    return InputError(
        f"the file has several tests: {listed(tests, _LISTED_TESTS)}",
        where=all_runs[0].where,
        hint=f"choose: --test {tests[0]}",
    )
