"""A NumPy .npz file with the N x N matrices ``avg`` and ``stddev`` in µs, and more if it has them.

Read as ``export --to npz`` writes them; ``hosts`` and ``bytes`` too. Pickled objects are never
loaded: they could run any program.
"""

import io
import re
import sys
import zipfile
from math import prod
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from isochrone.base.arrays import Array
from isochrone.base.errors import InputError
from isochrone.formats.imported_matrices import run_of_matrices
from isochrone.formats.source import Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run

_NAMES = (
    "avg",
    "stddev",
    "median",
    "min",
    "p95",
    "max",
    "low",
    "high",
    "n",
    "hosts",
    "bytes",
)

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
"""Readers of headers; later versions are of arrays with fields only."""

_LARGEST_HEADER = 1 << 16


def read(path: Path) -> Run:
    """Read the matrices of an .npz file as a latency map.

    Raises
    ------
    InputError
        If it cannot be read, or holds no such matrices.
    """
    source = Source.open(path, "npz")
    content = _load(source)
    return run_of_matrices(source, content, _hosts(content), content.get("bytes"))


def _hosts(content: dict[str, Array]) -> list[str] | None:
    """Return the names, if there are some."""
    names = content.get("hosts")
    if names is None or names.ndim != 1 or names.dtype.kind != "U":
        return None
    native = names.astype(names.dtype.newbyteorder("="))
    if native.view(np.uint32).max(initial=0) > sys.maxunicode:  # no text
        return None
    return [str(name) for name in native.tolist()]


def _load(source: Source) -> dict[str, Array]:
    """Load the arrays we know; a damaged archive makes NumPy and zipfile raise nearly anything."""
    if source.data.startswith(npy.MAGIC_PREFIX):
        raise source.fail("the file has a single array, not named arrays")
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            wanted = {name: entries[f"{name}.npy"] for name in _NAMES if f"{name}.npy" in entries}
            return {name: _array(archive, entry, source) for name, entry in wanted.items()}
    except InputError:
        raise
    except Exception as error:
        raise source.fail("the file is not an .npz file, or damaged") from error


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, source: Source) -> Array:
    """Load an array that is as large as it claims to be.

    Raises
    ------
    InputError
        If it is larger, or too large.
    ValueError
        If it is compressed or written in another way than NumPy does.
    """
    if entry.file_size > source.most() + _LARGEST_HEADER:
        raise source.too_much()
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError
    with archive.open(entry) as stream:
        shape, _, dtype = _HEADERS[npy.read_magic(stream)](stream)
        if prod(shape) * dtype.itemsize > entry.file_size:
            raise source.fail(f"the size of '{entry.filename}' is wrong")
        if prod(shape) * max(8, dtype.itemsize) > source.most():
            raise source.too_much()
    with archive.open(entry) as stream:
        return np.asarray(npy.read_array(stream, allow_pickle=False))


IMPORTER = Importer(
    holds="latency-map",
    read=read,
    says="a NumPy file",
    signature=re.compile(rb"\APK\x03\x04.{26}[\w-]+\.npy", re.DOTALL),
)
