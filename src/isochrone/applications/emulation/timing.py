"""How long applications took, alone and beside others, with intervals over the repetitions.

A repetition of all launches is one observation: what is repeated within a launch, its iterations,
shares where the launch has its ranks and pages. The launches of a repetition follow each other in
random order, so what the machine does to all of them cancels out in a slowdown: it is the median
over the repetitions of

    (seconds an iteration beside others) / (seconds an iteration alone), both of one repetition.

Intervals hold such a median with 95 %, whatever the distribution; those of five repetitions, the
smallest and the largest, with 93.75 % (`isochrone.base.inference.even_median_interval`). Fewer
repetitions give none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, fsum, log, nan
from typing import Annotated, TypeVar

import numpy as np

from isochrone.applications.emulation.recorded import App, Launched, PhaseSeconds, RankTime
from isochrone.base.documents import Hidden, Inline, MaybeNan
from isochrone.base.inference import FEW_GROUPS, Estimate, estimate
from isochrone.base.record import Members, Record
from isochrone.base.stats import median_of, quantile
from isochrone.base.table import grouped

MIN_REPEATS = FEW_GROUPS - 1
"""Fewer repetitions give no interval."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}

ENOUGH = {name: ceil(log(0.025) / log(fraction)) for name, fraction in QUANTILES.items()}
"""Iterations from which on a percentile is given: the slowest of so many lies beyond it with
97.5 %, so that they enclose it with 95 %. 6, 36, 368 and 3688."""

_TAIL = 100
"""Iterations of a launch from which on one of them may lie beyond the 99th percentile."""


_Times = TypeVar("_Times", RankTime, PhaseSeconds)

Apps = Sequence[App]
Launches = Sequence[Launched]


class Whose(Record):
    """An application, and those that ran at the same time: their names, and their numbers."""

    app: str
    beside: tuple[str, ...]
    number: Hidden[int]
    others: Hidden[tuple[int, ...]]


class Ratio(Estimate):
    """A ratio, which is not known without an interval."""

    median: Annotated[float, float | None, "as ratio"]

    @classmethod
    def of(cls, values: Iterable[float]) -> Ratio:
        """Return the median of at least one ratio."""
        ratio = estimate(values)
        return cls(ratio.n, ratio.median if ratio.known else nan, ratio.low, ratio.high)


class Wall(Whose):
    """Wall time of the iterations asked for.

    Attributes
    ----------
    seconds
        Of as many iterations as were asked for: a background application does more.
    overlap
        Part of the time in which all of them were running; the least over the repetitions.
    each
        Of each repetition.
    """

    seconds: Inline[Estimate]
    overlap: float
    each: tuple[float, ...]


class Slowdown(Whose):
    """How many times as long an application takes beside others as alone.

    Attributes
    ----------
    wall
        By its wall time.
    differs
        Whether the interval of that does not contain 1.
    tail
        By the 99th percentile of its iterations; None where a launch has fewer than a hundred.
    """

    wall: Inline[Ratio]
    differs: bool
    tail: Annotated[Ratio | None, "as p99"]


class _Percentiles:
    p50: float | None
    p90: float | None
    p99: float | None
    p99_9: Annotated[float | None, "as p99.9"]


class Iterations(Whose):
    """Percentiles of the iterations of all repetitions, in seconds; NaN where these are too few.

    Attributes
    ----------
    n
        Number of iterations.
    percentiles
        By the names of `QUANTILES`.
    max
        Of the slowest one.
    """

    n: int
    percentiles: Annotated[dict[str, float], _Percentiles, "inline"]
    max: float


_Whose = tuple[str, tuple[str, ...], int, tuple[int, ...]]
"""The members of `Whose`."""


Sets = dict[_Whose, list[Launched]]


def by_set(apps: Apps, launches: Launches) -> Sets:
    """Sort launches by application and by what ran beside it: nothing first, then one, then more.

    Those of a set are in the order of the repetitions.
    """
    ordered = sorted(launches, key=lambda of: (of.app, len(of.beside), of.beside, of.repeat))
    names = [app.name for app in apps]
    return grouped(
        ((names[of.app], tuple(names[k] for k in of.beside), of.app, of.beside), of)
        for of in ordered
    )


def walls(apps: Apps, sets: Sets) -> list[Wall]:
    """Return the wall times of the iterations asked for."""
    rows = []
    for whose, members in sets.items():
        seconds = tuple(_each(launch) * apps[launch.app].iterations for launch in members)
        rows.append(
            Wall(*whose, estimate(seconds), min(launch.overlap for launch in members), seconds)
        )
    return rows


def slowdowns(sets: Sets) -> list[Slowdown]:
    """Return the slowdown of each application beside each that it was launched with.

    Only repetitions count in which it also ran alone; without any there is none.
    """
    alone = {
        (of.app, of.repeat): of
        for members in sets.values()
        for of in members
        if not of.beside and of.seconds > 0
    }
    rows = []
    for whose, members in sets.items():
        pairs = [
            (of, alone[of.app, of.repeat])
            for of in members
            if of.beside and (of.app, of.repeat) in alone
        ]
        if not pairs:
            continue
        wall = Ratio.of(_each(launch) / _each(single) for launch, single in pairs)
        enough = min(len(launch.times) for pair in pairs for launch in pair) >= _TAIL
        ratios = [_tail(launch) / _tail(single) for launch, single in pairs] if enough else []
        tail = Ratio.of(ratios) if ratios and np.isfinite(ratios).all() else None
        rows.append(Slowdown(*whose, wall, wall.differs, tail))
    return rows


