"""The curves of a sweep over message sizes, with summary statistics.

The header of a run names the keys of its curves (``by``): a pair of ranks, an operation and its
number of ranks, the pairs of a bisection. The repetitions of a size become a point: the median with
its interval, the extremes, the mean and the bandwidth.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.documents import Hidden, IfKnown
from isochrone.base.errors import InputError
from isochrone.base.record import Members
from isochrone.base.stats import median_of
from isochrone.base.table import Table, grouped
from isochrone.base.text import printable
from isochrone.pages.words import plural
from isochrone.runfile.run import Run
from isochrone.runfile.samples import (
    Times,
    counted,
    passes_of,
    points,
    repetitions,
    summarise,
)
from isochrone.sweep.overlap import overlap_of
from isochrone.sweep.rates import NO_RATE, Rate, bandwidth, efficiency, message_rate, times_of

KIND = "sweep"

_NO_DATA = {"barrier", "ibarrier", "barrier_persistent", "unexpected"}
"""Operations that move no user data in their time, and have no bandwidth."""

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
        Messages per second, of all pairs and threads; None unless several were in flight, or sent
        at the same time. ``message_rate_low`` and ``message_rate_high`` enclose it at 95 %.
    efficiency
        `message_rate` over that of one pair with one thread, and over the number of pairs times
        threads; None where the run has no such pair. ``efficiency_low`` and ``efficiency_high``
        enclose it at 95 %.
    skew
        Median over the repetitions of the time between the first and the last rank (or pair) to
        finish; None where only one time is known.
    rank_mean
        Mean over repetitions and ranks, which is what OSU prints; None as for ``skew``.
    stddev, p95, p95_low, p95_high, p99, p99_low, p99_high
        Spread of the repetitions, as in `Times`; null where not known.
    t_op
        Seconds of an arithmetic operation, where ranks compute; else None.
    overlap
        Part of a nonblocking or persistent operation that a computation hides, from 0 to 1; None
        where it was not measured. ``overlap_low`` and ``overlap_high`` enclose it at 95 %.
    post, complete
        Seconds of the call that begins such an operation, and of the one that waits for its end,
        beside the computation.
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
    message_rate_low: IfKnown[float] = None
    message_rate_high: IfKnown[float] = None
    efficiency: IfKnown[float] = None
    efficiency_low: IfKnown[float] = None
    efficiency_high: IfKnown[float] = None
    skew: IfKnown[float] = None
    rank_mean: IfKnown[float] = None
    t_op: IfKnown[float] = None
    overlap: IfKnown[float] = None
    overlap_low: IfKnown[float] = None
    overlap_high: IfKnown[float] = None
    post: IfKnown[float] = None
    complete: IfKnown[float] = None

    @property
    def mean_bandwidth(self) -> float | None:
        """Bytes over the mean time, which is what OSU prints; None where nothing is moved."""
        return self.bandwidth and self.bandwidth * self.median / self.mean

    @property
    def hidden(self) -> tuple[float, float, float] | None:
        """The overlap and its interval, whose ends may be NaN; None where not known."""
        ends = (self.overlap_low, self.overlap_high)
        if self.overlap is None:
            return None
        low, high = (np.nan if end is None else end for end in ends)
        return self.overlap, low, high

    @property
    def scaling(self) -> Rate | None:
        """The efficiency and both ends of its interval."""
        rate = Rate(self.efficiency, self.efficiency_low, self.efficiency_high)
        return None if rate.value is None else rate


class CurveKey:
    """The key of a curve; members that the run does not use are absent."""

    pair: IfKnown[list[int]]
    pairs: IfKnown[int]
    threads: IfKnown[int]
    op: IfKnown[str]
    grid: IfKnown[str]
    phase: IfKnown[str]
    groups: IfKnown[int]
    entries: IfKnown[int]


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
        Seconds of each part (rank, pair of a bisection, or pair of threads) in each repetition,
        shape (repetitions, parts); None where the samples do not hold them.
    who
        Ranks of each part.
    experiment
        Its name, used for a curve without another key.
    """

    key: Annotated[Members, CurveKey, "inline"]
    p: int
    points: tuple[Point, ...]
    times: Hidden[Floats | None] = field(default=None, repr=False, compare=False)
    who: Hidden[tuple[tuple[int, ...], ...]] = field(default=(), repr=False, compare=False)
    experiment: Hidden[str] = field(default="", compare=False)

    @property
    def name(self) -> str:
        """The key as text: ``ranks 0–3``, ``4 pairs at once with 2 threads``, ``bcast``."""
        if "pair" in self.key or "pairs" in self.key:
            pairs, threads = self.key.get("pairs", 1), self.key.get("threads")
            name = f"{pairs} pairs at once" if pairs != 1 else "1 pair"
            if "pair" in self.key:
                name = "ranks {}–{}".format(*self.key["pair"])
            return name if threads is None else f"{name} with {plural(threads, 'thread')}"
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
    def streams(self) -> int:
        """Pairs of threads that exchange messages at the same time."""
        return int(self.key.get("pairs", 1) * self.key.get("threads", 1))

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
    return _with_efficiency([_curve(run, table, dict(of), sizes) for of, sizes in by_key.items()])


