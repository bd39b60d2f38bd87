"""Times between measured numbers of ranks and sizes, and beyond, where no formula is right.

Real machines switch algorithms, and no formula may hold. Then straight lines between the measured
neighbours, of the time in bytes and of its logarithm in log p, are closer to the truth than any
formula, with or without its interpolated residual (`bench/field_models.py`). Beyond the measured
sizes, and below the measured ranks, the time follows the formula from the nearest measured point.

Beyond the largest number of ranks, two predictions are averaged in log t: that of the formula from
the last measured time on, and a power law in p of each size. Their average is off by less than
either (Bates & Granger 1969, *The combination of forecasts*, Operational Research Quarterly 20,
451-468). On real machines neither backtest tells which will be better, so both weigh the same
unless one was right about the largest numbers of ranks.

A formula that is right where it was measured is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from scipy.special import ndtri

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.stats import quantile
from isochrone.models.data.observations import Observations
from isochrone.models.data.terms import Selector
from isochrone.models.thresholds import (
    BEYOND,
    BLUNT,
    DENSER,
    INSIDE_LEAST,
    MAX_RIGHT_ERRORS,
    MAX_SLOPE,
    MIN_MACHINE_ERROR,
    MIN_RANK_COUNTS,
    OTHER_UNIT,
    SLOPE_SIZES,
    TWICE,
)

Points = Mapping[str, Floats]
ByFormula = Callable[[Points], Floats]
"""Seconds of points by the formula."""


_KNOTS = 2
"""Numbers of ranks in each doubling beyond the data than whose times later ones are not below."""


class Neighbours(msgspec.Struct):
    """Measured times of an operation on a grid of ranks and message sizes.

    Attributes
    ----------
    where
        Selectors it is for, for example ``{"op": "gather"}``.
    p, b
        Numbers of ranks, and message sizes in bytes; no sizes if the data have none.
    seconds, formula
        Measured time, and that of the formula, of each size at each number of ranks.
    power_law
        Weight of the power laws beyond the largest number of ranks; the formula has the rest.
    inside
        95 % quantile of |log(measured / interpolated)| at values that were left out between others;
        of a trusted formula, by how much it may leave the measured neighbours.
    rising
        Variables with which times never fall.
    trusted
        Whether the formula is right where it was measured: it is replaced only where it leaves the
        measured neighbours.
    tested
        Whether it also predicted the largest numbers of ranks from the others.
    """

    where: dict[str, Selector]
    p: list[float]
    b: list[float]
    seconds: list[list[float]]
    formula: list[list[float]]
    power_law: float = 0.0
    inside: float = 0.0
    rising: list[str] = []
    trusted: bool = False
    tested: bool = True

    def wrong(self) -> str:
        """Say what is wrong with values from a file; empty if nothing is."""
        rows = [*self.seconds, *self.formula]
        even = len(self.seconds) == len(self.formula) and len({*map(len, rows)}) == 1
        table = np.array([self.seconds, self.formula]) if even else np.zeros(0)
        if table.shape != (2, max(len(self.b), 1), len(self.p)) or len(self.p) < MIN_RANK_COUNTS:
            return "'seconds' and 'formula' need a time for each size and number of ranks"
        ascending = all(np.all(np.diff(values) > 0) for values in (self.p, self.b))
        positive = bool(np.all(np.isfinite(table) & (table > 0))) and self.p[0] > 0
        return "" if ascending and positive else "'p', 'b' must ascend, and times be above zero"

    @property
    def needs_no_formula(self) -> bool:
        """Whether predictions follow the measured times, and these are on lines."""
        return not self.trusted and self.inside <= np.log(OTHER_UNIT)

    def predict(
        self,
        points: Points,
        formula: ByFormula,
        interval: tuple[Floats, Floats],
        level: float = 0.95,
    ) -> tuple[Floats, Floats, Floats]:
        """Return the times of points, and the ends of their intervals; shape (n,) each.

        ``interval`` holds the ends of those of the formula.
        """
        seconds, (low, high) = formula(points), interval
        octaves = self.octaves(points)
        inside = octaves <= 0
        of_level = float(ndtri((1 + level) / 2) / ndtri(0.975))
        doublings = np.minimum(octaves, 1.0) * np.maximum(octaves / 2, 1.0)
        least = 0.0 if self.trusted else max(self.inside, INSIDE_LEAST)
        half = of_level * np.maximum(BEYOND * np.sqrt(doublings), least)
        by_formula = self.trusted & (inside | self.tested)
        nearest = self._nearest(points)
        logs = np.array(self._line(nearest))
        if not by_formula.all():
            log_ratio = np.log(seconds / formula(nearest))
            log_ratio[~np.isfinite(log_ratio)] = 0.0
            if not inside.all():
                laws = _power_laws(np.array(self.p), np.log(np.array(self.seconds)))
                average = partial(self._average, laws)
                logs = np.where(inside, logs, self._rising(nearest, formula, average))
            logs += log_ratio
            half = np.where(log_ratio == 0, half, np.fmax(half, np.log(high / low) / 2))
        lowest, highest = self._bounds(points)
        kept = np.log(seconds)
        plausible = (kept >= lowest - self.inside) & (kept <= highest + self.inside)
        kept = np.where(plausible, kept, self._line(points))
        ends = (np.clip(np.log(end), lowest - TWICE, highest + TWICE) for end in (low, high))
        times = np.exp(np.where(by_formula, kept, logs))
        low, high = (np.where(by_formula, np.exp(end), times) for end in ends)
        half[by_formula] = 0.0
        return times, np.fmin(low, times * np.exp(-half)), np.fmax(high, times * np.exp(half))

    def octaves(self, points: Points) -> Floats:
        """Return how often the largest measured number of ranks is doubled; 0 within the data."""
        return np.asarray(np.log2(np.maximum(points["p"], self.p[-1]) / self.p[-1]))

    def covers(self, points: Points) -> bool:
        """Whether the points have the variables."""
        return "p" in points and ("b" in points or not self.b)

    def _nearest(self, points: Points) -> dict[str, Floats]:
        """Return the points within the measured sizes, and not below the measured ranks."""
        nearest = {**points, "p": np.maximum(points["p"], self.p[0])}
        if self.b:
            nearest["b"] = np.clip(points["b"], self.b[0], self.b[-1])
        return nearest

    def _line(self, points: Points) -> Floats:
        """Return the logarithm of the time on lines between the measured neighbours."""
        return _interpolated(np.array(self.seconds), self._places(points))

    def _rising(
        self, points: Points, formula: ByFormula, logs: Callable[[Points, Floats], Floats]
    ) -> Floats:
        """Return the logarithms of times, as they are not below those of fewer ranks or bytes.

        Unless the measured times fall. ``logs`` returns them of points and what the formula gives.
        """
        fewer: list[Points] = [points]
        every = []
        if "p" in self.rising:
            every.append(self._line(points))
            most = int(_KNOTS * np.max(self.octaves(points)))
            knots = self.p[-1] * 2 ** (np.arange(most + 1) / _KNOTS)
            fewer += [{**points, "p": np.minimum(points["p"], knot)} for knot in knots]
        if "b" in self.rising:
            fewer += [{**points, "b": np.minimum(points["b"], size)} for size in self.b]
        every += [logs(less, formula(less)) for less in fewer]
        return np.asarray(np.fmax.reduce(every))

    def _average(self, laws: Lines, points: Points, seconds: Floats) -> Floats:
        """Return the weighted mean of the predictions beyond the data, in logarithms.

        The power law begins at the last measured time, and comes to its own within a doubling.
        """
        places = size, _ = self._places(points)
        last = self._line(points)
        raised = np.log(seconds) + last - _interpolated(np.array(self.formula), places)
        begin = last - _along_size(laws, size, np.full_like(last, self.p[-1]))
        law = _along_size(laws, size, points["p"])
        law += np.maximum(1 - self.octaves(points), 0.0) * begin
        mean = (1 - self.power_law) * raised + self.power_law * law
        return np.where(np.isfinite(raised), mean, law)

    def _places(self, points: Points) -> tuple[_Place, _Place]:
        """Return where points are among the sizes, and among the numbers of ranks."""
        ranks = _Place.of(np.log(self.p), np.log(points["p"]))
        if not self.b:
            return _Place.of(np.zeros(1), np.zeros(len(ranks.share))), ranks
        return _Place.of(np.array(self.b), points["b"]), ranks

    def _bounds(self, points: Points) -> tuple[Floats, Floats]:
        """Return the logarithms of the least and the largest time of the measured neighbours.

        Infinite where there are none on all sides, or where times do not rise with ranks.
        """
        sizes, ranks = self._places(points)
        corners = np.log(np.array(self.seconds))[sizes.around[:, None], ranks.around[None]]
        none = sizes.outside | ranks.outside | ("p" not in self.rising)
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        return np.where(none, -np.inf, low), np.where(none, np.inf, high)


class _Place(NamedTuple):
    """Where points are among known values: numbers of the neighbours, and the share of the upper.

    ``ends`` has shape (2, n). Beyond the known values it is the last of them; ``outside`` says so.
    """

    ends: Ints
    share: Floats
    outside: Bools

    @classmethod
    def of(cls, known: Floats, values: Floats) -> _Place:
        """Look points up in ascending values."""
        below = np.clip(np.searchsorted(known, values, side="right") - 1, 0, max(len(known) - 2, 0))
        above = np.minimum(below + 1, len(known) - 1)
        width = np.where(above > below, known[above] - known[below], 1.0)
        share = np.clip((values - known[below]) / width, 0.0, 1.0)
        return cls(np.array([below, above]), share, (values < known[0]) | (values > known[-1]))

    @property
    def around(self) -> Ints:
        """The neighbours, or twice the measured value itself; shape (2, n)."""
        below, above = self.ends
        return np.array(
            [np.where(self.share < 1, below, above), np.where(self.share > 0, above, below)]
        )


def _interpolated(seconds: Floats, positions: Sequence[_Place]) -> Floats:
    """Return log t on lines of t in bytes, and of log t in log p; constant beyond their ends."""
    (rows, by_size, _), (columns, by_ranks, _) = positions
    fewer, more = (
        np.log(seconds[rows[0], column] * (1 - by_size) + seconds[rows[1], column] * by_size)
        for column in columns
    )
    return np.asarray(fewer * (1 - by_ranks) + more * by_ranks)


Lines = tuple[Floats, Floats]
"""Slope of each size in log p, and log t at one rank."""


def _power_laws(p: Floats, logs: Floats) -> Lines:
    """Return the line of each row by least squares, with the slope that sizes alike have."""
    slope, start = np.polyfit(np.log(p), logs.T, 1)
    alike = np.array(
        [np.median(slope[max(k - SLOPE_SIZES, 0) : k + SLOPE_SIZES + 1]) for k in range(len(slope))]
    )
    start += (slope - alike) * np.mean(np.log(p))
    steep = alike > MAX_SLOPE
    alike[steep] = MAX_SLOPE
    return alike, np.where(steep, logs[:, -1] - MAX_SLOPE * np.log(p[-1]), start)


def _along_size(lines: Lines, size: _Place, p: Floats) -> Floats:
    """Return log t of ranks on the lines of the sizes, and between these on lines in bytes."""
    slope, start = lines
    smaller, larger = np.exp(start[size.ends] + slope[size.ends] * np.log(p))
    return np.asarray(np.log(smaller * (1 - size.share) + larger * size.share))


# ---- from measured times -------------------------------------------------------------------------


def neighbours_of(
    observed: Observations, formula: ByFormula, rising: Sequence[str], tried: float | None
) -> Neighbours | None:
    """Return the neighbours of an operation; None if its points are no grid, or one is wrong.

    Parameters
    ----------
    observed
        Its points.
    formula
        What the formula gives, in seconds.
    rising
        Variables with which its times never fall.
    tried
        Mean |log(measured / formula)| at more ranks than it was fitted to; None if not tried.
    """
    if "p" not in observed.variables or not observed.variables.keys() <= {"p", "b"}:
        return None
    grid = _grid(observed, formula)
    if grid is None or len(grid[0]) < MIN_RANK_COUNTS or not np.all(grid[3] > 0):
        return None
    p, b, seconds, fitted = grid
    logs, residual = np.log(seconds), np.log(seconds) - np.log(fitted)
    line = np.abs(left_out(np.log(p), logs.T))
    if np.any(np.median(line, axis=1) > np.log(OTHER_UNIT)):
        return None
    by_line = float(np.mean(line)) if line.size else 0.0
    neighbours = Neighbours(
        dict(observed.where),
        p.tolist(),
        b.tolist(),
        seconds.tolist(),
        fitted.tolist(),
        rising=list(rising),
    )
    misfit = float(np.mean(np.abs(residual)))
    noise = MAX_RIGHT_ERRORS * (observed.noise or 0.0)
    right = misfit <= max(noise, MIN_MACHINE_ERROR)
    neighbours.power_law = 0.0 if right else _share_beyond(p, logs, tried)
    neighbours.tested = tried is not None and max(misfit, tried) <= max(noise, BLUNT)
    if right or (tried is not None and max(misfit, tried) < DENSER * by_line):
        return replace(
            neighbours, trusted=True, inside=float(np.max(np.abs(residual))) + MIN_MACHINE_ERROR
        )
    return replace(neighbours, inside=quantile(line.ravel(), 0.95) if line.size else 0.0)


def _grid(
    observed: Observations, formula: ByFormula
) -> tuple[Floats, Floats, Floats, Floats] | None:
    """Arrange points by size and number of ranks; None if these share too few sizes.

    Sizes are all that were measured, or, if hardly two numbers of ranks have the same, as where
    they are multiples of the ranks, those of the one with most. Between measured sizes of a number
    of ranks, times lie on lines; beyond, they follow the formula.
    """
    p, column = observed.distinct["p"]
    sizes = observed.variables.get("b", np.zeros(len(observed)))
    rows = [np.flatnonzero(column == k) for k in range(len(p))]
    rows = [row[np.argsort(sizes[row])] for row in rows]
    most = max((sizes[row] for row in rows), key=len)
    if len(observed) < len(most) * len(p) / 2:
        return None
    b = np.unique(sizes)
    b = b if len(b) <= 2 * len(most) else most
    shape = len(p), len(b)
    points = {"p": np.repeat(p, len(b)), "b": np.tile(b, len(p))}
    fitted = formula({name: points[name] for name in observed.variables}).reshape(shape)
    ratio = np.log(observed.seconds / formula(observed.variables))
    seconds = np.empty(shape)
    for k, row in enumerate(rows):
        beyond = fitted[k] * np.exp(np.interp(b, sizes[row], ratio[row]))
        within = (b >= sizes[row[0]]) & (b <= sizes[row[-1]])
        seconds[k] = np.where(within, np.interp(b, sizes[row], observed.seconds[row]), beyond)
    return p, b if len(b) > 1 else np.zeros(0), seconds.T, fitted.T


def left_out(values: Floats, logs: Floats) -> Floats:
    """Return what each row but the first and last is off the line between the rows beside it."""
    share = (values[1:-1] - values[:-2]) / (values[2:] - values[:-2])
    share = share[:, None]
    return np.asarray(logs[1:-1] - (logs[:-2] * (1 - share) + logs[2:] * share))


def _share_beyond(p: Floats, logs: Floats, tried: float | None) -> float:
    """Return the weight of power laws beyond the data: all if they were right in backtests.

    None if the formula was, and half if neither was.
    """
    errors = []
    for divisor in (2, 4):
        small = p <= p[-1] / divisor
        if small.sum() >= MIN_RANK_COUNTS:
            slope, start = _power_laws(p[small], logs[:, small])
            off = logs[:, ~small] - start[:, None] - slope[:, None] * np.log(p[~small])
            errors.append(np.mean(np.abs(off)))
    law = float(np.mean(errors)) if errors else np.inf
    formula = np.inf if tried is None else tried
    return float(law < formula) if min(law, formula) < BLUNT else 0.5
