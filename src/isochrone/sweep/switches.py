"""Protocol switches: the message sizes at which an MPI library changes its protocol.

The curve is cut into straight segments, time = a + b bytes, by `isochrone.base.segmentation`, which
also chooses their number. A breakpoint is a switch only if the two lines differ significantly
**and** by more than a threshold: no real curve is perfectly straight.

Two switches may be so close that the few sizes between them show no cost per byte. Such a short
segment is a level: only the steps on both sides of it are reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot, inf, sqrt
from typing import NamedTuple

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.segmentation import LINE_RATIO, LINE_VALUES, segment, sigma_of_interval
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.sweep.curves import Curve

_MIN_SIGMA = 0.002  # minimum standard error, as a fraction of the median
_MAX_SEGMENTS = 6
_MIN_SWITCH_ERRORS = 4.0  # standard errors by which the lines must differ
_MIN_JUMP = 0.02  # fraction of the time, as the tolerance of automatic sizes
_MAX_INTERVAL_RATIO = 2.0
"""Ratio of the ends of an interval beyond which a median is too uncertain to be used."""

_MIN_FASTEST_STEP = 0.5
"""Fraction of a step that the fastest repetitions must show, too. A protocol costs time in every
repetition; a shared processor does not."""

_MIN_RISE = 0.1  # fraction of the time that bytes must cost before their rate is stated
_MIN_TURN = 0.01  # fraction of the time: a slope that changes by 2 %, at twice the size


@dataclass(frozen=True)
class Switch:
    """A protocol switch between two neighbouring sizes of a sweep.

    Attributes
    ----------
    after, before
        Largest size of the old line and smallest size of the new line, in bytes.
    jump
        Seconds of the new line minus the old line at ``before``.
    ratio
        New line over old line at ``before``.
    bandwidth_before, bandwidth_after
        Asymptotic bandwidth of each line in bytes per second (1/slope, times how often data moves);
        None if the line is flat within its error, or rises by less than 10 %.
    """

    after: int
    before: int
    jump: float
    ratio: float
    bandwidth_before: float | None
    bandwidth_after: float | None


class _Line(NamedTuple):
    """A weighted least-squares line and the covariance of its two coefficients.

    A ``level`` has no slope: its sizes are too few or too close together for one.
    """

    start: float
    slope: float
    covariance: Floats
    level: bool

    def at(self, x: float) -> float:
        return self.start + self.slope * x

    def error(self, x: float) -> float:
        point = np.array([1.0, x])
        return sqrt(max(0.0, float(point @ self.covariance @ point)))


class _Data(NamedTuple):
    """Sizes, their medians, fastest repetitions and standard errors, and their segments."""

    x: Floats
    y: Floats
    fastest: Floats
    sigma: Floats
    member: Ints


def switches(curve: Curve) -> list[Switch]:
    """Find the protocol switches of a curve, smallest size first; computing has no protocol."""
    x, y = curve.bytes.astype(np.float64), curve.column("median")
    low, high, fastest = (curve.column(name) for name in ("low", "high", "min"))
    precise = ~(high > _MAX_INTERVAL_RATIO * low)
    x, y, low, high, fastest = (values[precise] for values in (x, y, low, high, fastest))
    fastest = np.where(np.isnan(fastest), y, fastest)
    if curve.computes or len(x) < 2 * LINE_VALUES or not np.all(y > 0):
        return []
    sigma = np.fmax(sigma_of_interval(low, high), _MIN_SIGMA * y)
    try:
        segments = segment(
            x,
            y,
            forms=[[0, 1], [0]],
            sigma=sigma,
            max_segments=_MAX_SEGMENTS,
            min_values=LINE_VALUES,
            min_ratio=LINE_RATIO,
            level=1,
        )
    except InputError:
        return []

    member = segments.index(x)
    data = _Data(x, y, fastest, sigma, member)
    cuts = list(range(int(member.max())))
    while cuts:  # the least significant cut is removed, and its neighbours are judged again
        judged = [_judge(curve, data, cuts, k) for k in range(len(cuts))]
        worst = min(range(len(cuts)), key=lambda k: judged[k][0])
        if judged[worst][0] >= 1:
            return [switch for _, switch in judged]
        del cuts[worst]
    return []


def describe(switch: Switch) -> str:
    """Describe a switch: ``between 64 KiB and 128 KiB: 3.9 µs more (+32 %)``."""
    where = f"between {format_bytes(switch.after)} and {format_bytes(switch.before)}"
    changes = []
    if abs(switch.ratio - 1) >= _MIN_JUMP:
        direction = "more" if switch.jump > 0 else "less"
        changes.append(
            f"{format_seconds(abs(switch.jump))} {direction} ({100 * (switch.ratio - 1):+.0f} %)"
        )
    if switch.bandwidth_before and switch.bandwidth_after:
        change = switch.bandwidth_after / switch.bandwidth_before
        if abs(change - 1) >= _MIN_JUMP:
            changes.append(
                f"asymptotic bandwidth {format_rate(switch.bandwidth_after)} "
                f"instead of {format_rate(switch.bandwidth_before)}"
            )
    elif switch.bandwidth_after:
        changes.append(f"asymptotic bandwidth {format_rate(switch.bandwidth_after)}")
    return f"{where}: {', '.join(changes) or 'another cost per byte'}"


def _judge(curve: Curve, data: _Data, cuts: Sequence[int], k: int) -> tuple[float, Switch]:
    """Return the significance of a cut (1: threshold) and its switch."""
    x, y, fastest, sigma, member = data
    edges = [-1, *cuts, int(member.max())]
    sides = [(member > a) & (member <= b) for a, b in pairwise(edges[k : k + 3])]
    (old, new), (low, high) = (
        [_fit(x[side], values[side], sigma[side], first=side[0]) for side in sides]
        for values in (y, fastest)
    )
    after, before = x[sides[0]].max(), x[sides[1]].min()
    last = x[sides[1]].max()
    jump = new.at(before) - old.at(before)
    jump_clear = min(
        _over(abs(jump), _MIN_SWITCH_ERRORS * hypot(new.error(before), old.error(before))),
        _over(abs(jump), _MIN_JUMP * abs(new.at(before))),
        _over((high.at(before) - low.at(before)) / jump if jump else 0.0, _MIN_FASTEST_STEP),
    )
    turn = 0.0 if old.level or new.level else new.slope - old.slope
    turn_error = sqrt(new.covariance[1, 1] + old.covariance[1, 1])
    turn_clear = min(
        _over(abs(turn), _MIN_SWITCH_ERRORS * turn_error),
        _over(abs(turn) * (last - before), _MIN_TURN * abs(new.at(last))),
        _over((high.slope - low.slope) / turn if turn else 0.0, _MIN_FASTEST_STEP),
    )
    # how often the bytes of a message move: twice in both directions
    end = curve.points[-1]
    often = (end.bandwidth or 0.0) * end.median / end.bytes if end.bytes else 0.0
    return max(jump_clear, turn_clear), Switch(
        after=int(after),
        before=int(before),
        jump=float(jump),
        ratio=float(new.at(before) / old.at(before)),
        bandwidth_before=_bandwidth(old, x[sides[0]], often),
        bandwidth_after=_bandwidth(new, x[sides[1]], often),
    )


def _fit(x: Floats, y: Floats, sigma: Floats, *, first: bool) -> _Line:
    """Fit a line by weighted least squares; errors from the residuals if these are larger.

    Neither the cost per byte nor the latency (the start of the first line) is ever negative. The
    errors are scaled by the root of reduced chi-square where that exceeds 1 (Press et al. 2007,
    *Numerical Recipes*, 15.2).
    """
    level = len(x) < LINE_VALUES or x.max() < LINE_RATIO * x.min()
    coefficients, covariance = _solved(x, y, sigma, [0] if level else [0, 1])
    if coefficients[1] < 0 or (first and coefficients[0] < 0):
        coefficients, covariance = _solved(x, y, sigma, [int(coefficients[1] >= 0)])
    return _Line(float(coefficients[0]), float(coefficients[1]), covariance, level)


def _solved(x: Floats, y: Floats, sigma: Floats, used: list[int]) -> tuple[Floats, Floats]:
    """Return start and slope, of which only those in ``used`` are not 0, and their covariance."""
    rows = (np.column_stack([np.ones_like(x), x]) / sigma[:, None])[:, used]
    scale = np.linalg.norm(rows, axis=0)
    inverse = np.linalg.pinv((rows / scale).T @ (rows / scale)) / np.outer(scale, scale)
    values = inverse @ (rows.T @ (y / sigma))
    freedom = len(x) - len(used)
    left = float(np.sum((y / sigma - rows @ values) ** 2))
    coefficients, covariance = np.zeros(2), np.zeros((2, 2))
    coefficients[used] = values
    covariance[np.ix_(used, used)] = inverse * (max(1.0, left / freedom) if freedom > 0 else 1.0)
    return coefficients, covariance


def _bandwidth(line: _Line, x: Floats, often: float) -> float | None:
    """Return a rate only where bytes are a clear part of the time: machines drift by percents."""
    error = sqrt(line.covariance[1, 1])
    clear = line.slope * np.ptp(x) > _MIN_RISE * line.at(x.max())
    return often / line.slope if often and clear and line.slope > 3 * error else None


def _over(a: float, b: float) -> float:
    return a / b if b > 0 else inf
