"""Several launches of one measurement: the typical time, and the prediction interval of the next.

A launch is one observation, the logarithm x of its median, because its repetitions are correlated
(`base.inference`). For n launches with the mean m and the standard deviation s of x, and t the
quantile of Student's distribution for n - 1,

* the typical time is exp(m), with the 95 % interval exp(m ± t s / √n) (Student 1908, *The probable
  error of a mean*, Biometrika 6, 1-25);
* the 95 % interval of the median of one more launch is exp(m ± t s √(1 + 1/n)) (Hahn & Meeker 1991,
  *Statistical Intervals*, 4.7).

Launches one after the other on the same nodes do not show the variation between nodes or days.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.documents import Hidden, MaybeNan, Value, shown
from isochrone.base.errors import InputError
from isochrone.base.inference import group_medians, means
from isochrone.base.record import Members, Record
from isochrone.changes.comparability import check_comparable, environment
from isochrone.changes.log_medians import measured
from isochrone.runfile.run import Run
from isochrone.sweep.curves import no_such_size


class OverLaunch(NamedTuple):
    """Times of one key over launches, as in `OverLaunches`; null where they are not known."""

    key: dict[str, Value]
    n: int
    seconds: float
    low: MaybeNan
    high: MaybeNan
    next_low: MaybeNan
    next_high: MaybeNan
    spread: MaybeNan


class OverLaunches(Record):
    """Times over launches; arrays of one length, an element for each key.

    Attributes
    ----------
    keys
        The key of a point as in a comparison; of a level its name ``level`` and ``bytes``.
    n
        Launches that measured it.
    seconds
        Typical time: the geometric mean of the medians of the launches.
    low, high
        95 % interval of the typical time; NaN with one launch.
    next_low, next_high
        95 % interval of the median of the next launch; NaN likewise.
    spread
        Standard deviation between launches of the log-median, about the relative variation; NaN
        likewise.
    """

    keys: list[Members]
    n: Ints
    seconds: Floats
    low: Floats
    high: Floats
    next_low: Floats
    next_high: Floats
    spread: Floats

    def each(self) -> list[OverLaunch]:
        """Return the times of each key."""
        columns = [getattr(self, name).tolist() for name in OverLaunch._fields[1:]]
        return [OverLaunch(*row) for row in zip(self.keys, *columns, strict=True)]


class Launches(Record):
    """Several launches of one measurement, pooled.

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
        Differences of the environment: ``before`` is the first launch, ``after`` the others.
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
    """Pool launches of one measurement.

    Parameters
    ----------
    runs
        The launches; of a partial one the points it has are used.
    nbytes
        A message size; None: all.

    Raises
    ------
    InputError
        If there is only one launch, or they are not comparable, or have no times of this size.
    """
    if len(runs) < 2:
        raise InputError(
            "a single launch has no interval between launches; use measure --launches 5",
            where=runs[0].where,
        )
    check_comparable(runs)
    measurement = measured(runs)
    if not measurement.logs.size:
        raise InputError("the launches have no times", where=runs[0].where)

    def sized(k: int) -> bool:
        return nbytes is None or measurement.key(k).get("bytes") == nbytes

    every = range(measurement.logs.shape[1])
    chosen = list(filter(sized, every))
    if not chosen:
        assert nbytes is not None
        sizes = (key["bytes"] for key in map(measurement.key, every) if "bytes" in key)
        raise no_such_size(nbytes, sizes, runs[0].where)
    levels = [
        group
        for kind in measurement.kinds(np.array(every))
        for group in kind
        if group.kind == "level" and sized(int(group.points[0]))
    ]
    medians = group_medians(measurement.logs, [group.points for group in levels])
    common = np.asarray(~np.isnan(medians).all(axis=0))
    names = [
        {"level": group.who} | ({} if group.nbytes is None else {"bytes": group.nbytes})
        for group, usable in zip(levels, common, strict=True)
        if usable
    ]
    return Launches(
        runs[0].experiment,
        runs[0].kind,
        len(runs),
        over_launches(list(map(measurement.key, chosen)), measurement.logs[:, chosen]),
        over_launches(names, medians[:, common]),
        environment(runs[:1], runs[1:])[1],
        measurement.notes,
    )


def over_launches(keys: list[Members], logs: Floats) -> OverLaunches:
    """Return the typical times and their intervals; the formulas are above.

    Parameters
    ----------
    keys
        The key of each column.
    logs
        Logarithms of medians in seconds, shape (launches, columns), NaN where a launch lacks it;
        no column is all NaN.
    """
    log_means = means(logs)
    with np.errstate(over="ignore"):
        low, high, next_low, next_high = np.exp([*log_means.interval(), *log_means.next_interval()])
    spread = np.sqrt(log_means.squared * log_means.n)
    n, seconds = log_means.n.astype(np.int64), np.exp(log_means.middle)
    return OverLaunches(keys, n, seconds, low, high, next_low, next_high, spread)
