"""Times between measured numbers of ranks and sizes, where no formula describes the data well.

Real machines switch algorithms, and no formula may hold. Then a straight line between the measured
neighbours, in log p, log b and log t, is closer to the truth than any formula. It is joined with
the formula times its measured residual, which is interpolated likewise,

    log t = w (log f(p, b) + r(p, b)) + (1 - w) l(p, b),

where f is the formula, r the interpolated residual log t - log f, l the interpolated log t, and w
follows from what each is off by at numbers of ranks that are left out. Beyond the largest number
of ranks, r fades, and the rival of the formula is a power law in p of each size, with a weight from
what both are off by at the largest numbers of ranks.

A formula that predicts what is left out better than the neighbours do is not changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from scipy.special import ndtri

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.stats import quantile
from isochrone.models.observations import Observations
from isochrone.models.segment import Selector

OPTIMISM = 1.5
"""The formula saw the points that are left out of its residual; the neighbours did not. Chosen on
half of the field sets (`bench/field_models.py`): from 1.5 on no set is worse than its neighbours
by more than a tenth."""

DENSER = 0.25
"""What is left out is off the line by four times as much as what lies between two measured values:
the error of a line grows with the square of their distance."""

HOPELESS = 0.4
"""Where times that are left out are off the line by more, by half of them, one of the measured
numbers of ranks is wrong: nothing is interpolated."""

EXACT = 0.002
"""No machine repeats itself better: a formula that is off by less is right."""

INSIDE_LEAST = 0.35
BEYOND_LEAST = 1.3
"""Least half widths of intervals, in log time, between the data and at twice their largest number
of ranks; they grow with the square root of the doublings. From half of the field sets
(`bench/field_models.py`): 92 to 97 % of measured times are inside."""

NOISY = 2.0
"""A formula that is off by no more than so many times the noise of a measured time is right."""

SHARPNESS = 4
"""The weight of each of two predictions is proportional to its error to the power of minus this."""

FADING = 4.0
"""Octaves of ranks beyond the data over which a residual falls to 1/e: the error at twice and four
times the ranks hardly depends on it between 0.5 and 8."""

SLACK = 0.1
"""Log time by which a formula that is right may leave the measured neighbours: they have noise."""

TWICE = 0.7
"""The same of the ends of its intervals: between two powers of two, an algorithm for these may not
be used, and the time be twice as long."""

FEWEST = 3
"""Values of a variable, one of which can be left out between two others."""

SMALLEST = 0.5
"""Bytes that an empty message is taken for: 0 has no logarithm."""


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
    weight
        Of the formula times its residual, against the line between the neighbours.
    power_law
        Weight of the power laws beyond the largest number of ranks, against the formula.
    inside, beyond
        95 % quantiles of |log(measured / predicted)|: at values that were left out between others,
        and at the largest numbers of ranks, for each doubling.
    rising
        Whether times never fall with ranks or sizes.
    trusted
        Whether the formula is right where it was measured: it is only kept between the neighbours.
    """

    where: dict[str, Selector]
    p: list[float]
    b: list[float]
    seconds: list[list[float]]
    formula: list[list[float]]
    weight: float = 1.0
    power_law: float = 0.0
    inside: float = 0.0
    beyond: float = 0.0
    rising: bool = False
    trusted: bool = False

    def wrong(self) -> str:
        """Say what is wrong with values from a file; empty if nothing is."""
        table = np.array([self.seconds, self.formula]) if self._even() else np.zeros(0)
        if table.shape != (2, max(len(self.b), 1), len(self.p)) or len(self.p) < FEWEST:
            return "'seconds' and 'formula' need a time for each size and number of ranks"
        ascending = all(np.all(np.diff(values) > 0) for values in (self.p, self.b))
        positive = bool(np.all(np.isfinite(table) & (table > 0))) and self.p[0] > 0
        return "" if ascending and positive else "'p', 'b' must ascend, and times be above zero"

    def _even(self) -> bool:
        rows = [*self.seconds, *self.formula]
        return len(self.seconds) == len(self.formula) and len({*map(len, rows)}) == 1

    def joined(
        self, points: Mapping[str, Floats], seconds: Floats, low: Floats, high: Floats,
        level: float,
    ) -> tuple[Floats, Floats, Floats]:  # fmt: skip
        """Return times and intervals of points, for which the formula gives these."""
        if self.trusted:
            times = np.exp(self._clipped(np.log(seconds), points, SLACK))
            ends = (self._clipped(np.log(end), points, TWICE) for end in (low, high))
            low, high = map(np.exp, ends)
            return times, np.fmin(low, times), np.fmax(high, times)
        times, octaves = self.predict(points, seconds), self.octaves(points)
        half = max(self.inside, INSIDE_LEAST) + self.beyond * octaves
        half = np.maximum(half, BEYOND_LEAST * np.sqrt(octaves))
        half *= ndtri((1 + level) / 2) / ndtri(0.975)
        of_formula = np.log(high / low) / 2
        half = np.where(octaves > 0, np.fmax(half, of_formula), half)
        return times, times * np.exp(-half), times * np.exp(half)

    def predict(self, points: Mapping[str, Floats], seconds: Floats) -> Floats:
        """Return the times of points for which the formula gives ``seconds``; shape (n,)."""
        logs, places = np.log(np.array(self.seconds)), self._places(points)
        line = _interpolated(logs, places)
        residual = _interpolated(logs - np.log(np.array(self.formula)), places)
        formula = np.log(seconds)
        inside = self.weight * (formula + residual) + (1 - self.weight) * line
        inside = self._clipped(np.where(np.isfinite(formula), inside, line), points)
        octaves = self.octaves(points)
        beyond = formula + residual * np.exp(-octaves / FADING)
        law = self._power_law(points, places[0])
        beyond = (1 - self.power_law) * beyond + self.power_law * law
        beyond = np.where(np.isfinite(formula), beyond, law)
        return np.exp(np.where(octaves > 0, beyond, inside))

    def octaves(self, points: Mapping[str, Floats]) -> Floats:
        """Return how often the largest measured number of ranks is doubled; 0 within the data."""
        return np.log2(np.maximum(points["p"], self.p[-1]) / self.p[-1])

    def covers(self, points: Mapping[str, Floats]) -> bool:
        """Whether the points have the variables."""
        return "p" in points and ("b" in points or not self.b)

    def _places(self, points: Mapping[str, Floats]) -> tuple[_Place, _Place]:
        """Return where points are among the sizes, and among the numbers of ranks."""
        ranks = _Place.of(np.log(self.p), np.log(points["p"]))
        if not self.b:
            return _Place.of(np.zeros(1), np.zeros(len(ranks.share))), ranks
        return _Place.of(_log_bytes(self.b), _log_bytes(points["b"])), ranks

    def _clipped(self, logs: Floats, points: Mapping[str, Floats], slack: float = 0.0) -> Floats:
        """Keep times within the data between those of the measured neighbours, if times rise."""
        if not self.rising:
            return logs
        places, table = self._places(points), np.log(np.array(self.seconds))
        corners = []
        for side in (np.floor, np.ceil):
            sizes, ranks = (place._replace(share=side(place.share)) for place in places)
            corners.append(_interpolated(table, (sizes, ranks)))
        low, high = np.minimum(*corners) - slack, np.maximum(*corners) + slack
        outside = places[0].outside | places[1].outside
        return np.where(outside, logs, np.clip(logs, low, high))

    def _power_law(self, points: Mapping[str, Floats], size: _Place) -> Floats:
        """Return the logarithm of the power law in p of each size, interpolated in log b."""
        slope, start = _power_laws(np.array(self.p), np.log(np.array(self.seconds)))
        laws = start[size.ends] + slope[size.ends] * np.log(points["p"])
        return np.asarray(laws[0] * (1 - size.share) + laws[1] * size.share)


