"""Times of messages as straight lines by size, as simulators have them: latency and bandwidth.

Each protocol of a library is a line over a range of sizes. Lines are as long as they can be while
no measured median is further off than a tolerance; so every measured size is met, and what lies
between is a line through its neighbours. A line neither begins below zero nor falls: a simulator
has no negative latency.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from isochrone.base.arrays import Floats

MAX_LINE_DEVIATION = 0.005
"""Largest deviation of a median from its line, as a part of the time."""


Fit = tuple[float, float, float]
"""Seconds of an empty message and of a byte, or factors of them; and the largest deviation."""


@dataclass(frozen=True)
class Line:
    """One protocol.

    Attributes
    ----------
    above
        The line is of messages larger than so many bytes; -1 for the first.
    latency
        Seconds of an empty message.
    per_byte
        Seconds a byte.
    off
        Largest deviation of a median from it, as a part of the time.
    """

    above: int
    latency: float
    per_byte: float
    off: float


def lines(sizes: Sequence[int], seconds: Sequence[float], header: int = 0) -> list[Line]:
    """Return the lines through measured times.

    Parameters
    ----------
    sizes
        Bytes, ascending.
    seconds
        Medians, above zero.
    header
        Bytes that a simulator adds to each message: they cost time, too.

    Returns
    -------
    list of Line
        By size. Where one ends and the next begins was not measured: it is taken to be right after
        the last size of the one, as libraries switch at sizes that people measure.
    """
    x, y = np.array(sizes, dtype=np.float64) + header, np.array(seconds, dtype=np.float64)
    fitted_lines: list[Line] = []
    start = 0
    while start < len(x):
        end, best = start + 1, _one_point(x, y, start, fitted_lines)
        for stop in range(start + 2, len(x) + 1):
            line = _through(x[start:stop], y[start:stop])
            if line is None:
                break
            end, best = stop, line
        above = int(sizes[start - 1]) if start else -1
        fitted_lines.append(Line(above, *best))
        start = end
    return fitted_lines


def scaled(
    model: Sequence[Line], sizes: Sequence[int], seconds: Sequence[float], header: int = 0
) -> Fit:
    """Return by what latencies and bytes are to be multiplied to meet other times at best.

    Returns
    -------
    tuple of float
        Factor of the latencies, factor of the seconds a byte, and the largest deviation that is
        left, as a part of the time.
    """
    owners = [
        max((line for line in model if line.above < size), key=lambda line: line.above)
        for size in sizes
    ]
    y = np.array(seconds, dtype=np.float64)
    columns = np.array(
        [
            [line.latency, line.per_byte * (size + header)]
            for line, size in zip(owners, sizes, strict=True)
        ]
    )
    first, second, off = _least_worst(columns, y)
    return first, second, off


def _one_point(x: Floats, y: Floats, at: int, previous_lines: Sequence[Line]) -> Fit:
    """Return a line through one point, with the latency of what is before as far as it may be."""
    latency = min(previous_lines[-1].latency if previous_lines else y[at], 0.9 * y[at])
    return latency, float(y[at] - latency) / float(max(x[at], 1.0)), 0.0


def _through(x: Floats, y: Floats) -> Fit | None:
    """Return the line that is nearest to all points; None if it is too far from one."""
    latency, per_byte, off = _least_worst(np.column_stack([np.ones_like(x), x]), y)
    if off > MAX_LINE_DEVIATION or per_byte <= 0:
        return None
    return latency, per_byte, off


def _least_worst(columns: Floats, y: Floats) -> Fit:
    """Return factors, not negative, of two columns so that the largest relative deviation is least.

    A linear programme, in units in which all numbers are near one.
    """
    rows = columns / y[:, None]
    unit = np.where(rows.max(axis=0) > 0, rows.max(axis=0), 1.0)
    slack = np.ones((len(y), 1))
    answer = linprog(
        [0.0, 0.0, 1.0],
        A_ub=np.vstack([np.hstack([rows / unit, -slack]), np.hstack([-rows / unit, -slack])]),
        b_ub=np.concatenate([np.ones(len(y)), -np.ones(len(y))]),
        bounds=[(0, None)] * 3,
    )
    first, second, off = answer.x
    return float(first / unit[0]), float(second / unit[1]), float(off)
