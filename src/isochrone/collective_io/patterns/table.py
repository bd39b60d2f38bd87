"""Any access pattern: a file with lines ``rank,offset,length[,count,stride]``, in bytes."""

import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isochrone.base.errors import InputError, located
from isochrone.base.files import read_bytes
from isochrone.collective_io.workload import Ints
from isochrone.collective_io.workload.accesses import MAX_OFFSET, MAX_RANKS, Accesses, made
from isochrone.collective_io.workload.pattern import Option, Options, Pattern

COLUMNS = ("rank", "offset", "length", "count", "stride")

_HEADING = re.compile(rb"\s*rank[ ,\t]+offset[ ,\t]+length([ ,\t]+count[ ,\t]+stride)?\s*")


def read(path: Path, ranks: int = 0) -> Accesses:
    """Read a table: three or five whole numbers a line, with commas or blanks.

    ``#`` begins a comment; a header line is allowed. With five, a line is ``count`` pieces that
    begin ``stride`` bytes apart.

    Parameters
    ----------
    path
        The file.
    ranks
        Of the job; those missing in the table access nothing.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not an access.
    """
    data = read_bytes(path)
    columns = _plain(data)
    if columns is None:
        columns = _line_by_line(data, path)
    with located(str(path)):
        return made(*columns, ranks=ranks)


def _plain(data: bytes) -> Ints | None:
    """Return the columns of a valid table; None if it may be invalid."""
    text = re.sub(rb"#[^\n]*", b"", data)
    first, end, remainder = text.lstrip().partition(b"\n")
    body = remainder if _HEADING.fullmatch(first) else first + end + remainder
    # digits only: int() and numpy would take signs and underscores, too
    if not body.strip(b", \t\r\n") or body.translate(None, b"0123456789, \t\r\n"):
        return None
    try:
        lines = io.StringIO(body.replace(b",", b" ").decode("ascii"))
        columns = np.loadtxt(lines, dtype=np.int64, ndmin=2).T
    except ValueError:  # lines of different lengths, or a number beyond 64 bits
        return None
    if len(columns) not in (3, 5) or not _possible(*columns):
        return None
    return np.ascontiguousarray(columns)


def _possible(
    rank: Ints, offset: Ints, length: Ints, count: Ints | None = None, stride: Ints | None = None
) -> bool:
    """Whether all lines are accesses, as `_access` checks individually."""
    possible = rank.max() < MAX_RANKS and max(offset.max(), length.max()) <= MAX_OFFSET
    if not possible or count is None or stride is None:
        return bool(possible and (offset + length).max() <= MAX_OFFSET)
    # a product beyond 64 bits is caught as a float
    reach = offset.astype(float) + (count - 1).astype(float) * stride + length
    several = count > 1
    return bool(count.min() > 0 and stride[several].all() and reach.max() < MAX_OFFSET * 0.99)


def _line_by_line(data: bytes, path: Path) -> Ints:
    """Return the columns of any table, or raise an error with the invalid line."""
    accesses: list[tuple[int, ...]] = []
    for line_number, line in enumerate(
        data.decode("utf-8", errors="replace").splitlines(), start=1
    ):
        fields = line.partition("#")[0].replace(",", " ").split()
        if fields and not (not accesses and fields in (list(COLUMNS[:3]), list(COLUMNS))):
            accesses.append(_access(fields, f"{path}:{line_number}"))
    if not accesses:
        raise InputError("the table has no accesses", where=path, hint="write rank,offset,length")
    return np.array(accesses, dtype=np.int64).T


def _access(fields: Sequence[str], where: str) -> tuple[int, ...]:
    digits = all(w.isascii() and w.isdigit() and len(w) < 20 for w in fields)
    if len(fields) not in (3, 5) or not digits:
        raise InputError(
            "the line is not rank,offset,length[,count,stride]",
            where=where,
        )
    rank, offset, length, count, stride = (*map(int, fields), 1, 0)[:5]
    if rank >= MAX_RANKS or offset + max(count - 1, 0) * stride + length > MAX_OFFSET:
        raise InputError("a rank or an offset is out of range", where=where)
    if count == 0 or (count > 1 and stride == 0):
        raise InputError(
            "the pieces of this line overlap, or their count is 0",
            where=where,
            hint="give a count above 0 and a stride of at least the length",
        )
    return rank, offset, length, count, stride


def _make(options: Options, ranks: int) -> Accesses:
    """Return the table of a file, or what was read from a recording already."""
    table = options["table"]
    return table if isinstance(table, Accesses) else read(table, ranks)


PATTERN = Pattern(
    option=Option(
        "--table",
        "table with lines of rank,offset,length[,count,stride] (bytes), or recording of "
        "isochrone record --collective-io",
        "FILE",
        Path,
    ),
    make=_make,
    position=50,
)