class _Place(NamedTuple):
    """Where points are among known values: numbers of the neighbours, and the share of the upper.

    ``ends`` has shape (2, n). Beyond the known values it is the last of them; ``outside`` says so.
    """

    ends: Ints
    share: Floats
    outside: Bools

    @classmethod
    def of(cls, known: Floats, asked: Floats) -> _Place:
        """Look points up in ascending values."""
        below = np.clip(np.searchsorted(known, asked, side="right") - 1, 0, max(len(known) - 2, 0))
        above = np.minimum(below + 1, len(known) - 1)
        width = np.where(above > below, known[above] - known[below], 1.0)
        share = np.clip((asked - known[below]) / width, 0.0, 1.0)
        return cls(np.array([below, above]), share, (asked < known[0]) | (asked > known[-1]))


def _interpolated(table: Floats, places: tuple[_Place, _Place]) -> Floats:
    """Interpolate a table of each size and number of ranks; beyond its ends it is constant."""
    (rows, by_size, _), (columns, by_ranks, _) = places
    lower, upper = (
        table[row, columns[0]] * (1 - by_ranks) + table[row, columns[1]] * by_ranks for row in rows
    )
    return np.asarray(lower * (1 - by_size) + upper * by_size)


def _log_bytes(values: Floats | list[float]) -> Floats:
    return np.asarray(np.log(np.maximum(values, SMALLEST)))


