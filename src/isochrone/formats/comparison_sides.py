"""The sides of a comparison, sorted by what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from isochrone.base.errors import InputError
from isochrone.base.table import grouped
from isochrone.changes.comparability import thing
from isochrone.console.input import files_of
from isochrone.runfile.any_file import read
from isochrone.runfile.file_type import looks_like_a_run
from isochrone.runfile.run import Run

if TYPE_CHECKING:
    from isochrone.formats.foreign_results import Reading


class Pairing(NamedTuple):
    """Comparable launches on both sides, named by their files or by what they measured."""

    name: str
    before: list[Run]
    after: list[Run]


def runs_of(*texts: str, reading: Reading | None = None) -> list[Run]:
    """Read the runs of one side, each file once.

    Parameters
    ----------
    texts
        Each a run file, a folder of them (or of folders of them), several joined by commas, or a
        name ``run.jsonl`` that stands for ``run-1.jsonl``, ``run-2.jsonl`` … of
        ``measure --launches``.
    reading
        How files are read that are no run files; None as what they seem to be.

    Raises
    ------
    InputError
        If there are none, or one cannot be read.
    """
    lists = ([text] if Path(text).exists() else text.split(",") for text in texts)
    names = [name for side_names in lists for name in side_names]
    files = files_of(names)
    once = {file.resolve(): file for file in files}.values()
    return [run for file in once for run in _runs(file, reading)]


def _runs(file: Path, reading: Reading | None) -> list[Run]:
    if looks_like_a_run(file):
        return [read(file)]
    from isochrone.formats.foreign_results import AS_IT_IS  # tables take long to import

    return (reading or AS_IT_IS).runs(file)


def paired(before: list[Run], after: list[Run]) -> tuple[list[Pairing], list[str]]:
    """Sort both sides by what was measured.

    Returns
    -------
    list of Pairing, list of str
        One if both sides hold one thing each, alike or not; else those that both have, and the
        files that only one side has.

    Raises
    ------
    InputError
        If both hold several things, and none in common.
    """
    left, right = (
        grouped(((thing(run), _operations(run)), run) for run in side) for side in (before, after)
    )
    if len(left) == len(right) == 1:
        return [Pairing("", before, after)], []
    common = [key for key in left if key in right]
    if not common:
        raise InputError(
            "A and B have no comparable runs",
            where=after[0].where,
            hint="experiment, ranks, preset and mode must agree",
        )
    unpaired = [run for key in left.keys() ^ right.keys() for run in (left | right)[key]]
    pairings = {}
    for key in common:
        name = _name(left[key], right[key])
        while name in pairings:
            name += "'"
        pairings[name] = Pairing(name, left[key], right[key])
    return sorted(pairings.values()), sorted(run.where for run in unpaired)


def _operations(run: Run) -> tuple[str, ...]:
    """Return the operations of an imported run: others in another file are no other launch."""
    samples = run.tables.get("sample")
    if run.about.imported is None or samples is None or "op" not in samples:
        return ()
    return tuple(sorted({str(op) for op in samples["op"].tolist()}))


def _name(before: list[Run], after: list[Run]) -> str:
    """Return the name their files share, or what they measured."""
    names = {Path(run.where).name for run in (*before, *after)}
    first = before[0]
    return (
        names.pop()
        if len(names) == 1
        else (f"{first.notes.get('preset', first.experiment)}-{first.size}")
    )
