"""What a model is fitted to: measured times, and their medians at each combination of variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from isochrone.base.arrays import Array, Bools, Floats, Ints
from isochrone.base.errors import InputError, located
from isochrone.base.text import printable
from isochrone.base.units import LARGEST, MAX_SECONDS, MIN_SECONDS
from isochrone.models.data.extension import adding, readers_of
from isochrone.models.data.placement import (
    CG,
    GROUP,
    completed_places,
    full_node,
    informative,
    pairs_on_nodes,
    placement_of,
    unfilled,
)
from isochrone.models.data.starts import ONE_START, Starts, numbered, summarised
from isochrone.models.data.terms import NUMBERED, VARIABLES, Selector, picked
from isochrone.runfile.run import NO_RESULT, Run
from isochrone.runfile.samples import counted, identity

SHARED = "measured on ranks that shared processors: it predicts this machine in that state"
"""Remark on data of a run with more ranks than processors."""

SWEEP = "sweep"
"""The kind of run whose options say what was sent."""

TABLE = "table"
"""The experiment of a CSV."""

COUNTED = ("p", "nodes", "ppn", "w")
"""Variables that are whole numbers from 1."""

MIN_VARIABLE = 1e-12
"""A variable is zero, or no smaller than this."""

SELECTORS = ("op", "order", "mode", "threads", "bytes", *NUMBERED)
"""What keeps data apart: each value gets formulas of its own."""

NAMES = {"bytes": "b", "ranks": "p", "window": "w"}
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
        Median of the repetitions, of several starts of the job the geometric mean of their medians;
        shape (n,).
    repeats
        How many repetitions, shape (n,).
    noise
        Typical relative standard error of a median; None if nothing was repeated.
    starts
        How far one start of the job is from the next.
    start
        Number of the start of each point, -1 where it is of several; shape (n,).
    constant
        Variables that are the same in all data and left out therefore: ``nodes`` or ``ppn``.
    """

    where: dict[str, Selector]
    variables: dict[str, Floats]
    seconds: Floats
    repeats: Ints
    noise: float | None
    starts: Starts = ONE_START
    start: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    constant: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not len(self.start):
            object.__setattr__(self, "start", np.zeros(len(self.seconds), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.seconds)

    @cached_property
    def distinct(self) -> dict[str, tuple[Floats, Ints]]:
        """The values of each variable, and the number of the value of each point."""
        columns = {}
        for name, column in self.variables.items():
            values, codes = np.unique(column, return_inverse=True)
            columns[name] = values, codes.ravel()
        return columns

    def only(self, mine: Bools) -> Observations:
        """Return some of the points."""
        return replace(
            self,
            variables=picked(self.variables, mine),
            seconds=self.seconds[mine],
            repeats=self.repeats[mine],
            start=self.start[mine],
        )


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
    start
        Number of the start of the job that measured a row, shape (n,); all of one if not given.
    others
        Columns that are neither variables nor selectors: rows that differ only in them are
        repetitions. Arrays by name, shape (n,).
    remarks
        What was found while reading that a user should know, one sentence each.
    kept
        What a model keeps beside its formulas, by its key in a model file (`extension.Kept`).
    read_as
        What the columns of tables were taken for, where their names are not those of Isochrone.
    """

    variables: dict[str, Floats]
    selectors: dict[str, Array]
    seconds: Floats
    experiment: str
    made_from: list[dict[str, str]] = field(default_factory=list)
    seconds_are: str = ""
    partial: list[str] = field(default_factory=list)
    origin: str = ""
    start: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    others: dict[str, Array] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    kept: dict[str, list[object]] = field(default_factory=dict)
    read_as: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not len(self.start):
            self.start = np.zeros(len(self.seconds), dtype=np.int64)
        columns = [*self.variables.values(), self.seconds]
        if not len(self.seconds):
            raise InputError("the data have no measured times")
        if not all(np.all(np.isfinite(column)) for column in columns):
            raise InputError("a value is not a finite number")
        if not np.all(self.seconds > 0):
            raise InputError("a measured time is zero or negative")
        absurd = self.seconds[(self.seconds < MIN_SECONDS) | (self.seconds > MAX_SECONDS)]
        if len(absurd):
            raise InputError(
                f"a measured time of {absurd[0]:g} s is implausible",
                hint=f"times are in seconds, from {MIN_SECONDS:g} to {MAX_SECONDS:g}",
            )
        for name, column in self.variables.items():
            minimum = 1 if name in COUNTED else 0
            wrong = column[
                (column < minimum)
                | (column > LARGEST)
                | ((column > 0) & (column < MIN_VARIABLE))
                | ((name in COUNTED) & (column != np.floor(column)))
            ]
            if len(wrong):
                raise InputError(
                    f"'{name}' is {wrong[0]:g}, which is not a valid {VARIABLES[name]}"
                )

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
                available = ", ".join(map(str, dict.fromkeys(self.selectors[key].tolist())))
                raise InputError(
                    f"no measured times of {key} '{value}'", hint=f"there are: {available}"
                )
        return self.rows(keep)

    def rows(self, keep: Bools) -> Samples:
        """Return some of the rows; ``keep`` has the shape (n,)."""
        return replace(
            self,
            variables=picked(self.variables, keep),
            selectors=picked(self.selectors, keep),
            seconds=self.seconds[keep],
            start=self.start[keep],
            others=picked(self.others, keep),
        )

    @property
    def constants(self) -> dict[str, float]:
        """What is the same in all rows and no variable therefore: ``nodes`` or ``ppn``."""
        return informative(self.variables)[1]

    @property
    def full_node(self) -> int:
        """Ranks on a full node if one node was filled after the other; 0 if not.

        Of runs of grid collectives that is said of rows: a column is spread over nodes.
        """
        if GROUP not in self.selectors:
            return full_node(self.variables)
        return full_node(picked(self.variables, self.selectors[GROUP] == CG))

    def points(self) -> Ints:
        """Return the number of the point of each row: rows of one point are repetitions."""
        return numbered(*self.variables.values(), *self.selectors.values())

    def observations(self) -> list[Observations]:
        """Return the medians, kept apart by the selectors."""
        variables, constant = informative(self.variables)
        every = []
        for where, mine in apart(self.selectors, len(self.seconds)):
            rows = np.column_stack([values[mine] for values in variables.values()])
            unique_rows, index = np.unique(rows, axis=0, return_inverse=True)
            points = summarised(self.seconds[mine], index.ravel(), self.start[mine])
            named = dict(zip(variables, unique_rows.T, strict=True))
            every.append(Observations(where, named, *points, constant))
        return every


def apart(columns: Mapping[str, Array], rows: int) -> Iterator[tuple[dict[str, Selector], Ints]]:
    """Yield each combination of values in columns, and the rows that have it; all without any."""
    if not columns:
        yield {}, np.arange(rows)
        return
    keys = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    index = np.array([numbers[key] for key in keys])
    for key, k in numbers.items():
        yield dict(zip(columns, key, strict=True)), np.flatnonzero(index == k)


def applicable(
    selectors: Mapping[str, Sequence[Selector]], observed: Sequence[Observations]
) -> Iterator[Observations]:
    """Yield the observations of what a model holds, such as its operations."""
    for points in observed:
        if all(points.where[key] in selectors[key] for key in selectors if key in points.where):
            yield points


def of_run(run: Run) -> Samples:
    """Return the samples of a run file as columns.

    Raises
    ------
    InputError
        If the run holds no samples with a time and variables a model knows.
    """
    table = run.tables.get("sample")
    if table is None or "seconds" not in table or not len(table):
        if not run.tables:
            raise InputError(NO_RESULT, where=run.where)
        raise InputError(
            f"a run of '{run.experiment}' cannot be fitted",
            where=run.where,
            hint="fit takes point-to-point, bisection, collective, hotspot, and tables",
        )
    readers = readers_of(run)
    read = next((reader.columns for reader in readers if reader.columns), _columns_of)
    columns = read(run)
    data = from_columns(columns, run.experiment, run.where)
    # what else tells the samples of a run apart, as texts
    if {"i", "j"} <= columns.keys():
        pairs = zip(columns["i"].tolist(), columns["j"].tolist(), strict=True)
        data.others["pair"] = np.array([f"{i}-{j}" for i, j in pairs])
    for key in (key for key in ("pairs", "root") if key in columns):
        data.others[key] = np.array([printable(value) for value in columns[key].tolist()])
    library = printable(run.library.library.partition("\n")[0], 60)
    data.others["MPI library"] = np.full(len(columns["seconds"]), library)
    data.seconds_are = run.quantity
    data.partial = [] if run.complete else [run.where]
    data.origin = run.origin
    data.remarks = [SHARED] * run.oversubscribed
    for reader in readers:
        data.selectors |= {name: columns[name] for name in reader.selectors}
        data.others |= {name: columns[name] for name in reader.others}
        records = {key: kind.found(run, columns) for key, kind in reader.kept.items()}
        data.kept |= {key: entries for key, entries in records.items() if entries}
    return data


def _columns_of(run: Run) -> dict[str, Array]:
    """Return the samples that count, with what the run says of all of them."""
    table = run.tables["sample"]
    columns = dict(counted(table, identity(table, run.by), run.where).columns)
    for key in ("mode", "window"):
        value = run.options.get(key)
        if key not in columns and isinstance(value, str | int) and run.kind == SWEEP:
            cleaned = printable(value) if isinstance(value, str) else value
            columns[key] = np.full(len(columns["seconds"]), cleaned)
    if "p" in columns and np.all(columns["p"] == run.size):
        for key, count in placement_of(run).items():
            columns[key] = np.full(len(columns["seconds"]), count)
    if {"i", "j"} <= columns.keys() and run.kind == SWEEP:
        columns |= pairs_on_nodes(run, columns["i"], columns["j"])
    return columns


def from_columns(columns: Mapping[str, Array], experiment: str, where: str) -> Samples:
    """Sort columns by what they are; those a model does not know are left out.

    The size of counted messages is a selector: their formulas hold for one size. ``n`` is a number
    of operations only where nothing else says what took the time: in run files, and in tables of
    other programs, it is the number of repetitions that a row stands for.
    """
    named = {NAMES.get(key, key): values for key, values in columns.items()}
    added = adding(named)
    kind = added.with_bytes[0] if added else ""
    if added:
        size = named.pop("b", None)
        named |= {} if size is None else {"bytes": size}
    if not named.keys().isdisjoint(VARIABLES.keys() - {"n"}):
        named.pop("n", None)  # beside what was communicated it counts repetitions
    numbers = {name: _numbers(named[name], name, where) for name in VARIABLES if name in named}
    if not numbers:
        raise InputError(
            "no column of the table is a variable of a model",
            where=where,
            hint=f"there are: {', '.join(VARIABLES)}",
        )
    selectors = {}
    for name in (name for name in SELECTORS if name in named):
        values = named[name]
        integral = values.dtype.kind == "f" and np.all(
            (np.abs(values) < 2**53) & (values == np.floor(values))
        )
        selectors[name] = values.astype(np.int64) if integral else values
        if any(not isinstance(value, str | int) for value in selectors[name].tolist()):
            raise InputError(f"a row has no '{name}'", where=where)
        if len({isinstance(value, str) for value in selectors[name].tolist()}) > 1:
            raise InputError(f"'{name}' is missing in some rows", where=where)
    remarks = []
    if experiment == TABLE:
        numbers |= completed_places(numbers)
    nodes_only = "op" in named and not {"p", "ppn", "n"} & numbers.keys()
    if nodes_only and np.ptp(numbers.pop("nodes", np.zeros(1))):
        remarks.append("'nodes' is not used: it takes 'p' or 'ppn' as well")
    if unfilled(numbers).any():
        del numbers["ppn"]
        remarks.append(
            "not in every row do p ranks fill the nodes with ppn on each: 'ppn' is not used"
        )
    with located(where):
        return Samples(
            numbers,
            selectors,
            _numbers(named["seconds"], "seconds", where),
            experiment,
            others={kind: named[kind]} if kind in named else {},
            remarks=remarks,
        )


def _numbers(values: Array, name: str, where: str) -> Floats:
    if values.dtype.kind not in "iuf":
        raise InputError(f"a '{name}' is not a number", where=where)
    return values.astype(np.float64)
