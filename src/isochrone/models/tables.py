"""Measured times given in Python: a data frame, columns by their names, or rows.

The columns are those of a CSV (`isochrone.models.csv_file`), and so are their meaning and errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.models.csv_file import NUMBERS, number, samples_of_columns
from isochrone.models.observations import SELECTORS, Samples
from isochrone.runfile.samples import MARKS

__all__ = ["Frame", "columns_of", "is_frame", "is_row", "numbers", "of_rows", "of_table"]

Array = NDArray[np.float64]

FRAME: Final = "data frame"
COLUMNS: Final = "columns"
ROWS: Final = "rows"

_MISSING: Final = ("None", "nan", "<NA>", "NaT")
"""How Python and pandas write that there is no value."""


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


def is_row(item: object) -> bool:
    """Whether it is one measured time with the values it was taken at, by their names."""
    return isinstance(item, Mapping) and all(np.ndim(value) == 0 for value in item.values())


def of_table(table: Frame | Mapping[str, Any]) -> Samples:
    """Return the samples of a data frame, or of columns by their names.

    Raises
    ------
    InputError
        If there is no column ``seconds``, columns differ in length, or a value is not a number;
        names the row, counted from 0.
    """
    columns = columns_of(table)
    where = COLUMNS if isinstance(table, Mapping) else FRAME
    if "seconds" not in columns:
        raise InputError(
            "no column 'seconds'",
            where=where,
            hint="name the columns for example op, p, b, seconds",
        )
    return samples_of_columns({k: _read(v, k, where) for k, v in columns.items()}, where)


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
                raise InputError(f"a row without '{printable(name, 40)}'", where=f"{ROWS}, row {k}")
    return of_table({name: [row[name] for row in rows] for name in names})


def columns_of(table: Frame | Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the columns by their names, equally long; a single value is one for all rows.

    Raises
    ------
    InputError
        If names are alike, or columns differ in length.
    """
    where = COLUMNS if isinstance(table, Mapping) else FRAME
    names = [str(name) for name in (table if isinstance(table, Mapping) else table.columns)]
    if len(set(names)) != len(names):
        raise InputError("two columns have the same name", where=where)
    found = {name: _column(values) for name, values in zip(names, _values(table), strict=True)}
    lengths = {name: len(values) for name, values in found.items() if values.ndim}
    if any(values.ndim > 1 for values in found.values()):
        raise InputError("a column has more than one dimension", where=where)
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"'{printable(name, 40)}' {n}" for name, n in lengths.items())
        raise InputError(f"columns of different lengths: {said}", where=where)
    rows = next(iter(lengths.values()), 1)
    return {
        name: values if values.ndim else np.full(rows, values[()]) for name, values in found.items()
    }


def numbers(values: NDArray[Any], name: str, where: str) -> Array:
    """Return a column as numbers; sizes may have units, as in a CSV.

    Raises
    ------
    InputError
        If a value is not a finite number; names its row.
    """
    if values.dtype.kind in "iuf":
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            number(str(values[wrong[0]]), name, f"{where}, row {wrong[0]}")
        return values.astype(np.float64)
    read = (
        number(str(v).strip(), name, f"{where}, row {k}") for k, v in enumerate(values.tolist())
    )
    return np.array(list(read), dtype=np.float64)


def _values(table: Frame | Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(table, Mapping):
        return iter(table.values())
    return (table[name] for name in table.columns)


def _column(values: Any) -> NDArray[Any]:
    """Return a column as an array; of unlike values, each stays what it is."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        return np.array(values, dtype=object)
    mixed = array.dtype.kind in "US" and not isinstance(values, np.ndarray | str)
    return np.array(values, dtype=object) if mixed else array


def _read(values: NDArray[Any], name: str, where: str) -> NDArray[Any]:
    """Return a column as that of a CSV is read; what keeps data apart may be a number, too."""
    if name in NUMBERS:
        return numbers(values, name, where)
    if name in SELECTORS:
        return values
    texts = ["" if str(value) in _MISSING else str(value) for value in values.tolist()]
    if name in MARKS:
        return np.array([text.lower().removesuffix(".0") for text in texts])
    return np.array(texts)
