"""Measurements of one's own: a CSV with the columns ``op,p,b,seconds`` or those of a hot spot."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.cells import text_of
from isochrone.base.errors import InputError
from isochrone.base.files import check_ordinary
from isochrone.base.table import SparseError, Table, refuse_uneven
from isochrone.base.text import printable
from isochrone.base.units import parse_bytes
from isochrone.models.observations import SELECTORS, TABLE, Samples, from_columns
from isochrone.models.own_columns import AS_NAMED, Columns
from isochrone.models.separators import separator_of, with_points
from isochrone.models.terms import VARIABLES
from isochrone.runfile.origin import GIVEN, together
from isochrone.runfile.samples import MARKS, counted

__all__ = ["NUMBERS", "number", "read_csv", "samples_of_columns"]

NUMBERS: Final = {*VARIABLES, "seconds", "bytes", "ranks", "window", "hot"}
"""Columns of numbers."""

_PARTNERS: Final = ("i", "j", "pairs")
"""What else tells points apart; no variables of a model."""

_COUNTS: Final = ("repeat", "pass", "rate")
"""What `export --to csv` writes of a repetition: its number, and its time in another form."""

_STARTS: Final = ("launch", "run")
"""Columns that tell starts of the job apart; ``run`` if it is not the number of a repetition."""

_ORIGIN: Final = "origin"
"""The column in which `export --to csv` says where the times come from."""

_KNOWN: Final = {*NUMBERS, *SELECTORS, *_PARTNERS, *MARKS, _ORIGIN}

MAX_ORIGIN: Final = 60
MAX_ROWS: Final = 10_000_000

_LONGEST: Final = 1 << 16
"""Characters of a line by which it is seen what separates columns."""


def read_csv(path: Path, own: Columns = AS_NAMED) -> Samples:
    """Read a CSV; its first line names the columns, ``own`` what they are if not the same.

    Between the columns may be commas, semicolons or tabs; of the latter two, decimals may have
    commas.

    A column ``launch`` tells the starts of the job apart. Unknown columns are no variables; they
    are kept as `Samples.others`. Rows that are marked ``void``, or were measured ``again``, count
    as they do in a run file.

    Raises
    ------
    InputError
        If it cannot be read, has no column ``seconds``, or a value is not a number; names the line.
    """
    try:
        check_ordinary(path)
        with path.open(newline="", encoding="utf-8-sig") as stream:
            first, second = stream.readline(_LONGEST), stream.readline(_LONGEST)
            mark = separator_of(first, second, str(path))
            stream.seek(0)
            return _read(csv.reader(stream, delimiter=mark), path, own, commas=mark != ",")
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", where=str(path)) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"not a CSV: {error}", where=str(path)) from error


def _read(reader: Any, path: Path, own: Columns, *, commas: bool) -> Samples:
    names = own.renamed([name.strip() for name in next(reader, [])], str(path))
    if "seconds" not in names:
        raise InputError(
            "neither a run file nor a CSV with a column 'seconds'",
            where=str(path),
            hint="the first line must name the columns, for example op,p,b,seconds; or say what "
            "they are: --columns size=b,usec=seconds:us",
        )
    if len(set(names)) != len(names):
        raise InputError("two columns have the same name", where=str(path))
    used = [(k, name) for k, name in enumerate(names) if name not in _COUNTS]
    columns: dict[str, list[Any]] = {name: [] for _, name in used}
    lines: list[int] = []
    for row in reader:
        if not row:
            continue
        where = f"{path}:{reader.line_num}"
        if len(row) != len(names):
            raise InputError(f"{len(row)} values, not {len(names)}", where=where)
        if reader.line_num > MAX_ROWS:
            raise InputError(f"more than {MAX_ROWS} lines", where=str(path))
        if commas:
            lines.append(reader.line_num)
        for k, name in used:
            text = row[k].strip()
            if name not in NUMBERS:
                columns[name].append(text_of(text))
            else:
                columns[name].append(text if commas else number(text, name, where))
    if commas:
        columns = {
            name: _numbers(with_points(texts, name, str(path), own.decimal), name, path, lines)
            if name in NUMBERS
            else texts
            for name, texts in columns.items()
        }
    for name, values in columns.items():
        if name not in NUMBERS:
            _refuse_uneven(values, name, str(path))
    arrays: dict[str, NDArray[Any]] = {
        name: np.array(values, dtype=np.float64 if name in NUMBERS else None)
        for name, values in columns.items()
    }
    return samples_of_columns(own.scaled(arrays), str(path))


def _refuse_uneven(texts: list[str], name: str, where: str) -> None:
    try:
        refuse_uneven(texts)
    except SparseError as error:
        raise InputError(f"column '{printable(name, 40)}': {error}", where=where) from error


def _numbers(texts: list[str], name: str, path: Path, lines: list[int]) -> list[float]:
    return [number(text, name, f"{path}:{k}") for text, k in zip(texts, lines, strict=True)]


def samples_of_columns(columns: dict[str, NDArray[Any]], where: str) -> Samples:
    """Return the samples of a table: its rows that count, and where they come from.

    Parameters
    ----------
    columns
        Those of `NUMBERS` as numbers, all others as texts; marks are ``true`` or ``1``. Unknown
        ones are kept as `Samples.others`.
    where
        Names the table in errors.

    Raises
    ------
    InputError
        If the columns are not those of a model.
    """
    arrays = {name: values for name, values in columns.items() if name not in _COUNTS}
    origin = _origin(arrays.pop(_ORIGIN, None))
    rows = _counted(arrays)
    data = replace(from_columns(rows, TABLE, where), origin=origin)
    data.others |= {
        name: rows[name].astype(str)
        for name in rows if name in _PARTNERS or name not in _KNOWN
    }  # fmt: skip
    for name in _STARTS:
        if name in rows and (name == "launch" or _holds_repetitions(data, rows[name])):
            data.start = np.unique(data.others.pop(name), return_inverse=True)[1].ravel()
            break
    return data


def _holds_repetitions(data: Samples, run: NDArray[Any]) -> bool:
    """Whether some rows of one point have the same value: then it does not number them."""
    rows = np.column_stack([data.points(), np.unique(run, return_inverse=True)[1].ravel()])
    return len(np.unique(rows, axis=0)) < len(rows)


def _origin(column: NDArray[Any] | None) -> str:
    """Return where the rows say their times come from; what does not say it was given."""
    said = {GIVEN} if column is None else {text or GIVEN for text in column.tolist()}
    return printable(together(said), MAX_ORIGIN)


def _counted(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Leave out the rows that do not count, if there are columns that say so."""
    names = [name for name in columns if name in _KNOWN - {"seconds", *MARKS}]
    for mark in MARKS:
        if mark in columns:
            columns[mark] = np.isin(columns[mark], ("true", "1"))
    return counted(Table(columns), names).columns


def number(text: str, name: str, where: str) -> float:
    """Read a number; a size in bytes may have a unit.

    Raises
    ------
    InputError
        If it is none, or not finite.
    """
    try:
        value = float(text)
    except ValueError:
        try:
            value = float(parse_bytes(text)) if name in ("b", "bytes") else math.nan
        except InputError:
            value = math.nan
    if not math.isfinite(value):
        raise InputError(f"'{name}' is '{printable(text, 40)}', not a finite number", where=where)
    return value
