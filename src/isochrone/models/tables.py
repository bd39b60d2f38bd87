"""Measured times that a user has: a CSV, a data frame, columns by their names, or rows.

The columns are ``op,p,b,seconds`` or those of a hot spot. ``size=b,usec=seconds:us`` says that
``size`` is the message size in bytes, and ``usec`` the time in microseconds (`Columns`).

A spreadsheet in a country with decimal commas writes ``1024;2,5``. What is between the columns is
seen in the first two lines. Only where it is a semicolon or a tab, a comma may be that of a
decimal number; one that may as well be between thousands (``1,024``) is refused.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan
from pathlib import Path
from typing import Any, Literal, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from isochrone.base.csv_escape import text_of
from isochrone.base.errors import InputError, failing
from isochrone.base.files import check_ordinary
from isochrone.base.table import SparseError, Table, refuse_uneven
from isochrone.base.text import printable
from isochrone.base.units import parse_bytes
from isochrone.models.observations import SELECTORS, TABLE, Samples, from_columns
from isochrone.models.starts import numbered
from isochrone.models.terms import BYTES, NUMBERED, VARIABLES
from isochrone.runfile.origin import TABULATED, together
from isochrone.runfile.samples import MARKS, counted

Array = NDArray[np.float64]
Where = Callable[[int], str]
"""Names a row in errors, by its number from 0."""

_NUMBERS = {*VARIABLES, "seconds", "bytes", "ranks", "window", *NUMBERED}
"""Columns of numbers."""

_PARTNERS = ("i", "j", "pairs")
"""What else tells points apart; no variables of a model."""

_COUNTS = ("repeat", "pass", "rate")
"""What `export --to csv` writes of a repetition: its number, and its time in another form."""

_STARTS = ("launch", "run")
"""Columns that tell starts of the job apart; ``run`` if it is not the number of a repetition."""

_ORIGIN = "origin"
"""The column in which `export --to csv` says where the times come from."""

_KNOWN = {*_NUMBERS, *SELECTORS, *_PARTNERS, *MARKS, _ORIGIN}

MAX_ORIGIN = 60
MAX_ROWS = 10_000_000

_LONGEST = 1 << 16
"""Characters of a line by which it is seen what separates columns."""

_MISSING = ("None", "nan", "<NA>", "NaT")
"""How Python and pandas write that there is no value."""

_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_SIZES = {
    "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "kB": 1e3, "MB": 1e6, "GB": 1e9,
}  # fmt: skip
_UNITS = {"seconds": _TIMES, **dict.fromkeys(("b", "bytes", *BYTES), _SIZES)}
"""Units of the variables that have one, by name: factor to seconds or bytes."""

_MEANINGS = ("seconds", *VARIABLES, *SELECTORS, "ranks", "window", "launch")
_HOW = "write for example size=b,usec=seconds:us"

_SEPARATORS = (";", "\t", ",")
_DECIMAL = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")

Decimal = Literal["", "comma", "point"]
"""What stands before decimals; empty if that is not said."""


@dataclass(frozen=True)
class Columns:
    """What columns mean.

    Attributes
    ----------
    meaning
        Variable by the name of its column.
    factor
        By which the values of a variable are multiplied to be seconds or bytes.
    decimal
        What decimals have, ``comma`` or ``point``; empty if that is to be seen.
    """

    meaning: dict[str, str] = field(default_factory=dict)
    factor: dict[str, float] = field(default_factory=dict)
    decimal: Decimal = ""

    @classmethod
    def parse(cls, text: str) -> Columns:
        """Read ``name=variable[:unit],…``.

        Raises
        ------
        InputError
            If it is not that, or a variable or unit is not known or is given twice.
        """
        meaning: dict[str, str] = {}
        factor = {}
        for word in text.split(","):
            name, sign, what = (part.strip() for part in word.rpartition("="))
            variable, colon, unit = what.partition(":")
            if not (name and sign and variable) or (colon and not unit):
                raise _wrong(f"'{printable(word, 60)}' is not name=variable[:unit]", _HOW)
            if variable not in _MEANINGS:
                hint = f"there are: {', '.join(_MEANINGS)}"
                raise _wrong(f"'{printable(variable, 40)}' is not a variable", hint)
            if name in meaning or variable in meaning.values():
                raise _wrong(f"'{printable(word, 60)}': a name is given twice", _HOW)
            if unit:
                known = _UNITS.get(variable, {})
                if unit not in known:
                    hint = f"there are: {', '.join(known)}" if known else "it is a plain number"
                    raise _wrong(f"'{printable(unit, 20)}' is not a unit of '{variable}'", hint)
                factor[variable] = known[unit]
            meaning[name] = variable
        return cls(meaning, factor)

    def renamed(self, names: list[str], where: str) -> list[str]:
        """Return the names of the variables for the names in the first line of a table.

        Raises
        ------
        InputError
            If a column is missing, or another one has the name already.
        """
        for name in self.meaning:
            if name not in names:
                there = printable(", ".join(names), 200)
                raise InputError(
                    f"the table has no column '{printable(name, 40)}'",
                    where=where,
                    hint=f"there are: {there}",
                )
        found = [self.meaning.get(name, name) for name in names]
        for name, variable in self.meaning.items():
            if found.count(variable) > 1:
                raise InputError(
                    f"'{printable(name, 40)}' cannot be '{variable}': there is a column "
                    f"'{variable}' already", where=where, hint="give one of them another name",
                )  # fmt: skip
        return found

    def scaled(self, values: Array, name: str) -> Array:
        """Return a column in seconds or bytes; sizes such as 0.064 MB are whole numbers."""
        if name not in self.factor:
            return values
        values = values * self.factor[name]
        near = np.rint(values)
        return np.where((near != 0) & (np.abs(values - near) < 1e-6 * np.abs(near)), near, values)


def _wrong(what: str, hint: str) -> InputError:
    return InputError(what, where="--map-columns", hint=hint)


AS_NAMED = Columns()
"""Columns that are called what they are."""


# --- files ----------------------------------------------------------------------------------------


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
    check_ordinary(path)
    reading = failing("the file cannot be read", path)
    try:
        with reading, path.open(newline="", encoding="utf-8-sig") as stream:
            first, second = stream.readline(_LONGEST), stream.readline(_LONGEST)
            mark = separator_of(first, second, str(path))
            stream.seek(0)
            return _read(csv.reader(stream, delimiter=mark), path, own, commas=mark != ",")
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"the file is not valid CSV: {error}", where=path) from error


def _read(reader: Any, path: Path, own: Columns, *, commas: bool) -> Samples:
    where = str(path)
    names = own.renamed([name.strip() for name in next(reader, [])], where)
    if "seconds" not in names:
        raise InputError(
            "the file is neither a run file nor a CSV table with a column 'seconds'",
            where=where,
            hint="name the columns in the first line, e.g. op,p,b,seconds, or with "
            "--map-columns size=b,usec=seconds:us",
        )
    _refuse_twins(names, where)
    rows = []
    lines = []
    for row in reader:
        if not row:
            continue
        if len(row) != len(names):
            raise InputError(
                f"the line has {len(row)} values, not {len(names)}",
                where=f"{path}:{reader.line_num}",
            )
        if reader.line_num > MAX_ROWS:
            raise InputError(f"the table has more than {MAX_ROWS} lines", where=where)
        rows.append(row)
        lines.append(reader.line_num)
    arrays = {}
    for k, name in enumerate(names):
        texts = [row[k].strip() for row in rows]
        if name in _NUMBERS:
            texts = with_points(texts, name, where, own.decimal) if commas else texts
            read = _numbers(np.array(texts, object), name, lambda k: f"{path}:{lines[k]}")
            arrays[name] = own.scaled(read, name)
        elif name not in _COUNTS:
            try:
                refuse_uneven(texts := [text_of(text) for text in texts])
            except SparseError as error:
                what = f"column '{printable(name, 40)}': {error}"
                raise InputError(what, where=where) from error
            arrays[name] = np.array(texts)
    return _samples(arrays, where)


def _refuse_twins(names: Sequence[str], where: str) -> None:
    if len(set(names)) != len(names):
        raise InputError("the table has two columns of the same name", where=where)


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
    found = [mark for mark in _SEPARATORS if mark in first] or [","]
    fitting = [
        mark for mark in found
        if not second or len({len(row) for row in csv.reader([first, second], delimiter=mark)}) == 1
    ]  # fmt: skip
    if len(found) > 1 and len(fitting) != 1:
        marks = " or ".join(f"'{mark}'" if mark != "\t" else "tabs" for mark in found)
        raise InputError(
            f"the separator of the columns is ambiguous: {marks}", where=where,
            hint="use column names without these characters",
        )  # fmt: skip
    return (fitting or found)[0]


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
    one = printable(commas[0], 40)
    point = next((text for text in texts if "." in text), None)
    if point is not None:
        what = f"has numbers with commas and with points: '{one}' and '{printable(point, 40)}'"
    elif all(_THOUSANDS.fullmatch(text) for text in commas):
        what = f"is '{one}', which may mean {one.replace(',', '')} or {one.replace(',', '.', 1)}"
    else:
        return [text.replace(",", ".") if _DECIMAL.fullmatch(text) else text for text in texts]
    raise InputError(
        f"'{name}' {what}", where=where, hint="give --decimal comma or --decimal point"
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


def of_table(table: Frame | Mapping[str, Any]) -> Samples:
    """Return the samples of a data frame, or of columns by their names.

    Raises
    ------
    InputError
        If there is no column ``seconds``, columns differ in length, or a value is not a number;
        names the row, counted from 0.
    """
    columns = columns_of(table)
    where = _named(table)
    if "seconds" not in columns:
        raise InputError(
            "the table has no column 'seconds'",
            where=where,
            hint="name the columns for example op, p, b, seconds",
        )
    for name, values in columns.items():  # as those of a CSV are read
        if name in _NUMBERS:
            columns[name] = _numbers(values, name, lambda k: f"{where}, row {k}")
        elif name not in SELECTORS:  # what keeps data apart may be a number, too
            texts = ["" if str(value) in _MISSING else str(value) for value in values.tolist()]
            if name in MARKS:
                texts = [text.lower().removesuffix(".0") for text in texts]
            columns[name] = np.array(texts)
    return _samples(columns, where)


def of_rows(rows: Sequence[Mapping[str, Any]]) -> Samples:
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


def columns_of(table: Frame | Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the columns by their names, equally long; a single value is one for all rows.

    Raises
    ------
    InputError
        If names are alike, or columns differ in length.
    """
    where = _named(table)
    keys = list(table if isinstance(table, Mapping) else table.columns)
    _refuse_twins([str(key) for key in keys], where)
    found = {}
    for key in keys:
        values = table[key]
        try:
            array = np.asarray(values)
        except ValueError:  # lists of different lengths
            array = np.array(values, dtype=object)
        if array.dtype.kind in "US" and not isinstance(values, np.ndarray | str):
            array = np.array(values, dtype=object)  # of unlike values, each stays what it is
        found[str(key)] = array
    lengths = {name: len(values) for name, values in found.items() if values.ndim}
    if any(values.ndim > 1 for values in found.values()):
        raise InputError("a column has more than one dimension", where=where)
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"'{printable(name, 40)}' {n}" for name, n in lengths.items())
        raise InputError(f"the columns have different lengths: {said}", where=where)
    rows = next(iter(lengths.values()), 1)
    return {
        name: values if values.ndim else np.full(rows, values[()]) for name, values in found.items()
    }


