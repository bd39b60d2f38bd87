"""Which samples are valid, and the summary statistics of a point.

A *point* is what was repeated: a pair of ranks at a size, an operation on a number of ranks at a
size, a number of messages of a hot node. Of the records of a point

* those marked ``void`` or ``warmup`` are never used;
* where it was measured again because its neighbours did not explain it (``again``), or in isolation
  because it was slow (``retest``), the second measurement replaces the first;
* where a pair was measured in isolation several times, the one with the median time is used, the
  faster of two, because disturbances only make a pair slower.

The time of a point is the median of its valid records. Its 95 % interval is computed from the
medians of the passes, where there are enough, else from the repetitions. It covers variation within
the run, not between launches.

The spread of the repetitions is given by their standard deviation and two percentiles, each only
where there are enough repetitions to exceed it. Their intervals are computed from the repetitions
as if these were independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np

from isochrone.base.arrays import Array, Bools, Floats, Ints
from isochrone.base.documents import Hidden, MaybeNan
from isochrone.base.errors import InputError
from isochrone.base.inference import (
    FEW_GROUPS,
    grouped_median_interval,
    median_interval,
    quantile_interval,
)
from isochrone.base.stats import distinct, median_of, quantile
from isochrone.base.table import Table

Key = tuple[tuple[str, Any], ...]
"""What a point is: names and values, such as ``(("op", "bcast"), ("p", 8), ("bytes", 64))``."""

_SECOND = ("again", "retest")
_NEVER = ("void", "warmup")

MIN_SUMMARIES = 6
"""Minimum number of means for a 95 % interval of their median."""

LEAST_P95 = 20
LEAST_P99 = 100
"""Minimum number of repetitions for a percentile: with fewer, none is expected to exceed it."""

MARKS = (*_SECOND, *_NEVER)
"""Members of a record that decide whether it, or another of the same point, is used."""

_IDENTITY = (
    "op",
    "order",
    "phase",
    "hot",
    "intra",
    "in",
    "out",
    "pa",
    "pe",
    "shape",
    "pairs",
    "p",
    "i",
    "j",
    "bytes",
)
"""Members that identify a point; all others were measured or number its repetitions."""

SPREAD = ("stddev", "p95", "p95_low", "p95_high", "p99", "p99_low", "p99_high")
"""Members of `Times` for the spread of the repetitions."""


@dataclass(frozen=True, kw_only=True)
class Times:
    """Summary statistics of repetitions, in seconds.

    ``low`` and ``high`` are the 95 % interval of the median; NaN for a single repetition, and where
    only a summary is known, as of programs that print a mean. ``passes`` is the number of passes
    whose medians the interval is computed from; 0 if it is computed from the repetitions and does
    not cover variation between passes.

    ``stddev`` is the standard deviation of the repetitions, with n - 1. ``p95`` and ``p99`` are
    percentiles; None for fewer than 20 and 100 repetitions, and where only a summary is known.
    Their ``_low`` and ``_high`` are 95 % intervals; None for fewer than 72 and 368. Only documents
    of sweeps have them.

    Attributes
    ----------
    n
        Repetitions.
    passes
        Passes over the point; 0 if not known.
    median
        Seconds, as all others.
    low, high
        95 % interval of the median; null if not known.
    """

    n: int
    passes: int = 0
    median: float
    low: MaybeNan
    high: MaybeNan
    min: float
    mean: float
    max: float
    stddev: Hidden[float | None] = None
    p95: Hidden[float | None] = None
    p95_low: Hidden[float | None] = None
    p95_high: Hidden[float | None] = None
    p99: Hidden[float | None] = None
    p99_low: Hidden[float | None] = None
    p99_high: Hidden[float | None] = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the interval of the median; None where it is not known."""
        return (self.low, self.high) if self.has_interval else None

    @property
    def has_interval(self) -> bool:
        """Whether the interval of the median is known."""
        return not isnan(self.low)


def identity(table: Table, by: Sequence[str] = ()) -> tuple[str, ...]:
    """Name the members that identify a point.

    Parameters
    ----------
    table
        The records.
    by
        The keys of the curves of a sweep, from its header; empty for other kinds.
    """
    if by and all(name in table for name in (*by, "bytes")):
        return (*by, "bytes")
    return tuple(name for name in _IDENTITY if name in table)


def counting(table: Table, names: Sequence[str], where: str = "") -> Bools:
    """Mark the valid records; ``names`` are the members that identify a point.

    Raises
    ------
    InputError
        If a record does not identify its point; ``where`` names the file.
    """
    counts = ~table.flag(*_NEVER)
    second = table.flag(*_SECOND) & counts
    if second.any():
        code = _codes(table, names, where)
        counts &= second | ~np.isin(code, code[second])
        if "median" in table:
            counts &= ~second | _middle(code, table["median"], second)
    return counts


