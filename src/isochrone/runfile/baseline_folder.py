"""A folder of earlier runs: each file once, named by its date and the hash of what is in it."""

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from isochrone.base.errors import InputError, similar_file
from isochrone.base.files import sha256
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.runfile.file import read
from isochrone.runfile.run import NO_END, Run


class Added(Record):
    """What became of one file.

    Attributes
    ----------
    source
        The file that was given.
    path
        Its copy in the folder.
    new
        Whether it was copied now; false if the folder had the same content already.
    """

    source: Path
    path: Path
    new: bool


def files(folder: Path) -> list[Path]:
    """List the run files of a folder, the oldest first if they have the names of `add`.

    Raises
    ------
    InputError
        If there is no such folder.
    """
    if not folder.is_dir():
        problem = "it is not a folder" if folder.exists() else "there is no such folder"
        hint = similar_file(folder) or "to create one: isochrone baseline add FOLDER RUN"
        raise InputError(problem, where=folder, hint=hint)
    return sorted(path for path in folder.glob("*.jsonl") if path.is_file())


def read_folder(folder: Path) -> tuple[list[Run], list[InputError]]:
    """Read all runs of a folder; also return why files could not be read.

    One damaged file does not make all others worthless.

    Raises
    ------
    InputError
        If there is no such folder.
    """
    runs, errors = [], []
    for path in files(folder):
        try:
            runs.append(read(path))
        except InputError as error:
            errors.append(error)
    return runs, errors


class Others:
    """The runs of a folder, of which those with the content of a judged file do not count."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = list(runs)
        paths = [run.path for run in runs if run.path is not None]
        self._of_size = grouped((path.stat().st_size, path) for path in paths)
        self._hashes: dict[Path, str] = {}

    def but(self, judged: Path | None) -> list[Run]:
        """Return the runs but those whose files have the same content as this one."""
        if judged is None:
            return self.runs
        alike = self._of_size.get(judged.stat().st_size, [])
        digest = self._hash(judged) if alike else ""
        same = {path for path in alike if self._hash(path) == digest}
        return [run for run in self.runs if run.path not in same] if same else self.runs

    def _hash(self, path: Path) -> str:
        if path not in self._hashes:
            self._hashes[path] = sha256(path)
        return self._hashes[path]


def _same(path: Path, other: Path) -> bool:
    """Whether two files have the same content."""
    return path.stat().st_size == other.stat().st_size and sha256(path) == sha256(other)


def add(folder: Path, runs: Sequence[Run]) -> list[Added]:
    """Copy run files into a folder, which is made if need be; all of them are checked before.

    A copy appears whole or not at all, and no file of the folder is ever overwritten.

    Raises
    ------
    InputError
        If a run is not complete, or cannot be copied.
    """
    for run in runs:
        if not run.complete:
            raise InputError(
                f"partial runs cannot be added to a baseline: {NO_END}",
                where=run.where,
                hint="measure again",
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_add(folder, run) for run in runs]
    except OSError as error:
        raise InputError(
            f"cannot create or write it: {error.strerror}", where=error.filename or folder
        ) from error


def remove(folder: Path, names: Sequence[Path]) -> list[Path]:
    """Delete files of a folder, each named as it is there, or by a file of the same content.

    Raises
    ------
    InputError
        If one is not there; nothing is deleted then.
    """
    stored, removed = files(folder), []
    for name in names:
        matching = [path for path in stored if path.name == str(name) or path == name]
        matching = matching or [path for path in stored if name.is_file() and _same(path, name)]
        if not matching:
            raise InputError(
                "the baseline has no such run",
                where=folder / name.name,
                hint=f"isochrone baseline list {folder}",
            )
        removed += matching
    for path in removed:
        path.unlink(missing_ok=True)
    return removed


def _add(folder: Path, run: Run) -> Added:
    assert run.path is not None
    source = run.path
    import tempfile  # not needed to read

    handle, name = tempfile.mkstemp(dir=folder, prefix=".", suffix=".partial")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as target, source.open("rb") as origin:
            shutil.copyfileobj(origin, target)
        partial.chmod(0o644)
        short = sha256(partial)[:16]
        stored = sorted(folder.glob(f"*-{short}.jsonl"))
        if stored:
            return Added(source, stored[0], new=False)
        path = folder / f"{_date(run)}-{short}.jsonl"
        partial.replace(path)
        return Added(source, path, new=True)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _date(run: Run) -> str:
    """Return the start of a run as a part of a file name: it comes from elsewhere."""
    digits = re.sub("[^0-9]", "", run.about.started.partition("+")[0].partition(".")[0])
    if len(digits) < 14:
        return "undated"
    return f"{digits[:8]}T{digits[8:14]}"
