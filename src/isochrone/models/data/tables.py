"""Measured times that a user has: a text table, a data frame, columns by their names, or rows.

The columns are ``op,p,b,seconds``, those of a hot spot, or called otherwise (`Columns`).

A spreadsheet in a country with decimal commas writes ``1024;2,5``. What is between the columns is
seen in the first two lines. Only where it is no comma, a comma may be that of a decimal number; one
that may as well be between thousands (``1,024``) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isfinite, nan
from pathlib import Path
from typing import Any, Protocol, TypeGuard

import numpy as np

from isochrone.base.arrays import Array, Floats
from isochrone.base.csv_escape import text_of
from isochrone.base.errors import InputError
from isochrone.base.files import read_bytes
from isochrone.base.table import SparseError, Table, refuse_uneven
from isochrone.base.table_text import TextTable, decoded, table_of
from isochrone.base.text import printable
from isochrone.base.units import parse_bytes
from isochrone.models.data.columns import (
    AS_NAMED,
    COUNTS,
    KNOWN,
    NUMBERS,
    ORIGIN,
    PARTNERS,
    STARTS,
    Columns,
    Decimal,
)
from isochrone.models.data.extra_p import rows_of
from isochrone.models.data.observations import SELECTORS, TABLE, Samples, from_columns
from isochrone.models.data.starts import numbered
from isochrone.runfile.file_type import is_of_extra_p
from isochrone.runfile.origin import TABULATED, together
from isochrone.runfile.samples import MARKS, counted

Where = Callable[[int], str]
"""Names a row in errors, by its number from 0."""

MAX_ORIGIN = 60
MAX_TABLE_ROWS = 10_000_000

_MISSING = ("None", "nan", "<NA>", "NaT")
"""How Python and pandas write that there is no value."""

_DECIMAL = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")

# --- files ----------------------------------------------------------------------------------------


def read_csv(path: Path, schema: Columns = AS_NAMED) -> Samples:
    """Read a table; its first line names the columns, ``schema`` what they are if not the same.

    Between the columns may be commas, semicolons, tabs or blanks; but for the first, decimals may
    have commas.

    A column ``launch`` tells the starts of the job apart. Unknown columns are no variables; they
    are kept as `Samples.others`. Rows that are marked ``void``, or were measured ``again``, count
    as they do in a run file.

    Raises
    ------
    InputError
        If it cannot be read, has no times, or a value is not a number; names the line.
    """
    data, where = read_bytes(path), str(path)
    text = decoded(data, where)
    table = rows_of(text, where, schema) if is_of_extra_p(data) else table_of(text, where)
    return _read(table, path, schema)


def _read(table: TextTable, path: Path, schema: Columns) -> Samples:
    where = str(path)
    _refuse_twins(table.names, where)
    schema = schema.completed(table.names, where)
    names = schema.renamed(table.names, where)
    if "seconds" not in names:
        first_line = f": the first line is '{printable(' '.join(table.names), 60)}'"
        raise InputError(
            f"the file is neither a run file nor a table with a column of times{first_line}",
            where=where,
            hint="name the columns in the first line, e.g. op,p,b,seconds, or with "
            "--map-columns size=b,usec=seconds:us",
        )
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, row in table.rows:
        if len(row) != len(names):
            raise InputError(
                f"the line has {len(row)} values, not {len(names)}", where=f"{path}:{line}"
            )
        if len(rows) == MAX_TABLE_ROWS:
            raise InputError(f"the table has more than {MAX_TABLE_ROWS} lines", where=where)
        rows.append(row)
        lines.append(line)
    arrays = {}
    for k, name in enumerate(names):
        texts = [row[k] for row in rows]
        if table.names[k] in schema.left_out:
            continue
        if name in NUMBERS:
            called = table.names[k]
            texts = (
                with_points(texts, called, where, schema.decimal) if table.mark != "," else texts
            )
            cells = np.array(texts, object)
            arrays[name] = _numbers(cells, name, lambda k: f"{path}:{lines[k]}", called)
        elif name not in COUNTS:
            try:
                refuse_uneven(texts := [text_of(text) for text in texts])
            except SparseError as error:
                problem = f"column '{printable(name, 40)}': {error}"
                raise InputError(problem, where=where) from error
            arrays[name] = np.array(texts)
    return _samples(arrays, where, schema)


def _refuse_twins(names: Sequence[str], where: str) -> None:
    if len(set(names)) != len(names):
        raise InputError("the table has two columns of the same name", where=where)


def with_points(texts: Sequence[str], name: str, where: str, decimal: Decimal = "") -> list[str]:
    """Return the numbers of a column with decimal points.

    Parameters
    ----------
    texts
        Its cells; those without a comma stay as they are.
    name, where
        Name the column and the table in errors.
    decimal
        What decimals have, if that is said.

    Raises
    ------
    InputError
        If commas may be decimal or between thousands, or there are decimal points as well.
    """
    if decimal:
        thousands, mark = (".", ",") if decimal == "comma" else (",", ".")
        return [text.replace(thousands, "").replace(mark, ".") for text in texts]
    commas = [text for text in texts if "," in text]
    if not commas:
        return list(texts)
    cell = printable(commas[0], 40)
    point = next((text for text in texts if "." in text), None)
    if point is not None:
        flaw = f"has numbers with commas and with points: '{cell}' and '{printable(point, 40)}'"
    elif all(_THOUSANDS.fullmatch(text) for text in commas):
        flaw = f"is '{cell}', which may mean {cell.replace(',', '')} or {cell.replace(',', '.', 1)}"
    else:
        return [text.replace(",", ".") if _DECIMAL.fullmatch(text) else text for text in texts]
    raise InputError(
        f"'{name}' {flaw}", where=where, hint="give --decimal comma or --decimal point"
    )


# --- what Python holds ----------------------------------------------------------------------------


class Frame(Protocol):
    """A data frame of pandas, or of another library that has columns by name."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return one column."""