def _with_efficiency(all_curves: list[Curve]) -> list[Curve]:
    """Compare each curve with the one of a single stream of messages, of the same pair if any."""
    single = {
        (str(curve.key.get("pair")), point.bytes): _message_rate(point)
        for curve in all_curves
        if curve.streams == 1
        for point in curve.points
    }

    def compared(curve: Curve, point: Point) -> Point:
        alone = single.get((str(curve.key.get("pair")), point.bytes))
        if alone is None or curve.streams == 1:
            return point
        value, low, high = efficiency(_message_rate(point), alone, curve.streams)
        return replace(point, efficiency=value, efficiency_low=low, efficiency_high=high)

    return [
        replace(curve, points=tuple(compared(curve, point) for point in curve.points))
        for curve in all_curves
    ]


def _message_rate(point: Point) -> Rate:
    return Rate(point.message_rate, point.message_rate_low, point.message_rate_high)


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


def samples(run: Run) -> Table:
    """Return the valid samples of a sweep.

    Raises
    ------
    InputError
        If the run is not a sweep, holds no sample, or its samples are damaged.
    """
    if not is_sweep(run):
        raise InputError(
            "the run is not a sweep over message sizes",
            where=run.where,
            hint="measure point-to-point, bisection or collective",
        )
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


def _curve(run: Run, table: Table, of: Members, sizes: list[tuple[int, Ints]]) -> Curve:
    """Make one curve; ``sizes`` holds the rows of each of its sizes."""
    key, p = curve_key(of, run.size)
    by_size = sorted(sizes, key=lambda size: size[0])
    curve_points = tuple(_point(run, table, rows, nbytes, key) for nbytes, rows in by_size)
    rows = np.sort(np.concatenate([rows for _, rows in sizes]))
    times = times_of(table, rows)
    members = _who(run, key, times.shape[1]) if times is not None else ()
    return Curve(key, p, curve_points, times, members, run.experiment)


def curve_key(of: Members, size: int) -> tuple[Members, int]:
    """Return what a curve is of, and its number of ranks."""
    key = {k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in of.items()}
    p = int(key.pop("p", 2 if {"i", "j"} <= key.keys() else size))
    if {"i", "j"} <= key.keys():
        key = {"pair": [key.pop("i"), key.pop("j")], **key}
    return key, p


def _point(run: Run, table: Table, rows: Ints, nbytes: int, key: Members) -> Point:
    times = summarise(table, rows)
    factor = 2.0 if str(run.options.get("mode")).startswith("bidirectional") else 1.0
    moved = factor * nbytes if key.get("op") not in _NO_DATA else None
    seconds = (times.median, times.high, times.low)
    moving, messages = bandwidth(table, rows, moved, seconds), NO_RATE
    window = run.options.get("window")
    of_ranks = times_of(table, rows)
    if of_ranks is not None and not {"pair", "pairs"}.isdisjoint(key):
        messages = message_rate(of_ranks, passes_of(table, rows), factor)
    elif isinstance(window, int) and window > 1 and nbytes:
        messages = moving.over(nbytes)
    if not times.has_interval:
        moving, messages = moving.alone(), messages.alone()
    return Point(
        **vars(times),
        bytes=nbytes,
        bandwidth=moving.value,
        bandwidth_low=moving.low,
        bandwidth_high=moving.high,
        message_rate=messages.value,
        message_rate_low=messages.low,
        message_rate_high=messages.high,
        skew=None
        if of_ranks is None or of_ranks.shape[1] < 2
        else median_of(np.ptp(of_ranks, axis=1)),
        rank_mean=float(of_ranks.mean()) if of_ranks is not None else None,
        t_op=_t_op(table, rows, of_ranks, times.median),
        **overlap_of(table, rows, times)._asdict(),
    )


def _who(run: Run, key: Members, count: int) -> tuple[tuple[int, ...], ...]:
    """Return the ranks of each time of a sample: pairs, once for each thread, or single ranks."""
    cut, pairs = run.tables.get("cut"), key.get("pairs")
    if pairs and cut is not None and len(cut) >= pairs and count == pairs * key.get("threads", 1):
        kinds = {cut[k].dtype.kind for k in ("i", "j") if k in cut}
        if {"i", "j"} <= set(cut.columns) and kinds == {"i"}:
            ranks = [*zip(cut["i"].tolist(), cut["j"].tolist(), strict=True)]
            return tuple(pair for pair in ranks[:pairs] for _ in range(count // pairs))
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
