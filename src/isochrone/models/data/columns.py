"""What the columns of a table are: as somebody says, as Isochrone calls them, or by their words.

``size=b,usec=seconds:us`` says that ``size`` is the message size in bytes, and ``usec`` the time in
microseconds. A column that is called otherwise is what the words of its name say
(`isochrone.base.column_names`); any other is none of a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.column_names import PREFERRED, ColumnName, understood
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.models.data.observations import NAMES, SELECTORS
from isochrone.models.data.terms import BYTES, NUMBERED, VARIABLES
from isochrone.runfile.samples import MARKS
from isochrone.runfile.table_notes import RATES, TIMES

NUMBERS = {*VARIABLES, "seconds", "bytes", "ranks", "window", *NUMBERED}
"""Columns of numbers."""

PARTNERS = ("i", "j", "pairs")
"""What else tells points apart; no variables of a model."""

COUNTS = ("repeat", "pass", "rate")
"""What `export --to csv` writes of a repetition: its number, and its time in another form."""

STARTS = ("launch", "run")
"""Columns that tell starts of the job apart; ``run`` if it is not the number of a repetition."""

ORIGIN = "origin"
"""The column in which `export --to csv` says where the times come from."""

KNOWN = {*NUMBERS, *SELECTORS, *PARTNERS, *MARKS, ORIGIN}

ALIASES = {"bytes", "ranks"}
"""Names of Isochrone that others use, too: they count only where no other column is the same."""

WORDS = {
    "p": "ranks",
    "ppn": "ranks per node",
    "nodes": "nodes",
    "b": "bytes",
    "seconds": "time",
    "op": "operation",
}
"""How variables are called where it is said what was read."""

_MICROSECOND = 1e-6
"""Seconds of a microsecond."""

MIN_MESSAGE_SECONDS = 20e-9
"""Seconds that a message takes at least: in published maps of core-to-core latencies, a cache line
needs 4 ns between the two threads of a core, and a message is several of them and a call of MPI."""

_SIZES = {
    "B": 1.0,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
}
_UNITS = {"seconds": TIMES, "rate": RATES, **dict.fromkeys(("b", "bytes", *BYTES), _SIZES)}
"""Units of the variables that have one, by name: factor to seconds or bytes."""

_OF_PAIRS = ("i", "j", "host_i", "host_j", "rate")
"""Columns of a table of pairs."""

_MEANINGS = ("seconds", *VARIABLES, *SELECTORS, "ranks", "window", "launch", *_OF_PAIRS)
_HOW = "write for example size=b,usec=seconds:us"

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
    by_words
        What columns are by their names only.
    left_out
        Columns of times that are not used, because another one is.
    """

    meaning: dict[str, str] = field(default_factory=dict)
    factor: dict[str, float] = field(default_factory=dict)
    decimal: Decimal = ""
    by_words: dict[str, ColumnName] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

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
        for entry in text.split(","):
            name, sign, target = (side.strip() for side in entry.rpartition("="))
            variable, colon, unit = target.partition(":")
            if not (name and sign and variable) or (colon and not unit):
                raise _wrong(f"'{printable(entry, 60)}' is not name=variable[:unit]", _HOW)
            if variable not in _MEANINGS:
                hint = f"there are: {', '.join(_MEANINGS)}"
                raise _wrong(f"'{printable(variable, 40)}' is not a variable", hint)
            if name in meaning or variable in meaning.values():
                raise _wrong(f"'{printable(entry, 60)}': a name is given twice", _HOW)
            if unit:
                units = _UNITS.get(variable, {})
                if unit not in units:
                    hint = f"there are: {', '.join(units)}" if units else "it is a plain number"
                    raise _wrong(f"'{printable(unit, 20)}' is not a unit of '{variable}'", hint)
                factor[variable] = units[unit]
            meaning[name] = variable
        return cls(meaning, factor)

    def completed(self, names: Sequence[str], where: str) -> Columns:
        """Return what all columns of a table are.

        Columns that were named, or have the names of Isochrone, come first; of several times, the
        one with the first of the statistics `PREFERRED` is taken.

        Raises
        ------
        InputError
            If several are the same, and none is called as Isochrone calls it.
        """
        variables = {self.meaning.get(name, name) for name in names}
        alike: dict[str, list[tuple[str, ColumnName]]] = {}
        left_out = [name for name in ALIASES & variables if NAMES[name] in variables]
        for name in names:
            named = name in self.meaning or name in left_out or name in KNOWN - ALIASES
            meant = None if named else understood(name)
            if meant and meant.variable not in variables:
                alike.setdefault(meant.variable, []).append((name, meant))
        by_words: dict[str, ColumnName] = {}
        for variable, several in alike.items():
            best = min(PREFERRED.index(meant.statistic) for _, meant in several)
            preferred = [pair for pair in several if pair[1].statistic == PREFERRED[best]]
            if len(preferred) > 1:
                listed = ", ".join(f"'{printable(name, 40)}'" for name, _ in preferred)
                raise InputError(
                    f"the columns {listed} are the same: {WORDS[variable]}",
                    where=where,
                    hint="say which one is: --map-columns "
                    f"{printable(preferred[0][0], 40)}={variable}{':us' * (variable == 'seconds')}",
                )
            left_out += [name for name, _ in several if name != preferred[0][0]]
            by_words |= {name: meant for name, meant in preferred if name not in ALIASES}
        return replace(
            self,
            by_words=by_words,
            left_out=tuple(left_out),
            meaning=self.meaning | {name: meant.variable for name, meant in by_words.items()},
            factor=self.factor
            | {meant.variable: meant.factor for meant in by_words.values() if meant.unit},
        )

    def of_times(self, seconds: Floats) -> Columns:
        """Return the same with the unit of a latency whose name has none.

        It is µs, which OSU and others print, unless one would then be below `MIN_MESSAGE_SECONDS`.
        """
        units = {
            name: replace(meant, unit="µs", factor=_MICROSECOND)
            for name, meant in self.by_words.items()
            if meant.latency and not meant.unit
        }
        if not units or not len(seconds) or seconds.min() * _MICROSECOND < MIN_MESSAGE_SECONDS:
            return self
        return replace(
            self, by_words=self.by_words | units, factor=self.factor | {"seconds": _MICROSECOND}
        )

    def words(self) -> list[str]:
        """Say in one line what columns are by their names; nothing if all have Isochrone's."""
        meanings = []
        for name, meant in self.by_words.items():
            text = WORDS[meant.variable]
            if meant.variable == "seconds":
                text = f"{meant.statistic} time in {meant.unit or 's'}".lstrip()
                text += " (its name has no unit)" * (meant.latency or not meant.unit)
            elif meant.unit:
                text = f"size in {meant.unit}"
            meanings.append(f"{printable(name, 40)} = {text}")
        unused = ", ".join(printable(name, 40) for name in self.left_out)
        clauses = [", ".join(meanings)] * bool(meanings) + [f"not used: {unused}"] * bool(unused)
        return [f"read: {'; '.join(clauses)}"] if clauses else []

    def renamed(self, names: list[str], where: str) -> list[str]:
        """Return the names of the variables for the names in the first line of a table.

        A column with the name of a variable that another one is said to be is none.

        Raises
        ------
        InputError
            If a column is missing.
        """
        for name in self.meaning:
            if name not in names:
                listed = printable(", ".join(names), 200)
                raise InputError(
                    f"the table has no column '{printable(name, 40)}'",
                    where=where,
                    hint=f"there are: {listed}",
                )
        others = {variable: f"{variable} of the table" for variable in self.meaning.values()}
        return [self.meaning.get(name) or others.get(name, name) for name in names]

    def scaled(self, values: Floats, name: str) -> Floats:
        """Return a column in seconds or bytes; sizes such as 0.064 MB are whole numbers."""
        if name not in self.factor:
            return values
        values = values * self.factor[name]
        rounded = np.rint(values)
        return np.where(
            (rounded != 0) & (np.abs(values - rounded) < 1e-6 * np.abs(rounded)), rounded, values
        )


def _wrong(problem: str, hint: str) -> InputError:
    return InputError(problem, where="--map-columns", hint=hint)


AS_NAMED = Columns()
"""Columns that are called what they are."""
