"""Columns of somebody's own table: what each is called there, which variable it is, in which unit.

``size=b,usec=seconds:us`` says that ``size`` is the message size in bytes, and ``usec`` the time
in microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.models.observations import SELECTORS
from isochrone.models.separators import Decimal
from isochrone.models.terms import VARIABLES

__all__ = ["AS_NAMED", "Columns"]

_TIMES: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_SIZES: Final = {
    "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "kB": 1e3, "MB": 1e6, "GB": 1e9,
}  # fmt: skip
_UNITS: Final = {"seconds": _TIMES, **dict.fromkeys(("b", "bytes", "ba", "bi", "bo"), _SIZES)}
"""Units of the variables that have one, by name: factor to seconds or bytes."""

_MEANINGS: Final = ("seconds", *VARIABLES, *SELECTORS, "ranks", "window", "launch")
_HOW: Final = "write for example size=b,usec=seconds:us"


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
        factor: dict[str, float] = {}
        for word in text.split(","):
            name, sign, what = (part.strip() for part in word.rpartition("="))
            variable, colon, unit = what.partition(":")
            if not (name and sign and variable) or (colon and not unit):
                raise _wrong(f"'{printable(word, 60)}' is not name=variable[:unit]", _HOW)
            if variable not in _MEANINGS:
                known = ", ".join(_MEANINGS)
                raise _wrong(f"'{printable(variable, 40)}' is no variable", f"there are: {known}")
            if name in meaning or variable in meaning.values():
                raise _wrong(f"'{printable(word, 60)}': one of them is given twice", _HOW)
            if unit:
                factor[variable] = _factor(variable, unit)
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
                    f"no column '{printable(name, 40)}'", where=where, hint=f"there are: {there}"
                )
        found = [self.meaning.get(name, name) for name in names]
        for name, variable in self.meaning.items():
            if found.count(variable) > 1:
                raise InputError(
                    f"'{printable(name, 40)}' is to be '{variable}', and there is a column "
                    f"'{variable}' already", where=where, hint="give one of them another name",
                )  # fmt: skip
        return found

    def scaled(self, columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the columns in seconds and bytes."""
        return {
            name: _whole(values * self.factor[name]) if name in self.factor else values
            for name, values in columns.items()
        }


def _whole(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sizes such as 0.064 MB as the whole numbers they are; times stay as they are."""
    near = np.rint(values)
    return np.where((near != 0) & (np.abs(values - near) < 1e-6 * np.abs(near)), near, values)


def _factor(variable: str, unit: str) -> float:
    known = _UNITS.get(variable, {})
    if unit not in known:
        hint = f"there are: {', '.join(known)}" if known else "it is a plain number"
        raise _wrong(f"'{printable(unit, 20)}' is no unit of '{variable}'", hint)
    return known[unit]


def _wrong(what: str, hint: str) -> InputError:
    return InputError(what, where="--columns", hint=hint)


AS_NAMED: Final = Columns()
"""Columns that are called what they are."""
