"""Measurements of one's own: a CSV with the columns ``op,p,b,seconds`` or those of a hot spot."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.base.text import printable
from isochrone.base.units import parse_bytes
from isochrone.models.observations import SELECTORS, Samples, from_columns
from isochrone.models.terms import VARIABLES
from isochrone.runfile.origin import GIVEN, together
from isochrone.runfile.samples import MARKS, counted

__all__ = ["read_csv"]

_NUMBERS: Final = {*VARIABLES, "seconds", "bytes", "ranks", "window", "hot"}

_PARTNERS: Final = ("i", "j", "pairs")
"""What else tells points apart; no variables of a model."""

_ORIGIN: Final = "origin"
"""The column in which `export --to csv` says where the times come from."""

MAX_ORIGIN: Final = 60
MAX_ROWS: Final = 10_000_000


def read_csv(path: Path) -> Samples:
    """Read a CSV; its first line names the columns, unknown ones are left out.

    Rows that are marked ``void``, or were measured ``again``, count as they do in a run file.

    Raises
    ------
    InputError
        If it cannot be read, has no column ``seconds``, or a value is not a number; names the line.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            return _read(csv.reader(stream), path)
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", where=str(path)) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"not a CSV: {error}", where=str(path)) from error


def _read(reader: Any, path: Path) -> Samples:
    names = [name.strip() for name in next(reader, [])]
    if "seconds" not in names:
        raise InputError(
            "neither a run file nor a CSV with a column 'seconds'",
            where=str(path),
            hint="the first line must name the columns, for example op,p,b,seconds",
        )
    if len(set(names)) != len(names):
        raise InputError("two columns have the same name", where=str(path))
    known = {*_NUMBERS, *SELECTORS, *_PARTNERS, *MARKS, _ORIGIN}
    used = [(k, name) for k, name in enumerate(names) if name in known]
    columns: dict[str, list[Any]] = {name: [] for _, name in used}
    for row in reader:
        if not row:
            continue
        where = f"{path}:{reader.line_num}"
        if len(row) != len(names):
            raise InputError(f"{len(row)} values, not {len(names)}", where=where)
        if reader.line_num > MAX_ROWS:
            raise InputError(f"more than {MAX_ROWS} lines", where=str(path))
        for k, name in used:
            text = row[k].strip()
            columns[name].append(_number(text, name, where) if name in _NUMBERS else text)
    arrays: dict[str, NDArray[Any]] = {
        name: np.array(values, dtype=np.float64 if name in _NUMBERS else None)
        for name, values in columns.items()
    }
    origin = _origin(arrays.pop(_ORIGIN, None))
    return replace(from_columns(_counted(arrays), "table", str(path)), origin=origin)


def _origin(column: NDArray[Any] | None) -> str:
    """Return where the rows say their times come from; what does not say it was given."""
    said = {GIVEN} if column is None else {text or GIVEN for text in column.tolist()}
    return printable(together(said), MAX_ORIGIN)


def _counted(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Leave out the rows that do not count, if there are columns that say so."""
    names = [name for name in columns if name != "seconds" and name not in MARKS]
    for mark in MARKS:
        if mark in columns:
            columns[mark] = np.isin(columns[mark], ("true", "1"))
    return counted(Table(columns), names).columns


def _number(text: str, name: str, where: str) -> float:
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
