"""Tables as text: where the names of the columns are, what stands between them, and the rows.

The names are in the first line. Lines that begin with ``#`` may precede it, or the last of them is
it: what follows is numbers then. Between the columns are commas, semicolons, tabs or blanks.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from isochrone.base.errors import InputError

BLANK = " "
"""Stands between columns that any number of blanks or tabs separate."""

_SEPARATORS = (";", "\t", ",")
_LONGEST = 1 << 16
"""Characters of a line by which it is seen what separates columns."""

_WIDE = re.compile(r"\s{2,}|\t")
"""Between names of several words."""


@dataclass(frozen=True)
class TextTable:
    """The names of the columns, what separates them, and the rows with the numbers of their lines.

    The rows can be gone through once; empty lines are none.
    """

    names: list[str]
    mark: str
    rows: Iterator[tuple[int, list[str]]]


def decoded(data: bytes, where: str) -> str:
    """Return the text of a file; in Latin-1, which is tried after UTF-8, any byte is a character.

    Raises
    ------
    InputError
        If it is no text, or UTF-16.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("the file is text in UTF-16", where=where, hint="save it as UTF-8")
    if b"\0" in data:
        raise InputError("the file is not a text file", where=where)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def table_of(text: str, where: str) -> TextTable:
    """Find the names and rows of a table; ``where`` names it in errors.

    Raises
    ------
    InputError
        If it is not clear what separates the columns; later, if a row is not valid CSV.
    """
    stream = io.StringIO(text, newline="")
    header, line, count = "", "", 0
    for line in filter(_advance := _Lines(), stream):
        if not line.startswith("#"):
            break
        header, line = line[1:], ""
    if line and not (header and _has_number(line)):
        header, line = line, next(filter(_advance, stream), "")
    count = _advance.count - bool(line)
    mark = separator_of(header[:_LONGEST], line[:_LONGEST], where)
    body = chain([line] if line else [], stream)
    if mark == BLANK:
        return TextTable(_blank_names(header, line), mark, _blank_rows(body, count))
    names = next(csv.reader([header], delimiter=mark), [])
    return TextTable([name.strip() for name in names], mark, _rows(body, mark, count, where))


class _Lines:
    """Counts lines, and tells those that are not empty."""

    count = 0

    def __call__(self, line: str) -> bool:
        self.count += 1
        return bool(line.strip())


def _rows(
    body: Iterator[str], mark: str, count: int, where: str
) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(body, delimiter=mark)
    try:
        for row in reader:
            if row:
                yield count + reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise InputError(f"the file is not valid CSV: {error}", where=where) from error


def _blank_rows(body: Iterator[str], count: int) -> Iterator[tuple[int, list[str]]]:
    for line_number, line in enumerate(body, count + 1):
        if (fields := line.split()) and not fields[0].startswith("#"):
            yield line_number, fields


def _blank_names(header: str, line: str) -> list[str]:
    """Split names at wide gaps, unless single blanks make as many names as there are values."""
    names, fields = _WIDE.split(header.strip()), header.split()
    values = len(line.split())
    return fields if len(fields) == values or len(names) == 1 else names


def _has_number(line: str) -> bool:
    for field in re.split(r"[,;\s]+", line):
        try:
            float(field)
        except ValueError:
            continue
        return True
    return False


def separator_of(first: str, second: str, where: str) -> str:
    """Return what stands between the columns.

    Parameters
    ----------
    first, second
        The line that names the columns, and the first with values; it may be empty.
    where
        Names the table in errors.

    Raises
    ------
    InputError
        If two would do.
    """
    marks = [mark for mark in _SEPARATORS if mark in first.strip()]
    if "\t\t" in first or (not marks and len((second or first).split()) > 1):
        return BLANK
    marks = marks or [","]
    fitting = [
        mark
        for mark in marks
        if not second or len({len(row) for row in csv.reader([first, second], delimiter=mark)}) == 1
    ]
    if len(marks) > 1 and len(fitting) != 1:
        listed = " or ".join(f"'{mark}'" if mark != "\t" else "tabs" for mark in marks)
        raise InputError(
            f"the separator of the columns is ambiguous: {listed}",
            where=where,
            hint="use column names without these characters",
        )
    return (fitting or marks)[0]