def is_frame(item: object) -> TypeGuard[Frame]:
    """Whether it is a data frame; pandas itself is not imported."""
    return hasattr(item, "columns") and hasattr(item, "__getitem__")


def of_table(table: Frame | Mapping[str, object]) -> Samples:
    """Return the samples of a data frame, or of columns by their names.

    Raises
    ------
    InputError
        If there is no column ``seconds``, columns differ in length, or a value is not a number;
        names the row, counted from 0.
    """
    where = _named(table)
    by_name = columns_of(table)
    schema = AS_NAMED.completed([*by_name], where)
    names = schema.renamed([*by_name], where)
    columns = {
        name: values
        for name, (key, values) in zip(names, by_name.items(), strict=True)
        if key not in schema.left_out
    }
    if "seconds" not in columns:
        raise InputError(
            "the table has no column 'seconds'",
            where=where,
            hint="name the columns for example op, p, b, seconds",
        )
    for name, values in columns.items():  # as those of a CSV are read
        if name in NUMBERS:
            columns[name] = _numbers(values, name, lambda k: f"{where}, row {k}")
        elif name not in SELECTORS:  # what keeps data apart may be a number, too
            texts = ["" if str(value) in _MISSING else str(value) for value in values.tolist()]
            if name in MARKS:
                texts = [text.lower().removesuffix(".0") for text in texts]
            columns[name] = np.array(texts)
    return _samples(columns, where, schema)


