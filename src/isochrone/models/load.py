"""Samples from whatever a user has: runs, paths of run files, or CSV files of measured times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import sha256
from isochrone.models.csv_file import read_csv
from isochrone.models.observations import Samples, joined, of_run
from isochrone.models.regime import Selector
from isochrone.runfile.file import read as read_run
from isochrone.runfile.run import Run

__all__ = ["Measured", "load", "load_usable", "samples_of"]

Measured = Run | Samples | str | Path | Iterable[Run | Samples | str | Path]


def load(paths: Sequence[str | Path]) -> Samples:
    """Read run files and CSV files of measured times.

    Raises
    ------
    InputError
        If one cannot be read, or they do not belong together.
    """
    return joined([_file(path) for path in map(Path, paths)])


def load_usable(
    paths: Sequence[str | Path], **only: Selector | None
) -> tuple[Samples, list[InputError]]:
    """Read the samples that selectors mean from those files that hold some.

    Returns
    -------
    tuple
        The samples, and why a file was left out, one error each.

    Raises
    ------
    InputError
        If a file cannot be read, all are left out, or the others do not belong together.
    """
    parts, left_out = [], []
    for path in map(Path, paths):
        run = read_run(path) if _looks_like_a_run(path) else None
        try:
            parts.append(_file(path, run).only(**only))
        except InputError as error:
            left_out.append(InputError(error.what, where=error.where or str(path)))
            if run is None or len(paths) == 1:
                raise
    if not parts:
        raise InputError(f"none of the {len(left_out)} files can be fitted", hint=str(left_out[0]))
    return joined(parts), left_out


def _file(path: Path, run: Run | None = None) -> Samples:
    if run is None and _looks_like_a_run(path):
        run = read_run(path)
    samples = read_csv(path) if run is None else of_run(run)
    samples.made_from = [{"path": str(path), "sha256": sha256(path)}]
    return samples


def samples_of(measured: Measured) -> Samples:
    """Return the samples of one or several runs, files, or samples that were read already.

    Raises
    ------
    InputError
        If there are none, one cannot be read, or they do not belong together.
    """
    if isinstance(measured, Run | Samples | str | Path):
        return _samples(measured)
    items = list(measured)
    if not items:
        raise InputError("there is nothing to fit")
    return joined([_samples(item) for item in items])


def _samples(item: Run | Samples | str | Path) -> Samples:
    if isinstance(item, Samples):
        return item
    if not isinstance(item, Run):
        return load([item])
    samples = of_run(item)
    if item.path is not None and item.path.is_file():
        samples.made_from = [{"path": str(item.path), "sha256": sha256(item.path)}]
    return samples


def _looks_like_a_run(path: Path) -> bool:
    """Look at the first byte: a run file begins with a JSON object, a CSV with a name."""
    try:
        with path.open("rb") as stream:
            return stream.read(64).lstrip()[:1] == b"{"
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", where=str(path)) from error
