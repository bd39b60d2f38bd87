"""What a model is fitted to: measured times, and their medians at each combination of variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.stats import MAD_TO_SIGMA, MEDIAN_LOSS
from isochrone.base.text import printable
from isochrone.models.regime import Selector
from isochrone.models.terms import VARIABLES
from isochrone.runfile.origin import together
from isochrone.runfile.run import Run
from isochrone.runfile.samples import counted, identity

__all__ = ["SELECTORS", "Observations", "Samples", "from_columns", "joined", "of_run"]

Array = NDArray[np.float64]

SWEEP: Final = "sweep"
"""The kind of run whose options say what was sent."""

COUNTED: Final = ("p", "w")
"""Variables that are whole numbers from 1."""

SELECTORS: Final = ("op", "order", "mode", "bytes", "hot")
"""What keeps data apart: each value gets formulas of its own."""

_NAMES: Final = {"bytes": "b", "ranks": "p", "window": "w"}
"""Names in run files and tables, and the variable they are."""


@dataclass(frozen=True)
class Observations:
    """Medians of one operation: one for each combination of the variables that was measured.

    Attributes
    ----------
    where
        The selectors that all have in common.
    variables
        Arrays of shape (n,).
    seconds
        Median of the repetitions, shape (n,).
    repeats
        How many repetitions, shape (n,).
    noise
        Typical relative standard error of a median; None if nothing was repeated.
    """

    where: dict[str, Selector]
    variables: dict[str, Array]
    seconds: Array
    repeats: NDArray[np.int64]
    noise: float | None

    def __len__(self) -> int:
        return len(self.seconds)


@dataclass
class Samples:
    """Measured times as columns, one row a repetition.

    Attributes
    ----------
    variables
        Arrays by name, shape (n,).
    selectors
        Arrays of texts or whole numbers by name, shape (n,).
    seconds
        Shape (n,).
    experiment
        What was measured, or ``table`` for a CSV.
    made_from
        Path and SHA-256 of the files.
    seconds_are
        What a time is, in words of the run file; empty if not known.
    partial
        Paths of the runs that did not come to their end.
    origin
        Where the times come from (`isochrone.runfile.origin`); several joined by ``and``.
    """

    variables: dict[str, Array]
    selectors: dict[str, NDArray[Any]]
    seconds: Array
    experiment: str
    made_from: list[dict[str, str]] = field(default_factory=list)
    seconds_are: str = ""
    partial: list[str] = field(default_factory=list)
    origin: str = ""

    def __post_init__(self) -> None:
        columns = [*self.variables.values(), self.seconds]
        if not len(self.seconds):
            raise InputError("there are no measured times")
        if not all(np.all(np.isfinite(column)) for column in columns):
            raise InputError("a value is not a finite number")
        if not np.all(self.seconds > 0):
            raise InputError("a time is zero or negative")
        for name, column in self.variables.items():
            least = 1 if name in COUNTED else 0
            wrong = column[(column < least) | ((name in COUNTED) & (column != np.floor(column)))]
            if len(wrong):
                raise InputError(f"'{name}' is {wrong[0]:g}, no {VARIABLES[name]}")

    def only(self, **where: Selector | None) -> Samples:
        """Return the rows that selectors mean; None means all.

        Raises
        ------
        InputError
            If there are none.
        """
        keep = np.ones(len(self.seconds), dtype=bool)
        for key, value in where.items():
            if value is None:
                continue
            if key not in self.selectors:
                raise InputError(f"the data do not contain '{key}'")
            keep &= self.selectors[key] == value
            if not keep.any():
                known = ", ".join(map(str, dict.fromkeys(self.selectors[key].tolist())))
                raise InputError(
                    f"no measured times of {key} '{value}'", hint=f"there are: {known}"
                )
        return replace(
            self,
            variables={name: values[keep] for name, values in self.variables.items()},
            selectors={name: values[keep] for name, values in self.selectors.items()},
            seconds=self.seconds[keep],
        )

    def observations(self) -> list[Observations]:
        """Return the medians, kept apart by the selectors."""
        names = list(self.selectors)
        keys = list(zip(*(column.tolist() for column in self.selectors.values()), strict=True))
        if not names:
            return [self._observed({}, np.ones(len(self.seconds), dtype=bool))]
        numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        index = np.array([numbers[key] for key in keys])
        return [
            self._observed(dict(zip(names, key, strict=True)), index == k)
            for key, k in numbers.items()
        ]

    def _observed(self, where: dict[str, Selector], mine: NDArray[np.bool_]) -> Observations:
        names = list(self.variables)
        rows = np.column_stack([self.variables[name][mine] for name in names])
        found, index = np.unique(rows, axis=0, return_inverse=True)
        index = index.ravel()
        order = np.argsort(index, kind="stable")
        counts = np.bincount(index)
        median, spread = _medians(self.seconds[mine][order], counts)
        often = counts >= 3  # the spread of two is a coin toss
        error = MEDIAN_LOSS * MAD_TO_SIGMA * spread[often] / np.sqrt(counts[often])
        return Observations(
            where, dict(zip(names, found.T, strict=True)), median, counts,
            float(np.median(error)) if often.any() else None,
        )  # fmt: skip


def of_run(run: Run) -> Samples:
    """Return the samples of a run file as columns.

    Raises
    ------
    InputError
        If the run holds no samples with a time and variables a model knows.
    """
    table = run.tables.get("sample")
    if table is None or "seconds" not in table or not len(table):
        raise InputError(
            f"a run of '{run.experiment}' holds no samples to fit",
            where=run.where,
            hint="fit takes sweeps (point-to-point, bisection, collective), hot spots and tables",
        )
    columns = dict(counted(table, identity(table, run.by), run.where).columns)
    for key in ("mode", "window"):
        value = run.options.get(key)
        if key not in columns and isinstance(value, str | int) and run.kind == SWEEP:
            columns[key] = np.full(len(columns["seconds"]), value)
    data = from_columns(columns, run.experiment, run.where)
    data.seconds_are = run.quantity
    data.partial = [] if run.complete else [run.where]
    data.origin = run.origin
    return data


def from_columns(columns: Mapping[str, NDArray[Any]], experiment: str, where: str) -> Samples:
    """Sort columns by what they are; those a model does not know are left out.

    The message size of a hot spot is a selector: its formulas hold for one size.
    """
    named = {_NAMES.get(key, key): values for key, values in columns.items()}
    if "pa" in named or "in" in named:
        size = named.pop("b", None)
        named |= {} if size is None else {"bytes": size}
    numbers = {name: _numbers(named[name], name, where) for name in VARIABLES if name in named}
    if not numbers:
        raise InputError(
            "no column is a variable of a model",
            where=where,
            hint=f"there are: {', '.join(VARIABLES)}",
        )
    selectors: dict[str, NDArray[Any]] = {}
    for name in (name for name in SELECTORS if name in named):
        values = named[name]
        whole = values.dtype.kind == "f" and np.all(values == np.floor(values))
        selectors[name] = values.astype(np.int64) if whole else values
        if any(not isinstance(value, str | int) for value in selectors[name].tolist()):
            raise InputError(f"a row without '{name}'", where=where)
    try:
        return Samples(numbers, selectors, _numbers(named["seconds"], "seconds", where), experiment)
    except InputError as error:
        raise InputError(error.what, where=where, hint=error.hint) from error


def joined(parts: Sequence[Samples]) -> Samples:
    """Put several measurements together.

    Raises
    ------
    InputError
        If they are not of the same experiment, or have not the same variables.
    """
    first = parts[0]
    for other in parts[1:]:
        if other.experiment != first.experiment:
            raise InputError(
                f"a '{first.experiment}' and a '{other.experiment}' cannot be fitted together"
            )
        if other.seconds_are != first.seconds_are:
            raise InputError(
                "times with different definitions cannot be fitted together: "
                f"'{printable(first.seconds_are, 60)}'"
                f" and '{printable(other.seconds_are, 60)}'"
            )
        if other.variables.keys() != first.variables.keys() or (
            other.selectors.keys() != first.selectors.keys()
        ):
            raise InputError("the inputs have different variables")
    return Samples(
        {
            name: np.concatenate([part.variables[name] for part in parts])
            for name in first.variables
        },
        {
            name: np.concatenate([part.selectors[name] for part in parts])
            for name in first.selectors
        },
        np.concatenate([part.seconds for part in parts]),
        first.experiment,
        [source for part in parts for source in part.made_from],
        first.seconds_are,
        [path for part in parts for path in part.partial],
        together(part.origin for part in parts),
    )


def _medians(seconds: Array, counts: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return the median and the relative median deviation of repetitions that follow each other."""
    if np.ptp(counts) == 0:
        rows = seconds.reshape(len(counts), -1)
        median = np.median(rows, axis=1)
        return median, np.median(np.abs(rows - median[:, None]), axis=1) / median
    parts = np.split(seconds, np.cumsum(counts)[:-1])
    median = np.array([np.median(part) for part in parts])
    pairs = zip(parts, median, strict=True)
    return median, np.array([np.median(np.abs(part - m)) / m for part, m in pairs])


def _numbers(values: NDArray[Any], name: str, where: str) -> Array:
    if values.dtype.kind not in "iuf":
        raise InputError(f"a '{name}' that is not a number", where=where)
    return values.astype(np.float64)
