"""Several launches of one measurement: the typical time, and how far the next start may be from it.

A launch is one observation, the logarithm x of its median, however many repetitions it has: these
share where the launch has its ranks and pages (`comparison.verdict`). Of n launches with the mean
m and the standard deviation s of x, and t the quantile of Student's distribution for n - 1,

* the typical time is exp(m), which lies with 95 % in exp(m ± t s / √n) (Student 1908, *The probable
  error of a mean*, Biometrika 6, 1-25);
* the median of one more launch lies with 95 % in exp(m ± t s √(1 + 1/n)) (Hahn & Meeker 1991,
  *Statistical Intervals*, 4.7).

Both hold for starts like these: launches one after the other, on the same nodes, do not show what
other nodes or another day would add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from isochrone.base.documents import Hidden, Value, shown
from isochrone.base.errors import InputError
from isochrone.changes.alike import around, check_alike, environment
from isochrone.changes.machine import machine_parts
from isochrone.changes.maps import keys_of, matched
from isochrone.changes.measured import logs_of
from isochrone.changes.parts import Group
from isochrone.runfile.run import Run
from isochrone.sweep.curves import no_such_size

__all__ = ["Launches", "OverLaunches", "over_launches", "pool"]

Array = NDArray[np.float64]

CONFIDENCE: Final = 0.95


class OverLaunch(NamedTuple):
    """Times of one key over launches, as in `OverLaunches`; null where they are not known."""

    key: dict[str, Value]
    n: int
    seconds: float
    low: float | None
    high: float | None
    next_low: float | None
    next_high: float | None
    spread: float | None


@dataclass(frozen=True)
class OverLaunches:
    """Times over launches; arrays of one length, an element for each key.

    Attributes
    ----------
    keys
        What each is: of a point as in a comparison, of a level its name ``level`` and ``bytes``.
    n
        Launches that measured it.
    seconds
        Typical time: the geometric mean of the medians of the launches.
    low, high
        95 % interval of the typical time; NaN with one launch.
    next_low, next_high
        95 % interval of the median of the next launch; NaN likewise.
    spread
        Standard deviation between launches of the logarithm of the median, for small ones the
        part of the time by which launches differ; NaN likewise.
    """

    keys: list[dict[str, Any]]
    n: NDArray[np.int64]
    seconds: Array
    low: Array
    high: Array
    next_low: Array
    next_high: Array
    spread: Array

    def each(self) -> list[OverLaunch]:
        """Return the times of each key."""
        columns = [getattr(self, name).tolist() for name in OverLaunch._fields[1:]]
        return [OverLaunch(*row) for row in zip(self.keys, *columns, strict=True)]


@dataclass(frozen=True)
class Launches:
    """What several launches of one measurement say together.

    Attributes
    ----------
    experiment, kind
        What was measured, and its kind of result.
    launches
        How many.
    points
        Every point, or pair of a map.
    levels
        Of a map: of each launch the median over the pairs of a level; else empty.
    differences
        What differs around the launches: ``before`` is the first, ``after`` the others.
    notes
        How the ranks of maps were matched.
    """

    experiment: str
    kind: str
    launches: int
    points: Hidden[OverLaunches]
    levels: Hidden[OverLaunches]
    differences: list[dict[str, str]]
    notes: list[str]
    unit: Literal["launch"] = "launch"

    @property
    @shown
    def all_points(self) -> Annotated[list[OverLaunch], "as points"]:
        """The points, each by itself."""
        return self.points.each()

    @property
    @shown
    def all_levels(self) -> Annotated[list[OverLaunch], "as levels"]:
        """The levels, each by itself."""
        return self.levels.each()


def pool(runs: Sequence[Run], nbytes: int | None = None) -> Launches:
    """Take launches of one measurement together.

    Parameters
    ----------
    runs
        The launches; a partial one counts at the points it has.
    nbytes
        The message size that is meant; None: all.

    Raises
    ------
    InputError
        If there is one launch only, they measured unlike things, or hold no times of this size.
    """
    if len(runs) < 2:
        raise InputError(
            "one launch has no interval over launches; measure --runs 5", where=runs[0].where
        )
    check_alike(runs)
    levels: list[Group] = []
    notes: list[str] = []
    if "pair" in runs[0].tables:
        places, rows, logs = matched(runs)
        keys = keys_of(places, rows)
        parts = machine_parts(runs[0], runs[-1], places, rows)
        levels = [group for kind in parts for group in kind if group.kind == "level"]
        notes = [places.note] if places.note else []
        levels = [group for group in levels if _sized(rows[group.points[0], 2], nbytes)]
    else:
        keys, logs = logs_of(runs)
    if not keys:
        raise InputError("the launches hold no times", where=runs[0].where)
    chosen = [k for k, key in enumerate(keys) if _sized(key.get("bytes"), nbytes)]
    if not chosen:
        assert nbytes is not None
        known = (key["bytes"] for key in keys if "bytes" in key)
        raise no_such_size(nbytes, known, runs[0].where)
    sides = runs[:1], runs[1:]
    return Launches(
        runs[0].experiment, runs[0].kind, len(runs),
        over_launches([keys[k] for k in chosen], logs[:, chosen]), _of_levels(levels, logs),
        environment(*sides, around(*sides)), notes,
    )  # fmt: skip


def over_launches(keys: list[dict[str, Any]], logs: Array) -> OverLaunches:
    """Return the typical times and their intervals; the formulas are above.

    Parameters
    ----------
    keys
        What each column is.
    logs
        Logarithms of medians in seconds, shape (launches, columns), NaN where a launch lacks it;
        no column has nothing else.
    """
    n = np.sum(~np.isnan(logs), axis=0)
    mean = np.nansum(logs, axis=0) / n
    freedom = np.where(n > 1, n - 1, np.nan)
    spread = np.sqrt(np.nansum((logs - mean) ** 2, axis=0) / freedom)
    half = stdtrit(freedom, (1 + CONFIDENCE) / 2) * spread
    typical, coming = half / np.sqrt(n), half * np.sqrt(1 + 1 / n)
    with np.errstate(over="ignore"):  # two launches far apart: beyond any number
        low, high = np.exp(mean - typical), np.exp(mean + typical)
        next_low, next_high = np.exp(mean - coming), np.exp(mean + coming)
    return OverLaunches(keys, n, np.exp(mean), low, high, next_low, next_high, spread)


def _of_levels(levels: Sequence[Group], logs: Array) -> OverLaunches:
    """Take of each launch the median over the pairs of a level that all launches have."""
    whole = np.asarray(~np.isnan(logs).any(axis=0))
    keys: list[dict[str, Any]] = []
    columns = []
    for group in levels:
        own = group.points[whole[group.points]]
        if len(own):
            size = {} if group.nbytes is None else {"bytes": group.nbytes}
            keys.append({"level": group.who, **size})
            columns.append(np.median(logs[:, own], axis=1))
    return over_launches(keys, np.array(columns).reshape(len(keys), len(logs)).T)


def _sized(size: int | None, nbytes: int | None) -> bool:
    return nbytes is None or size == nbytes


def _known(value: float) -> float | None:
    return value if isfinite(value) else None