def _power_laws(p: Floats, logs: Floats) -> tuple[Floats, Floats]:
    """Return the slope and the start of each row, by least squares in log p."""
    slope, start = np.polyfit(np.log(p), logs.T, 1)
    return slope, start


# ---- from measured times -------------------------------------------------------------------------


def neighbours_of(
    observed: Observations, formula: Floats, rising: list[str], tried: float | None
) -> Neighbours | None:
    """Return the neighbours of an operation; None if its formula is better, or they are no grid.

    Parameters
    ----------
    observed
        Its points.
    formula
        What the formula gives for each, in seconds.
    rising
        Variables with which its times never fall.
    tried
        Mean |log(measured / formula)| at more ranks than it was fitted to; None if not tried.
    """
    names = [name for name in ("p", "b") if name in observed.variables]
    if set(observed.variables) != set(names) or np.any(formula <= 0):
        return None
    grid = _grid(observed, names, formula)
    if grid is None:
        return None
    p, b, seconds, fitted = grid
    logs, residual = np.log(seconds), np.log(seconds) - np.log(fitted)
    if len(p) < FEWEST:
        return None
    line, joined = (left_out(np.log(p), table.T) for table in (logs, residual))
    by_line, by_joined = float(np.mean(np.abs(line))), OPTIMISM * float(np.mean(np.abs(joined)))
    if by_line > HOPELESS:
        return None
    found = Neighbours(
        dict(observed.where), p.tolist(), b.tolist(), seconds.tolist(), fitted.tolist(),
        rising={name for name in names if name == "p" or len(b)} <= {*rising},
    )  # fmt: skip
    misfit = float(np.mean(np.abs(residual)))
    right = misfit <= max(NOISY * (observed.noise or 0.0), EXACT)
    if right or (tried is not None and OPTIMISM * misfit < DENSER * by_line):
        return replace(found, trusted=True) if found.rising else None
    power_law, beyond = _beyond(p, logs, tried)
    return replace(
        found, weight=_share(by_line, by_joined), power_law=power_law,
        inside=quantile(np.abs(line).ravel(), 0.95), beyond=beyond,
    )  # fmt: skip


def _grid(
    observed: Observations, names: Sequence[str], formula: Floats
) -> tuple[Floats, Floats, Floats, Floats] | None:
    """Arrange points by size and number of ranks; None if most of the combinations are missing."""
    values = {name: np.unique(observed.variables[name]) for name in names}
    values = {name: known for name, known in values.items() if len(known) > 1}
    shape = tuple(len(values.get(name, [0])) for name in ("b", "p"))
    place = tuple(
        np.searchsorted(values[name], observed.variables[name]) if name in values
        else np.zeros(len(observed), int) for name in ("b", "p")
    )  # fmt: skip
    seconds, fitted = np.full((2, *shape), np.nan)
    seconds[place], fitted[place] = observed.seconds, formula
    if np.isnan(seconds).any():
        whole = ~np.isnan(seconds).any(axis=1)  # sizes that were measured at all numbers of ranks
        if whole.sum() < 2 or "b" not in values:
            return None
        values["b"] = values["b"][whole]
        seconds, fitted = seconds[whole], fitted[whole]
    none = np.zeros(0)
    return values.get("p", none), values.get("b", none), seconds, fitted


def left_out(values: Floats, logs: Floats) -> Floats:
    """Return what each row but the first and last is off the line between the rows beside it."""
    share = (values[1:-1] - values[:-2]) / (values[2:] - values[:-2])
    share = share[:, None]
    return np.asarray(logs[1:-1] - (logs[:-2] * (1 - share) + logs[2:] * share))


def _beyond(p: Floats, logs: Floats, tried: float | None) -> tuple[float, float]:
    """Return the weight of the power laws beyond the data, and by how much they are off."""
    errors, octaves = [], []
    for part in (2, 4):
        near = p <= p[-1] / part
        if near.sum() < 2:
            continue
        slope, start = _power_laws(p[near], logs[:, near])
        far = np.log(p[~near])
        errors.append(np.abs(logs[:, ~near] - start[:, None] - slope[:, None] * far).ravel())
        octaves.append(np.tile(np.log2(p[~near] / p[near][-1]), len(logs)))
    if not errors:
        return 0.5, 0.0
    doublings = np.concatenate(
        [off / np.maximum(far, 1.0) for off, far in zip(errors, octaves, strict=True)]
    )
    share = 0.5 if tried is None else _share(tried, float(np.mean(errors[0])), sharpness=2)
    return share, quantile(doublings, 0.95)


def _share(mine: float, other: float, sharpness: int = SHARPNESS) -> float:
    """Return the weight of ``other`` by the errors of both."""
    if mine + other == 0:
        return 0.5
    return float(mine**sharpness / (mine**sharpness + other**sharpness))
