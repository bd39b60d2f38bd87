"""Columns of records, checked: whole numbers, times and texts that can be trusted."""

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.base.text import printable

MAX_SECONDS = 1e9
"""A longer time than a generation is a damaged number."""

MIN_SECONDS = 1e-12
"""Smallest positive time: no clock distinguishes smaller ones from zero."""


def numbers(table: Table, key: str, where: str, record: str = "sample") -> Ints:
    """Return a column of whole numbers from 0 up.

    Raises
    ------
    InputError
        If it is not there, or one is not such a number.
    """
    values = _numbers(table, key, where, record)
    # NaN is a missing number; a comparison with it is false
    if not np.all((values >= 0) & (values < 2**53) & (values == np.floor(values))):
        raise InputError(f"the '{key}' of a '{record}' record is not a whole number", where=where)
    return values.astype(np.int64)


def texts(table: Table, key: str, where: str, record: str = "sample") -> list[str]:
    """Return a column of texts, safe to be shown.

    Raises
    ------
    InputError
        If it is not there, or one is not text.
    """
    values = table[key].tolist() if key in table else [None]
    if not all(isinstance(value, str) for value in values):
        raise InputError(f"a '{record}' record has no '{key}'", where=where)
    return [printable(value, 80) for value in values]


def _numbers(table: Table, key: str, where: str, record: str) -> Floats:
    if key not in table:
        raise InputError(f"a '{record}' record has no '{key}'", where=where)
    if table[key].dtype.kind not in "if":
        raise InputError(f"the '{key}' of a '{record}' record is not a number", where=where)
    return table[key].astype(np.float64)
