"""A sweep over message sizes, summarised: one curve a pair of ranks, bisection or collective.

The raw repetitions of the experiments ``point-to-point``, ``bisection`` and ``collective`` become
points: for each size the median with its interval, the extremes, the mean and the bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.stats import median_interval
from isochrone.base.table import Table
from isochrone.base.text import printable
from isochrone.runfile.run import MAX_SECONDS, Run

__all__ = ["SWEEPS", "Curve", "Part", "Point", "curves", "is_sweep", "parts", "samples"]

SWEEPS: Final = ("point-to-point", "bisection", "collective")
"""The experiments whose samples are times over message sizes."""

_NO_DATA: Final = {"barrier"}
"""Operations that move no data of the user, so that they have no bandwidth."""

_MAX_BYTES: Final = 1 << 60
_MAX_RATE: Final = 1e18  # bytes a second; what a machine of 2040 may do, and no damaged number


@dataclass(frozen=True)
class Point:
    """One size of a curve. Times are seconds; ``low`` and ``high`` enclose the median at 95 %.

    Attributes
    ----------
    bytes
        Message size; for a collective the block of one rank, as in the call.
    n
        Repetitions.
    bandwidth
        Bytes per second, of both directions where both are used, of all pairs of a bisection; None
        where nothing is moved. ``bandwidth_low`` and ``bandwidth_high`` enclose it at 95 %.
    message_rate
        Messages per second; None unless several were in flight.
    skew
        Median over the repetitions of the time between the first rank (or pair) that was done and
        the last; None where only one time is known.
    rank_mean
        Mean over repetitions and ranks, which is what OSU prints; None as for ``skew``.
    """

    bytes: int
    n: int
    median: float
    low: float
    high: float
    min: float
    mean: float
    max: float
    bandwidth: float | None = None
    bandwidth_low: float | None = None
    bandwidth_high: float | None = None
    message_rate: float | None = None
    skew: float | None = None
    rank_mean: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the point for JSON, without what is known of no sweep of this kind."""
        document = dict(vars(self))
        for key in ("bandwidth_low", "bandwidth_high", "message_rate", "skew", "rank_mean"):
            if document[key] is None:
                del document[key]
        return document


@dataclass(frozen=True)
class Curve:
    """How the time of one thing depends on the message size.

    Attributes
    ----------
    key
        What it is of: ``{"pair": [0, 3]}``, ``{"pairs": 4}`` or ``{"op": "bcast"}``.
    p
        Number of ranks that took part.
    points
        By size, smallest first; at least one.
    """

    key: dict[str, Any]
    p: int
    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        """What it is of, for a person: ``ranks 0–3``, ``4 pairs at once``, ``bcast``."""
        if "pair" in self.key:
            return "ranks {}–{}".format(*self.key["pair"])
        if "pairs" in self.key:
            pairs = self.key["pairs"]
            return f"{pairs} pairs at once" if pairs != 1 else "1 pair"
        return printable(self.key["op"], 40)

    @property
    def bytes(self) -> NDArray[np.int64]:
        """The sizes."""
        return np.array([point.bytes for point in self.points], dtype=np.int64)

    def column(self, what: str) -> NDArray[np.float64]:
        """Return one quantity of all points; NaN where it is None."""
        values = [getattr(point, what) for point in self.points]
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        """Return the curve for JSON."""
        return {**self.key, "p": self.p, "points": [point.to_json() for point in self.points]}


@dataclass(frozen=True)
class Part:
    """A rank of a collective, or a pair of a bisection, compared with the others of its curve.

    Attributes
    ----------
    who
        The rank, or the two ranks of the pair.
    last
        Share of the repetitions in which it was the last to be done.
    ratio
        Median over the repetitions of its time over the median time of all parts.
    """

    who: tuple[int, ...]
    last: float
    ratio: float


def is_sweep(run: Run) -> bool:
    """Whether a run is of an experiment whose samples are times over message sizes."""
    return run.experiment in SWEEPS


def curves(run: Run) -> list[Curve]:
    """Summarise a sweep.

    Where a size was measured again because it did not fit its neighbours, the second measurement
    counts, as for the pairs of a latency map.

    Raises
    ------
    InputError
        If the run is no sweep, holds no sample, or its samples are damaged.
    """
    table = samples(run)
    factor = 2.0 if _option(run, "mode") == "bidirectional" else 1.0
    window = _option(run, "window")
    several = isinstance(window, int) and window > 1
    found = []
    for key, p, rows in _groups(run, table):
        points = tuple(_points(table, rows, key, factor, several=several))
        found.append(Curve(key, p, points))
    return found