def _middle(code: Ints, median: Floats, second: Bools) -> Bools:
    """Mark the median of the second measurements of each point, the faster of two."""
    rows = np.flatnonzero(second)
    rows = rows[np.lexsort((median[rows], code[rows]))]
    _, start, count = np.unique(code[rows], return_index=True, return_counts=True)
    chosen = np.zeros(len(code), dtype=bool)
    chosen[rows[start + (count - 1) // 2]] = True
    return chosen


def counted(table: Table, names: Sequence[str], where: str = "") -> Table:
    """Return the valid records; errors as for `counting`."""
    return table.where(counting(table, names, where))


def points(table: Table, names: Sequence[str], where: str = "") -> dict[Key, Ints]:
    """Return the valid rows by point, in the order of the file.

    Raises
    ------
    InputError
        If a record does not identify its point; ``where`` names the file.
    """
    rows = np.flatnonzero(counting(table, names, where))
    if not len(rows):
        return {}
    _, first, index = np.unique(
        _codes(table, names, where)[rows], return_index=True, return_inverse=True
    )
    order = np.argsort(index.ravel(), kind="stable")
    groups = np.split(rows[order], np.cumsum(np.bincount(index.ravel()))[:-1])
    columns = [table[name][rows[first]].tolist() for name in names]
    keys = [tuple(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    return {keys[k]: groups[k] for k in np.argsort(first, kind="stable").tolist()}


def enclose(values: Floats, passes: Floats | None) -> tuple[float, float, int]:
    """Enclose the median of one point at 95 %.

    Parameters
    ----------
    values
        Of the repetitions, at least one.
    passes
        Number of the pass of each; None or NaN where not known.

    Returns
    -------
    tuple
        The two ends, and the number of passes used; 0: computed from the repetitions. NaN where
        even all repetitions enclose it at less than 90 %.
    """
    if passes is not None and not np.isnan(passes).any():
        count = len(distinct(passes))
        if count >= FEW_GROUPS:
            return (*grouped_median_interval(values, passes), count)
    if len(values) < FEW_GROUPS - 1:  # five: 93.75 %
        return nan, nan, 0
    return (*median_interval(values), 0)


def times_of(repetitions: Floats, passes: Floats | None = None) -> Times:
    """Summarise at least one repetition, in seconds; ``passes`` as for `enclose`."""
    low, high, count = enclose(repetitions, passes)
    return Times(
        n=len(repetitions),
        passes=count,
        median=median_of(repetitions),
        low=low,
        high=high,
        min=float(repetitions.min()),
        mean=float(repetitions.mean()),
        max=float(repetitions.max()),
        **spread_of(repetitions),
    )


def spread_of(repetitions: Floats) -> dict[str, float | None]:
    """Return the spread of repetitions, as members of `Times`; None where not known."""
    n = len(repetitions)
    same = repetitions - repetitions[:1]  # exactly 0 where all are equal
    spread = {"stddev": float(np.std(same, ddof=1)) if n > 1 else None}
    for name, fraction, fewest in (("p95", 0.95, LEAST_P95), ("p99", 0.99, LEAST_P99)):
        value = quantile(repetitions, fraction) if n >= fewest else None
        ends = quantile_interval(repetitions, fraction) if value is not None else None
        low, high = ends if ends is not None else (None, None)
        spread |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return spread


def summarise(table: Table, rows: Ints) -> Times:
    """Summarise the rows of one point.

    A sample of another program may represent several repetitions by their number ``n``, ``min``,
    ``max`` and ``mean``. Their spread is not known; an interval needs enough such samples.
    """
    times = times_of(table["seconds"][rows].astype(np.float64), passes_of(table, rows))
    means, minima, maxima = (_known(table, key, rows) for key in ("mean", "min", "max"))
    count = repetitions(table, rows)
    single = count == len(rows)  # a row is a repetition
    enough = (single and count > 1) or len(rows) >= MIN_SUMMARIES
    low, high = (times.low, times.high) if enough else (nan, nan)
    return Times(
        n=count,
        passes=times.passes,
        median=times.median,
        low=low,
        high=high,
        min=min([times.min, *minima]),
        max=max([times.max, *maxima]),
        mean=float(np.mean(means)) if len(means) == len(rows) else times.mean,
        **({name: getattr(times, name) for name in SPREAD} if single and not means else {}),
    )


def passes_of(table: Table, rows: Ints) -> Floats | None:
    """Return the number of the pass of each row; None if not recorded."""
    if "pass" not in table or table["pass"].dtype.kind not in "if":
        return None
    return table["pass"][rows].astype(np.float64)


def repetitions(table: Table, rows: Ints) -> int:
    """Count the repetitions that rows represent."""
    if "n" not in table or table["n"].dtype.kind not in "if":
        return len(rows)
    counts = table["n"][rows].astype(np.float64)
    return int(np.where((counts >= 1) & (counts < 2**53), counts, 1).sum())


def _known(table: Table, key: str, rows: Ints) -> list[float]:
    """Return the values of a column that are known."""
    values = table[key][rows].astype(np.float64) if key in table else np.empty(0)
    return [value for value in values.tolist() if value == value]


def _codes(table: Table, names: Sequence[str], where: str) -> Ints:
    """Return a number for each record, unique to its point."""
    code = np.zeros(len(table), dtype=np.int64)
    for name in names:
        codes, count = _numbered(table[name], name, where)
        if int(code.max(initial=0) + 1) * count >= 2**62:  # close the gaps between the numbers
            code = np.unique(code, return_inverse=True)[1].ravel()
        code = code * count + codes
    return code


def _numbered(column: Array, name: str, where: str) -> tuple[Ints, int]:
    """Return a number for each value of a column, and one more than the largest number."""
    if column.dtype.kind == "i" and len(column) and column.min() >= 0 and column.max() < 2**20:
        return column, int(column.max()) + 1
    if column.dtype.kind in "ifb":
        values, index = np.unique(column, return_inverse=True)
        return index.ravel(), len(values)
    numbers: dict[object, int] = {}
    try:
        codes = [numbers.setdefault(value, len(numbers)) for value in column.tolist()]
    except TypeError as error:
        raise InputError(f"the '{name}' of a record is a list", where=where) from error
    return np.array(codes, dtype=np.int64), max(len(numbers), 1)
