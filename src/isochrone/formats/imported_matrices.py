"""Matrices of round trips in µs, as MATLAB and NumPy files hold them, made into a run."""

from collections.abc import Mapping

import numpy as np

from isochrone.base.arrays import Bools, Floats
from isochrone.base.csv_escape import unescaped
from isochrone.formats.imported_map import Pairs, both_ways
from isochrone.formats.source import Source
from isochrone.runfile.run import MAX_MATRIX_RANKS, Run
from isochrone.runfile.table_notes import NOTES

DEFAULT_BYTES = 64
"""The message size of the program mmpi, whose matrices come without it."""

_NAMES = {"avg": "mean"}  # mmpi2mat.py's name of a matrix, and ours
_OTHERS = ("stddev", "min", "median", "p95", "max", "low", "high")


def run_of_matrices(
    source: Source, content: Mapping[str, object], hosts: list[str] | None, nbytes: object
) -> Run:
    """Make a run of the matrices ``avg``, ``stddev`` and what else is known.

    Raises
    ------
    InputError
        If a matrix is missing, or is not a symmetric one of times.
    """
    if "avg" not in content:
        raise source.fail("the file has no matrix 'avg'", hint="it needs 'avg', in µs")
    size = _matrix(source, "avg", content["avg"], None).shape[0]
    if not 2 <= size <= MAX_MATRIX_RANKS:
        raise source.fail(
            f"the map has {size} ranks, outside the limits of 2 to {MAX_MATRIX_RANKS}"
        )
    wanted = [name for name in ("n", "avg", *_OTHERS) if name in content]
    matrices = {name: _matrix(source, name, content[name], size) for name in wanted}
    alike = all(np.array_equal(one, one.T, equal_nan=True) for one in matrices.values())
    i, j = np.nonzero(
        ~np.isnan(matrices["avg"]) & ~np.tri(size, k=0 if alike else -size, dtype=bool)
    )
    i, j = i[i != j], j[i != j]
    message_size = _size_of_messages(source, nbytes)
    columns = {"i": i, "j": j, "bytes": np.full(len(i), message_size, dtype=np.int64)}
    for name, matrix in matrices.items():
        values = matrix[i, j]
        columns[_NAMES.get(name, name)] = values if name == "n" else values / 1e6
    pairs = Pairs(size, {}, columns if alike else both_ways(columns, one_way=NOTES.get().one_way))
    if hosts is not None and len(hosts) == size:
        pairs.hosts = {rank: unescaped(host) for rank, host in enumerate(hosts) if host}
    else:
        source.warn("hosts-unknown", "no valid 'hosts': the hosts of the ranks are unknown")
    counts = np.unique(matrices["n"][i, j]) if "n" in matrices else np.array([np.nan])
    if len(counts) == 1 and counts[0] == counts[0]:
        pairs.repeats = int(counts[0])
    return pairs.run(source)


def _matrix(source: Source, name: str, value: object, size: int | None) -> Floats:
    """Check one matrix: square, real, finite or NaN, not negative. A triangle is mirrored."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise source.fail(f"'{name}' is not a matrix of real numbers")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise source.fail(f"the matrix '{name}' is not square")
    if size is not None and array.shape[0] != size:
        raise source.fail(f"'{name}' is {array.shape[0]} x {array.shape[0]}, 'avg' {size} x {size}")
    matrix = array.astype(np.float64)
    wrong = np.isinf(matrix) | (matrix < 0)
    if name == "n":
        wrong |= (matrix != np.floor(matrix)) & ~np.isnan(matrix) | (matrix > 2**53)
    _refuse(source, name, wrong, "not a count" if name == "n" else "not a time")
    if not (np.tril(matrix, -1).any() and np.triu(matrix, 1).any()):
        matrix = np.fmax(matrix, matrix.T)  # a triangle
    near = np.isclose(matrix, matrix.T, rtol=1e-9, atol=0)
    return np.where(near, np.fmin(matrix, matrix.T), matrix)


def _refuse(source: Source, name: str, wrong: Bools, why: str) -> None:
    """Raise an error for the first element that is wrong."""
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        raise source.fail(f"'{name}' of ranks {i} and {j} is {why}")


def _size_of_messages(source: Source, nbytes: object) -> int:
    """Read the message size, or take the default of the program mmpi with a warning."""
    scalar = np.asarray(nbytes) if nbytes is not None else np.array([])
    if scalar.size == 1 and scalar.dtype.kind in "iuf":
        value = float(scalar.item())
        if value.is_integer() and 0 <= value < 2**53:
            return int(value)
    source.warn("bytes-unknown", f"no valid 'bytes': assumed to be {DEFAULT_BYTES}")
    return DEFAULT_BYTES