def parts(run: Run, curve: Curve) -> list[Part]:
    """Compare the ranks (or pairs) of a curve over all its repetitions, the slowest first.

    Empty where the samples do not hold the time of each.
    """
    table = samples(run)
    for key, p, rows in _groups(run, table):
        if (key, p) != (curve.key, curve.p):
            continue
        times = _times(table, rows)
        if times is None or times.shape[1] < 2:
            return []
        middle = np.median(times, axis=1)
        ratio = np.median(times / np.where(middle > 0, middle, np.nan)[:, None], axis=0)
        last = np.bincount(times.argmax(axis=1), minlength=times.shape[1]) / len(times)
        who = _who(run, times.shape[1])
        order = np.argsort(-np.nan_to_num(ratio), kind="stable")
        return [Part(who[k], float(last[k]), float(ratio[k])) for k in order]
    return []


def samples(run: Run) -> Table:
    """Return the samples of a sweep, once it is certain that they can be used.

    Raises
    ------
    InputError
        If the run is no sweep, holds no sample, or its samples are damaged.
    """
    where = str(run.path or "")
    if not is_sweep(run):
        raise InputError(
            "this run holds no sweep over message sizes", where=where,
            hint=f"that is what {', '.join(SWEEPS)} measure",
        )  # fmt: skip
    table = run.tables.get("sample")
    if table is None or not len(table):
        raise InputError("this run holds no samples", where=where, hint="it was cut before them")
    for key in ("bytes", "seconds"):
        if key not in table:
            raise InputError(f"a 'sample' record without '{key}'", where=where)
    for key, limit, whole in (
        ("bytes", _MAX_BYTES, True), ("seconds", MAX_SECONDS, False), ("rate", _MAX_RATE, False),
        ("i", run.size - 1, True), ("j", run.size - 1, True), ("p", run.size, True),
        ("pairs", run.size // 2, True), ("min", MAX_SECONDS, False), ("max", MAX_SECONDS, False),
        ("mean", MAX_SECONDS, False),
    ):  # fmt: skip
        _check(table, key, limit, whole=whole, where=where)
    return table


def _check(table: Table, key: str, limit: float, *, whole: bool, where: str) -> None:
    """Refuse a column that holds anything else than numbers from 0 to ``limit``."""
    if key not in table:
        return
    values = table[key]
    if values.dtype.kind not in "if":
        raise InputError(f"a 'sample' record whose '{key}' is no number", where=where)
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if key in ("bytes", "seconds") and len(known) < len(values):
        raise InputError(f"a 'sample' record without '{key}'", where=where)
    if np.any((known < 0) | (known > limit)) or (whole and np.any(known != np.floor(known))):
        raise InputError(f"a 'sample' record whose '{key}' cannot be", where=where)


def _groups(run: Run, table: Table) -> Iterator[tuple[dict[str, Any], int, NDArray[np.int64]]]:
    """Yield what each curve is of, its number of ranks, and its rows in the order of the file."""
    names = {"point-to-point": ("i", "j"), "bisection": ("p", "pairs"), "collective": ("op", "p")}
    columns = [table[name].tolist() for name in names[run.experiment] if name in table]
    if len(columns) < 2:
        missing = " or ".join(f"'{name}'" for name in names[run.experiment] if name not in table)
        raise InputError(f"a 'sample' record without {missing}", where=str(run.path or ""))
    rows: dict[tuple[Any, Any], list[int]] = {}
    for row, one in enumerate(zip(*columns, strict=True)):
        if not all(isinstance(v, str) or (isinstance(v, int | float) and v == v) for v in one):
            raise InputError(
                "a 'sample' record that does not say what it is of", where=str(run.path or "")
            )
        rows.setdefault(one, []).append(row)
    for (a, b), found in rows.items():
        if run.experiment == "point-to-point":
            yield {"pair": [int(a), int(b)]}, 2, np.array(found)
        elif run.experiment == "bisection":
            yield {"pairs": int(b)}, int(a), np.array(found)
        else:
            yield {"op": str(a)}, int(b), np.array(found)


def _points(
    table: Table, rows: NDArray[np.int64], key: dict[str, Any], factor: float, *, several: bool
) -> Iterator[Point]:
    """Yield the points of one curve."""
    size = table["bytes"][rows].astype(np.int64)
    again = table.flag("again")[rows]
    for nbytes in np.unique(size).tolist():
        own = size == nbytes
        chosen = rows[own & again] if (own & again).any() else rows[own]
        yield _point(table, chosen, nbytes, key, factor, several=several)


def _point(
    table: Table, rows: NDArray[np.int64], nbytes: int, key: dict[str, Any], factor: float, *,
    several: bool,
) -> Point:  # fmt: skip
    seconds = table["seconds"][rows].astype(np.float64)
    median = float(np.median(seconds))
    low, high = median_interval(seconds)
    moved = factor * nbytes if key.get("op") not in _NO_DATA else None
    bandwidth, least, most = _bandwidth(table, rows, moved, (median, high, low))
    times = _times(table, rows)
    return Point(
        bytes=nbytes, n=_count(table, rows), median=median, low=low, high=high,
        min=_extreme(table, rows, "min", float(seconds.min())),
        mean=_mean(table, rows, float(seconds.mean())),
        max=_extreme(table, rows, "max", float(seconds.max())),
        bandwidth=bandwidth, bandwidth_low=least, bandwidth_high=most,
        message_rate=bandwidth / nbytes if several and bandwidth and nbytes else None,
        skew=_skew(times),
        rank_mean=float(times.mean()) if times is not None else None,
    )  # fmt: skip


def _bandwidth(
    table: Table, rows: NDArray[np.int64], nbytes: float | None, seconds: tuple[float, ...]
) -> tuple[float | None, ...]:
    """Return bytes per second and its interval: of the rates where the samples hold them."""
    if nbytes is None:
        return None, None, None
    if "rate" in table:
        rates = table["rate"][rows]
        if not np.isnan(rates).any():
            return (float(np.median(rates)), *median_interval(rates))
    return tuple(nbytes / value if value > 0 else None for value in seconds)


def _count(table: Table, rows: NDArray[np.int64]) -> int:
    """Count the repetitions; a sample of another program may stand for ``n`` of them."""
    if "n" not in table or table["n"].dtype.kind not in "if":
        return len(rows)
    counts = table["n"][rows].astype(np.float64)
    known = np.where((counts >= 1) & (counts < 2**53), counts, 1)
    return int(known.sum())


def _extreme(table: Table, rows: NDArray[np.int64], key: str, value: float) -> float:
    """Return the extreme of the samples, or of what they stand for if they know it."""
    if key not in table:
        return value
    known = table[key][rows]
    known = known[~np.isnan(known)]
    if not len(known):
        return value
    return min(value, float(known.min())) if key == "min" else max(value, float(known.max()))


def _mean(table: Table, rows: NDArray[np.int64], value: float) -> float:
    """Return the mean of the samples, or of what they stand for if they know it."""
    known = table["mean"][rows] if "mean" in table else np.array([np.nan])
    return value if np.isnan(known).any() else float(known.mean())


def _times(table: Table, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Return the times of all ranks (or pairs) as a matrix, one row a sample; None if unknown."""
    if "times" not in table:
        return None
    lists = [table["times"][row] for row in rows.tolist()]
    width = len(lists[0]) if isinstance(lists[0], list) else 0
    for one in lists:
        if not (isinstance(one, list) and len(one) == width and width):
            return None
        if not all(type(v) in (int, float) and 0 <= v <= MAX_SECONDS for v in one):
            return None
    return np.array(lists, dtype=np.float64)


def _skew(times: NDArray[np.float64] | None) -> float | None:
    """Return how long the last is behind the first, the median over the repetitions."""
    if times is None or times.shape[1] < 2:
        return None
    return float(np.median(np.ptp(times, axis=1)))


def _who(run: Run, count: int) -> list[tuple[int, ...]]:
    """Name the parts of a sample: the pairs of the bisection, or the ranks."""
    cut = run.tables.get("cut")
    if run.experiment == "bisection" and cut is not None and len(cut) == count:
        kinds = {cut[k].dtype.kind for k in ("i", "j") if k in cut}
        if {"i", "j"} <= set(cut.columns) and kinds == {"i"}:
            return list(zip(cut["i"].tolist(), cut["j"].tolist(), strict=True))
    return [(k,) for k in range(count)]


def _option(run: Run, key: str) -> object:
    options = run.header.get("options")
    value = options.get(key) if isinstance(options, dict) else None
    return None if isinstance(value, float) and math.isnan(value) else value