def iterations(sets: Sets) -> list[Iterations]:
    """Return percentiles of the iterations of each application, alone and beside others."""
    rows = []
    for whose, members in sets.items():
        times = np.concatenate([launch.times for launch in members])
        if not len(times):
            continue
        percentiles = {
            name: quantile(times, fraction) if len(times) >= ENOUGH[name] else nan
            for name, fraction in QUANTILES.items()
        }
        rows.append(Iterations(*whose, len(times), percentiles, float(times.max())))
    return rows


def _each(launch: Launched) -> float:
    """Return the seconds of an iteration: a background application does not do the same number."""
    return launch.seconds / launch.iterations


def _tail(launch: Launched) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return quantile(launch.times, QUANTILES["p99"]) or nan


# --- what ranks and phases did ------------------------------------------------------------------

PREEMPTED = 20.0
"""Involuntary context switches of a rank in a second from which on it shares its processor with
something: a rank of its own sees a few, one that takes turns with another 100 and more."""


class Range(Record):
    """The least, the mean and the most of ranks."""

    min: float
    mean: float
    max: float


class Shares(Whose):
    """Communication and computation of an application, over its ranks.

    Attributes
    ----------
    communication
        Part of the wall time; a rank counts with its median over the repetitions.
    delivered
        Computation delivered, by that asked for; NaN where none was asked for.
    switches
        Involuntary context switches of a rank in a second, the rank with most of them.
    """

    communication: Range
    delivered: MaybeNan
    switches: Annotated[float, "as switches_per_second"]


class Phase(Whose):
    """Time of a phase, in seconds an iteration, waiting included.

    Attributes
    ----------
    name
        Which it is.
    mean
        Over the ranks.
    max
        Of the slowest rank, the median over the repetitions.
    """

    name: Annotated[str, "as phase"]
    mean: Inline[Estimate]
    max: float


def shares(sets: Sets, times: Sequence[RankTime]) -> list[Shares]:
    """Return the shares of each application, alone and beside others, in the order of launches."""
    rows = []
    for whose, by_rank in _by_set(sets, [time for time in times if time.seconds > 0], "rank"):
        ranks = by_rank.values()
        if not ranks:
            continue
        ratios = [
            median_of([time.communication / time.seconds for time in of_rank]) for of_rank in ranks
        ]
        requested = fsum(time.asked for of_rank in ranks for time in of_rank)
        delivered = fsum(time.delivered for of_rank in ranks for time in of_rank)
        rates = [
            fsum(time.switches for time in of_rank) / fsum(time.seconds for time in of_rank)
            for of_rank in ranks
        ]
        rows.append(
            Shares(
                *whose,
                Range(float(min(ratios)), float(np.mean(ratios)), float(max(ratios))),
                delivered / requested if requested else nan,
                max(rates),
            )
        )
    return rows


class RankIterations(Whose):
    """Iterations of one rank, in seconds: medians over the repetitions; NaN where not known.

    Attributes
    ----------
    rank
        In its application.
    mean
        Its time divided by the number of iterations.
    p50, p99, p999
        Percentiles of a repetition.
    """

    rank: int
    mean: float
    p50: MaybeNan
    p99: MaybeNan
    p999: Annotated[MaybeNan, "as p99.9"]


def rank_iterations(sets: Sets, rows: Iterable[Members]) -> list[RankIterations]:
    """Return the iterations of each rank, alone and beside others; of ``rank_time`` records."""
    of_launch = grouped(((row["launch"], row["app"]), row) for row in rows)
    iterations_of_ranks = []
    for whose, members in sets.items():
        of_ranks = grouped(
            (row["rank"], {**row, "mean": row["seconds"] / launch.iterations})
            for launch in members
            for row in of_launch.get((launch.launch, launch.app), ())
        )
        iterations_of_ranks += [
            RankIterations(
                *whose,
                rank,
                *(
                    median_of([row.get(name, nan) for row in of_rank])
                    for name in ("mean", "p50", "p99", "p999")
                ),
            )
            for rank, of_rank in sorted(of_ranks.items())
        ]
    return iterations_of_ranks


def phases(apps: Apps, sets: Sets, times: Sequence[PhaseSeconds]) -> list[Phase]:
    """Return the time of each phase, alone and beside others."""
    rows = []
    for whose, by_phase in _by_set(sets, times, "phase"):
        names = apps[whose[2]].phases
        for phase, of_phase in sorted(by_phase.items()):
            name = names[phase] if phase < len(names) else str(phase)
            mean = estimate(time.mean for time in of_phase)
            rows.append(Phase(*whose, name, mean, median_of([time.max for time in of_phase])))
    return rows


def _by_set(
    sets: Sets, times: Iterable[_Times], key: str
) -> Iterator[tuple[_Whose, dict[int, list[_Times]]]]:
    """Yield each application, with those beside it, and its times by rank or phase."""
    of_launch = grouped(((time.launch, time.app), time) for time in times)
    for whose, members in sets.items():
        of_set = (time for of in members for time in of_launch.get((of.launch, of.app), ()))
        yield whose, grouped((getattr(time, key), time) for time in of_set)
