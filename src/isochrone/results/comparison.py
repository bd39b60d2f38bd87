"""Two measurements of the same thing, point by point: what became slower, beyond chance.

Times are compared by the ratio of their medians. Its 95 % interval is a bootstrap (Efron &
Tibshirani 1993, *An Introduction to the Bootstrap*, chapter 13), and whether it is chance is told
by a rank test (Mann & Whitney 1947), as Hunold & Carpen-Amarie advise for MPI (2016, *Reproducible
MPI Benchmarking Is Still Not as Easy as You Think*, IEEE TPDS 27). With several runs on each side
the run is what is repeated: they are compared by the medians of the runs (Welch's test on their
logarithms), because the launches of a program differ more than its repetitions. Times of a
simulator know no chance.

Of many points some differ by chance. The p-values are corrected for that (Holm 1979, *A simple
sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 65-70): the
chance of calling *any* healthy point slower or faster is 5 %.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import bootstrap, mannwhitneyu, ttest_ind

from isochrone.base.errors import InputError
from isochrone.base.stats import INTERVAL_HALF, INTERVAL_WIDTH, MEDIAN_LOSS
from isochrone.base.text import printable
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Key, identity, points

__all__ = ["Comparison", "Change", "compare", "environment"]

Array = NDArray[np.float64]

RATE: Final = 0.05
"""Chance of even one wrong verdict."""

_RESAMPLES: Final = 1000
_WHAT: Final = ("mode", "window", "layout", "stride", "cache", "sync", "root", "op")
"""Options that change what a time is; others, such as limits, may differ and are listed."""


@dataclass(frozen=True)
class Change:
    """One point, measured on both sides.

    Attributes
    ----------
    key
        What the point is, for example ``{"op": "bcast", "p": 8, "bytes": 1024}``.
    before, after
        Medians in seconds.
    ratio, low, high
        after / before, and its 95 % interval.
    p
        Probability of such a difference by chance, corrected for the number of points.
    """

    key: dict[str, Any]
    before: float
    after: float
    ratio: float
    low: float
    high: float
    p: float

    @property
    def verdict(self) -> str:
        """``slower``, ``faster`` or ``same`` (which is: no difference was proved)."""
        if self.p >= RATE or self.low <= 1 <= self.high:
            return "same"
        return "slower" if self.ratio > 1 else "faster"

    def to_json(self) -> dict[str, Any]:
        """Return the point for JSON."""
        return {**vars(self), "verdict": self.verdict}


@dataclass(frozen=True)
class Comparison:
    """All points, and what differs in the environment."""

    experiment: str
    points: list[Change]
    differences: list[dict[str, str]]

    def to_json(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        verdicts = [point.verdict for point in self.points]
        return {
            "experiment": self.experiment,
            "counts": {word: verdicts.count(word) for word in ("slower", "faster", "same")},
            "points": [point.to_json() for point in self.points],
            "differences": self.differences,
        }


def compare(before: Sequence[Run], after: Sequence[Run], *, common: bool = False) -> Comparison:
    """Compare two measurements, or two sets of repeated ones.

    Parameters
    ----------
    before, after
        Runs of one experiment with the same options.
    common
        Compare the points that both sides have; else both must have the same ones.

    Raises
    ------
    InputError
        If they measured unlike things; says what differs.
    """
    runs = [*before, *after]
    _check_alike(runs)
    if "pair" in runs[0].tables:
        points = _compare_maps(before, after, common)
    else:
        points = _compare_samples(before, after, common)
    return Comparison(runs[0].experiment, points, environment(before, after))


def environment(before: Sequence[Run], after: Sequence[Run]) -> list[dict[str, str]]:
    """List what differs around the measurement: MPI, hosts, binding, launcher, options."""
    found = []
    sides = [_surroundings(before), _surroundings(after)]
    for what in dict.fromkeys(key for side in sides for key in side):
        left, right = (side.get(what, "not known") for side in sides)
        if left != right:
            found.append({"what": what, "before": left, "after": right})
    return found


def _surroundings(runs: Sequence[Run]) -> dict[str, str]:
    found: dict[str, list[str]] = {}

    def add(what: str, value: object) -> None:
        text = printable(value, 120)
        if text not in found.setdefault(what, []):
            found[what].append(text)

    for run in runs:
        about, hosts = run.about, Counter(run.hosts)
        for what, value in (
            ("mpi library", about.mpi.library),
            ("mpi standard", about.mpi.standard),
            ("clock source", about.clock.source),
            ("probe", about.probe),
        ):
            if value:
                add(what, value)
        add("clock simulated", about.clock.simulated)
        for key in sorted(about.options):
            add(f"option {key}", about.options[key])
        for key in sorted(about.notes):  # launcher, platform, version: of `isochrone measure`
            add(key, about.notes[key])
        add("hosts", ", ".join(hosts))
        add("ranks per host", list(hosts.values()))
        add("processor of each rank", [rank.cpu for rank in run.ranks])
    return {what: " and ".join(values) for what, values in found.items()}


def _check_alike(runs: Sequence[Run]) -> None:
    """Refuse runs that measured different things."""
    first = runs[0]
    for other in runs[1:]:
        pairs = [
            ("experiment", first.experiment, other.experiment),
            ("number of ranks", first.size, other.size),
            ("definition of the times", first.quantity or "?", other.quantity or "?"),
        ]
        for key in _WHAT:
            if key in first.options and key in other.options:
                pairs.append((f"option {key}", first.options[key], other.options[key]))
        for what, left, right in pairs:
            if left != right:
                raise InputError(
                    f"not the same thing: {what} is {printable(left, 60)} in one and "
                    f"{printable(right, 60)} in the other",
                    where=other.where,
                )


def _compare_samples(before: Sequence[Run], after: Sequence[Run], common: bool) -> list[Change]:
    sides = [[_samples(run) for run in runs] for runs in (before, after)]
    keys = _same_points(sides, common)
    simulated = all(run.origin == "simulated" for run in (*before, *after))
    generator = np.random.default_rng(1)
    found = []
    for key in keys:
        left, right = ([times[key] for times in side if key in times] for side in sides)
        medians = [np.array([np.median(part) for part in side]) for side in (left, right)]
        middle = [float(np.median(values)) for values in medians]
        low, high = _ratio_interval(left, right, generator)
        if simulated:
            chance = _certain(*middle)
        elif min(len(left), len(right)) > 1:
            chance = _welch(*(np.log(values) for values in medians))
        else:
            chance = _rank_test(np.concatenate(left), np.concatenate(right))
        found.append((dict(key), *middle, low, high, chance))
    return _points(found)


def _samples(run: Run) -> dict[Key, Array]:
    """Return the repetitions of each point that count."""
    table = run.tables.get("sample")
    if table is None or not len(table) or "seconds" not in table:
        raise InputError(f"a run of '{run.experiment}' holds no times to compare", where=run.where)
    seconds = table["seconds"]
    if seconds.dtype.kind != "f" or not np.all(np.isfinite(seconds) & (seconds > 0)):
        raise InputError("a 'sample' record whose 'seconds' is no time", where=run.where)
    names = identity(table, run.by)
    if not names:
        raise InputError("samples without a size", where=run.where)
    return {key: seconds[rows] for key, rows in points(table, names, run.where).items()}


def _compare_maps(before: Sequence[Run], after: Sequence[Run], common: bool) -> list[Change]:
    """Compare latency maps, which hold medians with intervals and no repetitions."""
    sides = [[_pairs(run) for run in runs] for runs in (before, after)]
    keys = _same_points(sides, common)

    logs, errors = [], []
    for side in sides:
        values = np.array([[pairs.get(key, (np.nan, np.nan)) for key in keys] for pairs in side])
        if len(side) > 1:  # the spread between the runs, not that within each
            logs.append(np.nanmean(values[:, :, 0], axis=0))
            errors.append(np.nanstd(values[:, :, 0], axis=0, ddof=1) / np.sqrt(len(side)))
        else:
            logs.append(values[0, :, 0])
            errors.append(values[0, :, 1])
    change = logs[1] - logs[0]
    error = np.hypot(*errors)
    chance = 2 * ndtr(-np.abs(change) / np.maximum(error, 1e-12))
    rows = zip(
        map(dict, keys), np.exp(logs[0]), np.exp(logs[1]),
        np.exp(change - INTERVAL_HALF * error), np.exp(change + INTERVAL_HALF * error), chance,
        strict=True,
    )  # fmt: skip
    return _points([(key, *map(float, numbers)) for key, *numbers in rows])


def _pairs(run: Run) -> dict[Key, tuple[float, float]]:
    """Return the logarithm of the median of each pair, and its standard error."""
    table = run.pairs()
    if "median" not in table:
        raise InputError("the pairs have no 'median'", where=run.where)
    median = np.maximum(table["median"], 1e-12)
    if "low" in table and "high" in table:
        high, low = np.maximum(table["high"], median), np.minimum(table["low"], median)
        error = np.log(high / low) / INTERVAL_WIDTH
    elif "stddev" in table and "n" in table:
        mean_error = table["stddev"] / np.sqrt(np.maximum(table["n"], 1))
        error = MEDIAN_LOSS * mean_error / median
    else:
        raise InputError("the pairs have no confidence intervals", where=run.where)
    logs, errors = np.log(median).tolist(), np.nan_to_num(error).tolist()
    found = points(table, ("i", "j", "bytes"), run.where)
    return {key: (logs[rows[-1]], errors[rows[-1]]) for key, rows in found.items()}


def _same_points(sides: Sequence[Sequence[dict[Key, Any]]], common: bool) -> list[Key]:
    """Return the points of both sides; refuse if one has others, unless only common ones count."""
    left, right = ({key: None for times in side for key in times} for side in sides)
    both = [key for key in left if key in right]
    if not both:
        raise InputError("the two sides have no point in common", hint=_others(left, right))
    if not common and (len(both) < len(left) or len(both) < len(right)):
        raise InputError(
            f"the two sides have different points: {_others(left, right)}",
            hint="--common compares only the common points",
        )
    return both


def _others(left: dict[Key, None], right: dict[Key, None]) -> str:
    """Say which values only one side has."""
    for name in [name for name, _ in next(iter(left), ())]:
        mine, yours = ({v for key in side for n, v in key if n == name} for side in (left, right))
        for only, which in ((mine - yours, "first"), (yours - mine, "second")):
            if only:
                shown = ", ".join(printable(v, 40) for v in sorted(only, key=repr)[:5])
                more = ", …" if len(only) > 5 else ""
                return f"only the {which} has {name} {shown}{more}"
    counts = len(left.keys() - right.keys()), len(right.keys() - left.keys())
    return f"{counts[0]} are only in the first, {counts[1]} only in the second"


def _ratio_interval(
    before: Sequence[Array], after: Sequence[Array], generator: np.random.Generator
) -> tuple[float, float]:
    """Return the 95 % interval of the ratio of the medians, after / before.

    A percentile bootstrap of the repetitions. With several runs on a side it draws runs first and
    then repetitions of each (Davison & Hinkley 1997, *Bootstrap Methods and their Application*,
    section 3.8), which `scipy.stats.bootstrap` cannot do: it resamples one level only.
    """
    if len(before) == len(after) == 1:
        # scipy refuses a single repetition; drawn from two equal ones it is always the same
        sides = [np.repeat(side, 2) if len(side) == 1 else side for (side,) in (before, after)]
        interval = bootstrap(
            sides, _ratio_of_medians, n_resamples=_RESAMPLES, vectorized=True,
            method="percentile", random_state=generator,
        ).confidence_interval  # fmt: skip
        return float(interval.low), float(interval.high)
    medians = [_resampled_medians(side, generator) for side in (before, after)]
    low, high = np.quantile(medians[1] / medians[0], [0.025, 0.975])
    return float(low), float(high)


def _ratio_of_medians(before: Array, after: Array, axis: int) -> Array:
    return np.asarray(np.median(after, axis=axis) / np.median(before, axis=axis))


def _resampled_medians(runs: Sequence[Array], generator: np.random.Generator) -> Array:
    """Return medians of drawn runs, each the median of drawn repetitions; shape (_RESAMPLES,)."""
    medians = np.empty((len(runs), _RESAMPLES))
    for k, times in enumerate(runs):
        drawn = generator.integers(0, len(times), (_RESAMPLES, len(times)))
        medians[k] = np.median(times[drawn], axis=1)
    chosen = generator.integers(0, len(runs), (len(runs), _RESAMPLES))
    medians = np.take_along_axis(medians, chosen, axis=0)
    return np.asarray(np.median(medians, axis=0), dtype=np.float64)


def _rank_test(left: Array, right: Array) -> float:
    if np.ptp(np.concatenate([left, right])) == 0:
        return 1.0
    return float(mannwhitneyu(left, right).pvalue)


def _certain(before: float, after: float) -> float:
    """Return the chance of a difference where there is no chance: only rounding is none."""
    return 0.0 if abs(after - before) > 1e-9 * before else 1.0


def _welch(left: Array, right: Array) -> float:
    """Return the p-value of Welch's t-test; runs that do not differ at all leave no doubt."""
    if np.ptp(left) == np.ptp(right) == 0:
        return 1.0 if left[0] == right[0] else 0.0
    with warnings.catch_warnings():  # scipy warns where the runs of one side are almost equal
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(ttest_ind(left, right, equal_var=False).pvalue)


def _points(rows: Sequence[tuple[Any, ...]]) -> list[Change]:
    """Correct the chances for their number (Holm 1979) and make the points."""
    chances = np.array([row[-1] for row in rows])
    order = np.argsort(chances, kind="stable")
    stepped = chances[order] * (len(rows) - np.arange(len(rows)))
    corrected = np.empty(len(rows))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return [
        Change(key, before, after, after / before, low, high, float(p))
        for (key, before, after, low, high, _), p in zip(rows, corrected, strict=True)
    ]
