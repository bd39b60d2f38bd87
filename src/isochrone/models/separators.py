"""How somebody's table is written: what stands between its columns, and before its decimals.

A spreadsheet in a country with decimal commas writes ``1024;2,5``. What is between the columns is
seen in the first two lines. Only where it is a semicolon or a tab, a comma may be that of a
decimal number; one that may as well be between thousands (``1,024``) is refused.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Final, Literal

from isochrone.base.errors import InputError
from isochrone.base.text import printable

__all__ = ["Decimal", "separator_of", "with_points"]

_SEPARATORS: Final = (";", "\t", ",")
_DECIMAL: Final = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")
_THOUSANDS: Final = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")

Decimal = Literal["", "comma", "point"]
"""What stands before decimals; empty if that is not said."""


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
    fitting = [mark for mark in found if not second or _count(first, mark) == _count(second, mark)]
    if len(found) > 1 and len(fitting) != 1:
        marks = " or ".join(f"'{mark}'" if mark != "\t" else "tabs" for mark in found)
        raise InputError(
            f"its columns may be separated by {marks}", where=where,
            hint="take names of columns without these signs",
        )  # fmt: skip
    return (fitting or found)[0]


def _count(line: str, mark: str) -> int:
    return len(next(csv.reader([line], delimiter=mark), []))


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
    points = [text for text in texts if "." in text]
    if points:
        raise InputError(
            f"'{name}' has numbers with commas and with points: '{one}' and "
            f"'{printable(points[0], 40)}'", where=where,
            hint="give --decimal comma or --decimal point",
        )  # fmt: skip
    if all(_THOUSANDS.fullmatch(text) for text in commas):
        raise InputError(
            f"'{name}' is '{one}': that may be {one.replace(',', '')} or "
            f"{one.replace(',', '.', 1)}", where=where,
            hint="give --decimal comma or --decimal point",
        )  # fmt: skip
    return [text.replace(",", ".") if _DECIMAL.fullmatch(text) else text for text in texts]
