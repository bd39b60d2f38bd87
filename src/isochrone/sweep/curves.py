"""The curves of a sweep over message sizes, with summary statistics.

The header of a run names the keys of its curves (``by``): a pair of ranks, an operation and its
number of ranks, the pairs of a bisection. The repetitions of a size become a point: the median with
its interval, the extremes, the mean and the bandwidth.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.documents import Hidden, IfKnown
from isochrone.base.errors import InputError
from isochrone.base.stats import median_of
from isochrone.base.table import Table, grouped
from isochrone.base.text import printable
from isochrone.runfile.columns import MAX_SECONDS
from isochrone.runfile.run import Run
from isochrone.runfile.samples import (
    Times,
    counted,
    enclose,
    passes_of,
    points,
    repetitions,
    summarise,
)

KIND = "sweep"

_NO_DATA = {"barrier"}
"""Operations without user data, which have no bandwidth."""

_OPERATIONS = "operations"
"""Member of a sample: multiplications and additions of a rank in the time of the sample."""


@dataclass(frozen=True, kw_only=True)
class Point(Times):
    """One size of a curve.

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
        Median over the repetitions of the time between the first and the last rank (or pair) to
        finish; None where only one time is known.
    rank_mean
        Mean over repetitions and ranks, which is what OSU prints; None as for ``skew``.
    stddev, p95, p95_low, p95_high, p99, p99_low, p99_high
        Spread of the repetitions, as in `Times`; null where not known.
    t_op
        Seconds of an arithmetic operation, where ranks compute; else None.
    """

    bytes: int
    stddev: float | None = None
    p95: float | None = None
    p95_low: float | None = None
    p95_high: float | None = None
    p99: float | None = None
    p99_low: float | None = None
    p99_high: float | None = None
    bandwidth: float | None = None
    bandwidth_low: IfKnown[float] = None
    bandwidth_high: IfKnown[float] = None
    message_rate: IfKnown[float] = None
    skew: IfKnown[float] = None
    rank_mean: IfKnown[float] = None
    t_op: IfKnown[float] = None


class CurveKey:
    """The key of a curve; members that the run does not use are absent."""

    pair: IfKnown[list[int]]
    pairs: IfKnown[int]
    op: IfKnown[str]
    grid: IfKnown[str]
    phase: IfKnown[str]
    groups: IfKnown[int]


@dataclass(frozen=True)
class Curve:
    """How the time of one thing depends on the message size.

    Attributes
    ----------
    key
        What it is of: ``{"pair": [0, 3]}``, ``{"pairs": 4}``, ``{"op": "bcast"}`` …
    p
        Number of ranks that took part.
    points
        By size, smallest first; at least one.
    times
        Seconds of each part (rank, or pair of a bisection) in each repetition, shape (repetitions,
        parts); None where the samples do not hold them.
    who
        Ranks of each part.
    experiment
        Its name, used for a curve without another key.
    """

    key: Annotated[dict[str, Any], CurveKey, "inline"]
    p: int
    points: tuple[Point, ...]
    times: Hidden[Floats | None] = field(default=None, repr=False, compare=False)
    who: Hidden[tuple[tuple[int, ...], ...]] = field(default=(), repr=False, compare=False)
    experiment: Hidden[str] = field(default="", compare=False)

    @property
    def name(self) -> str:
        """The key as text: ``ranks 0–3``, ``4 pairs at once``, ``bcast``."""
        if "pair" in self.key:
            return "ranks {}–{}".format(*self.key["pair"])
        if "pairs" in self.key:
            pairs = self.key["pairs"]
            return f"{pairs} pairs at once" if pairs != 1 else "1 pair"
        labels = [str(self.key[name]) for name in ("op", "grid") if name in self.key]
        named = ["op"]
        if "grid" in self.key:
            named += ["grid", "phase", "groups"]
            if not self.whole:
                groups = self.key.get("groups", 1)
                labels.append(
                    f"{self.key['phase']} {f'{groups} at once' if groups > 1 else 'alone'}"
                )
        labels += [f"{name} {value}" for name, value in self.key.items() if name not in named]
        return printable(", ".join(labels) or self.experiment.replace("-", " "), 40)

    @property
    def of_ranks(self) -> bool:
        """Whether its number of ranks is of interest: a pair always has two."""
        return "pair" not in self.key

    @property
    def computes(self) -> bool:
        """Whether it measures computation, not communication."""
        return any(point.t_op is not None for point in self.points)

    @property
    def whole(self) -> bool:
        """Whether it measures a whole operation, not one phase on a grid."""
        return "grid" not in self.key or self.key.get("phase", "total") == "total"

    @property
    def bytes(self) -> Ints:
        """The sizes."""
        return np.array([point.bytes for point in self.points], dtype=np.int64)

    def column(self, quantity: str) -> Floats:
        """Return one quantity of all points; NaN where it is None."""
        values = [getattr(point, quantity) for point in self.points]
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


@dataclass(frozen=True)
class Participant:
    """A rank of a collective, or a pair of a bisection, compared with the others of its curve.

    Attributes
    ----------
    who
        The rank, or the two ranks of the pair.
    last
        Fraction of the repetitions in which it finished last.
    ratio
        Median over the repetitions of its time over the median time of all parts.
    """

    who: Annotated[tuple[int, ...], "as ranks"]
    last: float
    ratio: float


def is_sweep(run: Run) -> bool:
    """Whether the samples of a run are times over message sizes."""
    return run.kind == KIND


def curves(run: Run) -> list[Curve]:
    """Summarise a sweep; only the samples that count (`isochrone.runfile.samples`) do.

    Raises
    ------
    InputError
        If the run is not a sweep, holds no sample, or its samples are damaged.
    """
    table = samples(run)
    rows_of = points(table, (*run.by, "bytes")).items()
    by_key = grouped((tuple(of), (int(nbytes), rows)) for (*of, (_, nbytes)), rows in rows_of)
    return [_curve(run, table, dict(of), sizes) for of, sizes in by_key.items()]


def no_such_size(nbytes: int, measured: Iterable[int], where: str = "") -> InputError:
    """Return the error for a size that was not measured; names the measured sizes."""
    hint = f"measured sizes: {', '.join(map(str, sorted(set(measured))))}"
    return InputError(f"the run has no measurement of {nbytes} bytes", where=where, hint=hint)


def of_size(all_curves: list[Curve], nbytes: int | None, where: str = "") -> list[Curve]:
    """Return the curves with all their sizes, or with the one size the user names.

    Raises
    ------
    InputError
        If this size was not measured.
    """
    if nbytes is None:
        return all_curves
    chosen = [
        replace(curve, points=points)
        for curve in all_curves
        if (points := tuple(point for point in curve.points if point.bytes == nbytes))
    ]
    if not chosen:
        raise no_such_size(
            nbytes, (size for curve in all_curves for size in curve.bytes.tolist()), where
        )
    return chosen


def participants(curve: Curve) -> list[Participant]:
    """Compare the ranks (or pairs) of a curve over all its repetitions, the slowest first.

    Empty where the samples do not hold the time of each.
    """
    times = curve.times
    if times is None or times.shape[1] < 2:
        return []
    middle = np.median(times, axis=1)
    ratio = np.median(times / np.where(middle > 0, middle, np.nan)[:, None], axis=0)
    last = np.bincount(times.argmax(axis=1), minlength=times.shape[1]) / len(times)
    order = np.argsort(-np.nan_to_num(ratio), kind="stable")
    return [Participant(curve.who[k], float(last[k]), float(ratio[k])) for k in order]


def samples(run: Run) -> Table:
    """Return the valid samples of a sweep.

    Raises
    ------
    InputError
        If the run is not a sweep, holds no sample, or its samples are damaged.
    """
    if not is_sweep(run):
        raise InputError(
            "the run is not a sweep over message sizes", where=run.where,
            hint="measure point-to-point, bisection or collective",
        )  # fmt: skip
    table = run.tables.get("sample")
    if table is None or not len(table):
        raise InputError(
            "the run has no samples",
            where=run.where,
            hint="measure again: the run ended before the first sample",
        )
    return counted(table, (*run.by, "bytes"))


def repetitions_of(run: Run) -> dict[tuple[str, int], dict[int, Floats]]:
    """Return the seconds of the repetitions by size, by the key and the ranks of their curve.

    Sizes with summary statistics only, as imported from other programs, are left out.

    Raises
    ------
    InputError
        If the run is not a sweep, holds no sample, or its samples are damaged.
    """
    table = samples(run)
    by_curve: dict[tuple[str, int], dict[int, Floats]] = {}
    for (*of, (_, nbytes)), rows in points(table, (*run.by, "bytes")).items():
        key, p = curve_key(dict(of), run.size)
        sizes = by_curve.setdefault((str(key), p), {})
        if repetitions(table, rows) == len(rows):
            sizes[int(nbytes)] = table["seconds"][rows].astype(np.float64)
    return by_curve


def _curve(run: Run, table: Table, of: Mapping[str, Any], sizes: list[tuple[int, Ints]]) -> Curve:
    """Make one curve; ``sizes`` holds the rows of each of its sizes."""
    key, p = curve_key(of, run.size)
    by_size = sorted(sizes, key=lambda size: size[0])
    curve_points = tuple(_point(run, table, rows, nbytes, key) for nbytes, rows in by_size)
    rows = np.sort(np.concatenate([rows for _, rows in sizes]))
    times = _times(table, rows)
    members = _who(run, times.shape[1]) if times is not None else ()
    return Curve(key, p, curve_points, times, members, run.experiment)


def curve_key(of: Mapping[str, Any], size: int) -> tuple[dict[str, Any], int]:
    """Return what a curve is of, and its number of ranks."""
    key = {k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in of.items()}
    p = int(key.pop("p", 2 if {"i", "j"} <= key.keys() else size))
    if {"i", "j"} <= key.keys():
        key = {"pair": [key.pop("i"), key.pop("j")], **key}
    return key, p


def _point(run: Run, table: Table, rows: Ints, nbytes: int, key: dict[str, Any]) -> Point:
    times = summarise(table, rows)
    factor = 2.0 if str(run.options.get("mode")).startswith("bidirectional") else 1.0
    moved = factor * nbytes if key.get("op") not in _NO_DATA else None
    seconds = (times.median, times.high, times.low)
    bandwidth, bandwidth_low, bandwidth_high = _bandwidth(table, rows, moved, seconds)
    if not times.has_interval:
        bandwidth_low = bandwidth_high = None
    window = run.options.get("window")
    several = isinstance(window, int) and window > 1
    of_ranks = _times(table, rows)
    return Point(
        **vars(times), bytes=nbytes,
        bandwidth=bandwidth, bandwidth_low=bandwidth_low, bandwidth_high=bandwidth_high,
        message_rate=bandwidth / nbytes if several and bandwidth and nbytes else None,

        skew=None if of_ranks is None or of_ranks.shape[1] < 2
        else median_of(np.ptp(of_ranks, axis=1)),
        rank_mean=float(of_ranks.mean()) if of_ranks is not None else None,
        t_op=_t_op(table, rows, of_ranks, times.median),
    )  # fmt: skip


def _bandwidth(
    table: Table, rows: Ints, nbytes: float | None, seconds: tuple[float, ...]
) -> tuple[float | None, ...]:
    """Return bytes per second and its interval: of the rates where the samples hold them."""
    if nbytes is None:
        return None, None, None
    if "rate" in table:
        rates = table["rate"][rows]
        if not np.isnan(rates).any():
            low, high, _ = enclose(rates, passes_of(table, rows))
            return median_of(rates), low, high
    return tuple(nbytes / value if value > 0 else None for value in seconds)


def _times(table: Table, rows: Ints) -> Floats | None:
    """Return the times of all ranks (or pairs) as a matrix, one row a sample; None if unknown."""
    if "times" not in table:
        return None
    lists = [table["times"][row] for row in rows.tolist()]
    width = len(lists[0]) if isinstance(lists[0], list) else 0
    for times in lists:
        if not (isinstance(times, list) and len(times) == width and width):
            return None
        if not all(type(v) in (int, float) and 0 <= v <= MAX_SECONDS for v in times):
            return None
    return np.array(lists, dtype=np.float64)


def _who(run: Run, count: int) -> tuple[tuple[int, ...], ...]:
    """Return the ranks of each time of a sample: the pairs of a bisection, or single ranks."""
    cut = run.tables.get("cut")
    if "pairs" in run.by and cut is not None and len(cut) == count:
        kinds = {cut[k].dtype.kind for k in ("i", "j") if k in cut}
        if {"i", "j"} <= set(cut.columns) and kinds == {"i"}:
            return tuple(zip(cut["i"].tolist(), cut["j"].tolist(), strict=True))
    return tuple((k,) for k in range(count))


def _t_op(table: Table, rows: Ints, times: Floats | None, seconds: float) -> float | None:
    """Return seconds of one arithmetic operation; None where the samples do not compute.

    Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of Communication
    Operations*, equations 1 and 2: an iteration takes its number of operations times t_op, and the
    communication.

    On several ranks it is that of the rank with the longest median, for which all others wait in
    each iteration.

    Parameters
    ----------
    table, rows
        The samples of one size of a curve.
    times
        Of each rank in each of them, shape (samples, ranks); None if not known.
    seconds
        Their median on the slowest rank of each sample.
    """
    if _OPERATIONS not in table:
        return None
    count = float(table[_OPERATIONS][rows[0]])
    longest = seconds if times is None else float(np.median(times, axis=0).max())
    return longest / count if count > 0 else None
