"""A file of measured times of any program: a run file, or a format of an importer.

Which one it is, is seen in its beginning and never in its name.
"""

from pathlib import Path

from isochrone.base.errors import failing
from isochrone.runfile import file as runs
from isochrone.runfile import importer as importers
from isochrone.runfile.file_type import import_format
from isochrone.runfile.run import Run


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
    path = Path(path)
    name = foreign(path)
    if not name:
        return runs.read(path)
    return importers.load(name).run(path, ranks)