def of_rows(rows: Sequence[Mapping[str, object]]) -> Samples:
    """Return the samples of rows that have the same names, one measured time each.

    Raises
    ------
    InputError
        As `of_table`, and if a row lacks a name that others have.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    for k, row in enumerate(rows):
        for name in names:
            if name not in row:
                raise InputError(f"a row has no '{printable(name, 40)}'", where=f"rows, row {k}")
    return of_table({name: [row[name] for row in rows] for name in names})


def columns_of(table: Frame | Mapping[str, object]) -> dict[str, Array]:
    """Return the columns by their names, equally long; a single value is one for all rows.

    Raises
    ------
    InputError
        If names are alike, or columns differ in length.
    """
    where = _named(table)
    keys = list(table if isinstance(table, Mapping) else table.columns)
    _refuse_twins([str(key) for key in keys], where)
    columns = {}
    for key in keys:
        values = table[key]
        try:
            array = np.asarray(values)
        except ValueError:  # lists of different lengths
            array = np.array(values, dtype=object)
        if array.dtype.kind in "US" and not isinstance(values, np.ndarray | str):
            array = np.array(values, dtype=object)  # of unlike values, each stays what it is
        columns[str(key)] = array
    lengths = {name: len(values) for name, values in columns.items() if values.ndim}
    if any(values.ndim > 1 for values in columns.values()):
        raise InputError("a column has more than one dimension", where=where)
    if len(set(lengths.values())) > 1:
        listing = ", ".join(f"'{printable(name, 40)}' {n}" for name, n in lengths.items())
        raise InputError(f"the columns have different lengths: {listing}", where=where)
    rows = next(iter(lengths.values()), 1)
    return {
        name: values if values.ndim else np.full(rows, values[()])
        for name, values in columns.items()
    }


def _named(table: Frame | Mapping[str, object]) -> str:
    return "columns" if isinstance(table, Mapping) else "data frame"


def _numbers(values: Array, name: str, where: Where, called: str = "") -> Floats:
    """Return a column as numbers; sizes may have units. ``called`` is how errors name it.

    Raises
    ------
    InputError
        If a value is not a finite number; names its row.
    """
    if values.dtype.kind in "iuf" and np.all(np.isfinite(values)):
        return values.astype(np.float64)
    read = (number(str(v).strip(), name, where(k), called) for k, v in enumerate(values.tolist()))
    return np.array(list(read), dtype=np.float64)


# --- columns --------------------------------------------------------------------------------------


def _samples(columns: dict[str, Array], where: str, schema: Columns) -> Samples:
    """Return the samples of a table: its rows that count, and where they come from.

    Parameters
    ----------
    columns
        Those of `NUMBERS` as numbers, all others as texts; marks are ``true`` or ``1``. Unknown
        ones are kept as `Samples.others`.
    where
        Names the table in errors.
    schema
        What the columns are.

    Raises
    ------
    InputError
        If the columns are not those of a model.
    """
    schema = schema.of_times(columns["seconds"])
    columns = {name: schema.scaled(values, name) for name, values in columns.items()}
    arrays = {name: values for name, values in columns.items() if name not in COUNTS}
    origins = {TABULATED}  # unless a column says where it is from
    if ORIGIN in arrays:
        origins = {text or TABULATED for text in arrays.pop(ORIGIN).tolist()}
    for mark in MARKS:
        if mark in arrays:
            arrays[mark] = np.isin(arrays[mark], ("true", "1"))
    points = [name for name in arrays if name in KNOWN - {"seconds", *MARKS}]
    rows = counted(Table(arrays), points).columns
    origin = printable(together(origins), MAX_ORIGIN)
    data = replace(from_columns(rows, TABLE, where), origin=origin, read_as=schema.words())
    data.others |= {
        name: rows[name].astype(str) for name in rows if name in PARTNERS or name not in KNOWN
    }
    for name in STARTS:
        # `run` numbers repetitions, unless some rows of one point have the same value
        if name in rows and (
            name == "launch" or numbered(data.points(), rows[name]).max() + 1 < len(data.seconds)
        ):
            data.start = numbered(data.others.pop(name))
            break
    return data


def number(text: str, name: str, where: str, called: str = "") -> float:
    """Read a number of the variable ``name``; a size in bytes may have a unit.

    Raises
    ------
    InputError
        If it is none, or not finite.
    """
    try:
        value = float(text)
    except ValueError:
        try:
            value = float(parse_bytes(text)) if name in ("b", "bytes") else nan
        except InputError:
            value = nan
    if not isfinite(value):
        column = printable(called or name, 40)
        raise InputError(f"'{column}' is '{printable(text, 40)}', not a finite number", where=where)
    return value
