"""Square matrices in a text, such as the output of a benchmark, with what stands above them.

A matrix has a row for each of its columns, or is half of that: a triangle. Names of the columns may
be above it, those of the rows before them. Between the cells are commas, semicolons, tabs or
blanks. A matrix without names differs from a table of numbers by its shape: as many rows as
columns, and no other names right above it.
"""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Floats
from isochrone.base.record import Record

MIN_MATRIX_ROWS = 3
"""Rows of a matrix without names; two lines of two numbers may be anything."""

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_UNKNOWN = {"", "n/a", "na", "nan", "-", "x", "inf"}
"""Cells of pairs that were not measured."""

_DIRECTION = re.compile(r" (?:to|from)$")
"""What mpiGraph appends to the names of rows."""

Row = list[str]


class TextMatrix(Record):
    """A square matrix of a text.

    Attributes
    ----------
    title
        The line of text above it, and the word in its corner.
    names
        Of its columns; empty if it has none.
    values
        Of shape (N, N); NaN where a cell is empty or not a number.
    line
        Number of the first line of its rows.
    """

    title: str
    names: tuple[str, ...]
    values: Floats
    line: int


def matrices_in(text: str, *, whole: bool = True) -> Iterator[TextMatrix]:
    """Yield the square matrices of a text in their order.

    Parameters
    ----------
    text
        The text.
    whole
        If not, the text is the beginning of a file, and its last matrix may have more rows.
    """
    rows = [_cells(line) for line in text.splitlines()]
    title, at = "", 0
    while at < len(rows):
        found = _with_names(rows, at, whole=whole) or _without_names(rows, at, whole=whole)
        if found:
            matrix, at = found
            yield replace(matrix, title=f"{title} {matrix.title}".strip())
        else:
            if not all(map(_is_value, rows[at])):
                title = " ".join(rows[at])
            at += 1


def _cells(line: str) -> Row:
    """Split a line; an empty one has no cells."""
    for mark in ",;":
        if mark in line:
            return [cell.strip().strip('"') for cell in line.split(mark)]
    by_tabs = [cell.strip() for cell in line.rstrip().split("\t")]
    if len(by_tabs) > 1 and not any(" " in cell for cell in by_tabs[1:]):
        return by_tabs
    name, *cells = line.split() or [""]
    if cells[:1] in (["to"], ["from"]):
        return [f"{name} {cells[0]}", *cells[1:]]
    return line.split()


def _is_value(cell: str) -> bool:
    return cell.lower() in _UNKNOWN or _NUMBER.fullmatch(cell) is not None


def _with_names(rows: Sequence[Row], at: int, *, whole: bool) -> tuple[TextMatrix, int] | None:
    """Read a matrix whose rows have the names of its columns, which are in line ``at``."""
    # pandas prints the name of the rows in a line of its own
    alone = rows[at + 1] if at + 1 < len(rows) else []
    first = at + 1 + (len(alone) == 1 and alone[0] not in rows[at] and not _is_value(alone[0]))
    for corner in (1, 0):
        names = rows[at][corner:]
        body = rows[first : first + len(names)]
        if len(names) < 2 or not all(names) or len(body) < (len(names) if whole else 2):
            continue
        title = rows[at][0] if corner and rows[at][0].isalpha() else ""
        numbers = any(map(_is_value, names)) and names not in _numberings(len(names))
        if (numbers and not title) or _NUMBER.fullmatch("".join(rows[at][:corner])):
            continue  # times: the first row of a symmetric matrix is as its first column
        named = [_DIRECTION.sub("", row[0]) if row else "" for row in body]
        if named == names[: len(body)]:
            values = _square([row[1:] for row in body], len(names))
            if values is not None:
                return TextMatrix(title, tuple(names), values, first + 1), first + len(body)
    return None


def _numberings(count: int) -> tuple[list[str], list[str]]:
    """Return the names of numbered ranks: from 0 on, or from 1."""
    return [str(k) for k in range(count)], [str(k) for k in range(1, count + 1)]


def _without_names(rows: Sequence[Row], at: int, *, whole: bool) -> tuple[TextMatrix, int] | None:
    """Read a matrix that begins in line ``at`` and ends where its numbers do."""
    above = rows[at - 1] if at else []
    if len(above) > 1 and all(map(_is_value, above[1:])):
        return None  # within other numbers
    labels = int(not all(map(_is_value, rows[at])))
    body = [*takewhile(lambda row: row[labels:] and all(map(_is_value, row[labels:])), rows[at:])]
    end = at + len(body)
    if not labels and len({*map(len, body)}) == 1 and len(body) + 1 == len(body[0]):
        labels = [row[0] for row in body] in _numberings(len(body))
    names = [row[0] for row in body] if labels else []
    cells = [row[labels:] for row in body]
    count = max(map(len, cells), default=0)
    if len(body) < MIN_MATRIX_ROWS - 1 or len({*names}) < len(names):
        return None
    if any(name.endswith(":") and not name[:-1].isdecimal() for name in names):
        return None  # quantities, such as those of STREAM
    if len(cells) < count and len(cells[0]) == len(cells[-1]) and (whole or end < len(rows)):
        return None
    lower = len(cells[0]) == 1
    if (lower or len(cells[-1]) == 1) and any(float(_value(row[-lower])) > 0 for row in cells):
        count += 1  # what would be the diagonal is measured: it is left out
    values = _square(cells, count) if count >= MIN_MATRIX_ROWS else None
    if values is None:
        return None
    if len(above) in (count, count + 1) and not all(map(_is_value, above[1:])):
        if any(np.nan_to_num(values.diagonal())):
            return None  # the columns of a table have names, too
        names = above[-count:]
    return TextMatrix("", tuple(names), values, at + 1), end


def _value(cell: str) -> float:
    return math.nan if cell.lower() in _UNKNOWN else float(cell)


def _square(cells: Sequence[Row], count: int) -> Floats | None:
    """Put rows into a square of so many columns; None if they do not fit or are no numbers.

    Rows may be those of a triangle below or above the diagonal, with or without it.
    """
    sizes = [len(row) for row in cells]
    down, up = [*range(1, count + 1)], [*range(count, 0, -1)]
    shapes = {  # the row of the first line, and whether lines end at the last column
        (count,) * min(len(cells), count): (0, False),
        (*down,): (0, False),
        (*down[:-1],): (1, False),
        (0, *down[:-1]): (0, False),
        (*up,): (0, True),
        (*up[1:],): (0, True),
        (*up[1:], 0): (0, True),
    }
    shape = shapes.get(tuple(sizes))
    if shape is None or not all(_is_value(cell) for row in cells for cell in row):
        return None
    first, at_end = shape
    values = np.full((max(count, len(cells)), count), np.nan)
    for k, row in enumerate(cells, first):
        at = count - len(row) if at_end else 0
        values[k, at : at + len(row)] = [*map(_value, row)]
    return values