def _named(table: Frame | Mapping[str, Any]) -> str:
    return "columns" if isinstance(table, Mapping) else "data frame"


def _numbers(values: NDArray[Any], name: str, where: Where) -> Array:
    """Return a column as numbers; sizes may have units.

    Raises
    ------
    InputError
        If a value is not a finite number; names its row.
    """
    if values.dtype.kind in "iuf" and np.all(np.isfinite(values)):
        return values.astype(np.float64)
    read = (number(str(v).strip(), name, where(k)) for k, v in enumerate(values.tolist()))
    return np.array(list(read), dtype=np.float64)


# --- columns --------------------------------------------------------------------------------------


def _samples(columns: dict[str, NDArray[Any]], where: str) -> Samples:
    """Return the samples of a table: its rows that count, and where they come from.

    Parameters
    ----------
    columns
        Those of `_NUMBERS` as numbers, all others as texts; marks are ``true`` or ``1``. Unknown
        ones are kept as `Samples.others`.
    where
        Names the table in errors.

    Raises
    ------
    InputError
        If the columns are not those of a model.
    """
    arrays = {name: values for name, values in columns.items() if name not in _COUNTS}
    said = {TABULATED}  # unless a column says where it is from
    if _ORIGIN in arrays:
        said = {text or TABULATED for text in arrays.pop(_ORIGIN).tolist()}
    for mark in MARKS:
        if mark in arrays:
            arrays[mark] = np.isin(arrays[mark], ("true", "1"))
    points = [name for name in arrays if name in _KNOWN - {"seconds", *MARKS}]
    rows = counted(Table(arrays), points).columns
    origin = printable(together(said), MAX_ORIGIN)
    data = replace(from_columns(rows, TABLE, where), origin=origin)
    data.others |= {
        name: rows[name].astype(str)
        for name in rows if name in _PARTNERS or name not in _KNOWN
    }  # fmt: skip
    for name in _STARTS:
        # `run` numbers repetitions, unless some rows of one point have the same value
        if name in rows and (
            name == "launch" or numbered(data.points(), rows[name]).max() + 1 < len(data.seconds)
        ):
            data.start = numbered(data.others.pop(name))
            break
    return data


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
            value = float(parse_bytes(text)) if name in ("b", "bytes") else nan
        except InputError:
            value = nan
    if not isfinite(value):
        raise InputError(f"'{name}' is '{printable(text, 40)}', not a finite number", where=where)
    return value
