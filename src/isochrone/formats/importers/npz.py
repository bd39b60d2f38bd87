"""A NumPy .npz file with the N x N matrices ``avg`` and ``stddev`` in µs, and more if it has them.

Read as ``export --to npz`` writes them; ``hosts`` and ``bytes`` too. Pickled objects are never
loaded: they could run any program.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

import numpy as np

from isochrone.base.errors import InputError
from isochrone.formats.imported_matrices import run_of_matrices
from isochrone.formats.importer import Importer
from isochrone.formats.source import Source
from isochrone.runfile.run import Run

__all__ = ["IMPORTER", "read"]


_NAMES: Final = (
    "avg", "stddev", "median", "min", "p95", "max", "low", "high", "n", "hosts", "bytes",
)  # fmt: skip


def read(path: Path) -> Run:
    """Read the matrices of an .npz file as a latency map.

    Raises
    ------
    InputError
        If it cannot be read, or holds no such matrices.
    """
    source = Source.open(path, "npz")
    content = _load(source)
    names = content.get("hosts")
    known = isinstance(names, np.ndarray) and names.ndim == 1 and names.dtype.kind == "U"
    hosts = [str(name) for name in names.tolist()] if known and names is not None else None
    return run_of_matrices(source, content, hosts, content.get("bytes"))


def _load(source: Source) -> dict[str, Any]:
    """Load the arrays we know; a damaged archive makes NumPy and zipfile raise nearly anything."""
    try:
        archive = np.load(io.BytesIO(source.data), allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise source.fail("one array, not an archive of named arrays")
        with archive:
            return {name: archive[name] for name in _NAMES if name in archive.files}
    except InputError:
        raise
    except Exception as error:
        raise source.fail("not an .npz file, or a damaged one") from error


IMPORTER: Final = Importer(holds="latency-map", read=read)
