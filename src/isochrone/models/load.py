"""Samples from whatever a user has: runs, paths of run files, or CSV files of measured times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import sha256
from isochrone.models.csv_file import read_csv
from isochrone.models.observations import Samples, joined, of_run
from isochrone.runfile.file import read as read_run
from isochrone.runfile.run import Run

__all__ = ["Measured", "load", "samples_of"]

Measured = Run | Samples | str | Path | Iterable[Run | Samples | str | Path]


def load(paths: Sequence[str | Path]) -> Samples:
    """Read run files and CSV files of measured times.

    Raises
    ------
    InputError
        If one cannot be read, or they do not belong together.
    """
    parts = []
    for path in map(Path, paths):
        samples = of_run(read_run(path)) if _looks_like_a_run(path) else read_csv(path)
        samples.made_from = [{"path": str(path), "sha256": sha256(path)}]
        parts.append(samples)
    return joined(parts)


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
