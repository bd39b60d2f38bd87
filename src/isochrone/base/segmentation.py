"""Where a straight line changes into another one: optimal segmentation along one variable.

A communication time is often a line in the message size, and another line beyond the size where
the MPI library changes its protocol. `segment` cuts the data into the segments that fit best. The
segments need not meet, because a change of protocol may be a jump.

The cut is exact: all segmentations are compared by dynamic programming (Bellman & Roth 1969, *Curve
fitting by segmented straight lines*, JASA 64, 1079-1084). The number of segments is the one with
the smallest SICc, Schwarz's criterion corrected for few points (McQuarrie 1999, *A small-sample
correction for the Schwarz SIC model selection criterion*, Statistics & Probability Letters 44,
79-86).

Where exactly the protocol changes between two sizes that were measured is not in the data; a break
is therefore the interval between them.

Examples
--------
Find the protocol switch in a sweep over message sizes, from medians and their 95 % intervals:

>>> import numpy as np
>>> size = 2.0 ** np.arange(20)
>>> median = np.where(size <= 4096, 1e-6 + 3e-10 * size, 5e-6 + 1e-10 * size)
>>> found = segment(size, median, sigma=sigma_of_interval(0.99 * median, 1.01 * median))
>>> found.breaks
[Break(below=4096.0, above=8192.0)]
>>> [f"{line.coefficients[0]:.0e}" for line in found.segments]
['1e-06', '5e-06']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isochrone.base.errors import InputError
from isochrone.base.stats import INTERVAL_WIDTH

__all__ = ["Break", "Segment", "Segmentation", "segment", "sigma_of_interval"]

Array = NDArray[np.float64]

MAX_CANDIDATES: Final = 300
"""Enough for any sweep over sizes; the effort grows with the square."""

_ROUNDING: Final = 1e-9
"""Relative deviations below this are rounding, not noise: no criterion may look at them."""

_DEPENDENT: Final = 1e-10
"""A term is a sum of others if this little of its column is left beside them."""


@dataclass(frozen=True)
class Break:
    """A change somewhere between two neighbouring measured values.

    Attributes
    ----------
    below
        Largest measured value that belongs to the segment below.
    above
        Smallest measured value that belongs to the segment above.
    """

    below: float
    above: float


@dataclass(frozen=True)
class Segment:
    """The measured values ``low`` … ``high`` of the variable and its coefficients.

    ``form`` is 0 for those of the basis, else the number of an alternative.
    """

    low: float
    high: float
    coefficients: Array
    form: int = 0


@dataclass(frozen=True)
class Segmentation:
    """The best segments, in the order of the variable.

    Attributes
    ----------
    breaks
        One fewer than segments.
    segments
        At least one.
    criterion
        SICc of the best segmentation into 1, 2, 3 … segments, as many as were tried; infinite
        where none is possible.
    """

    breaks: list[Break]
    segments: list[Segment]
    criterion: list[float]

    def index(self, x: ArrayLike) -> NDArray[np.int64]:
        """Return for each value the number of its segment; within a break, of the nearer one."""
        middles = [_middle(found) for found in self.breaks]
        return np.searchsorted(np.array(middles), np.asarray(x, dtype=np.float64), side="left")


def segment(
    x: ArrayLike,
    y: ArrayLike,
    basis: ArrayLike | Callable[[Array], Array] | None = None,
    *,
    alternatives: Sequence[ArrayLike] = (),
    sigma: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    max_segments: int = 4,
    min_values: int | None = None,
    segments: int | None = None,
    max_candidates: int = MAX_CANDIDATES,
) -> Segmentation:
    """Cut data along ``x`` into the segments that weighted least squares fits best.

    Parameters
    ----------
    x
        Variable to cut along, for example the message size, shape (n,), in any order; repetitions
        of a value stay together.
    y
        Measured values, shape (n,).
    basis
        Columns of the linear model, shape (n, terms), or a function that makes them of ``x``;
        1 and x if None.
    alternatives
        More such columns; each segment takes those that fit it best.
    sigma
        Standard deviation of each ``y``. The noise is then taken to be at least that, so that
        no break is found in what may be noise. It may be more: real curves are not quite straight.
    weights
        Weights of the squared deviations, if their scale is not known. Without ``sigma`` and
        ``weights``, deviations are relative: 1/y².
    max_segments
        Most segments to try.
    min_values
        Fewest distinct values of ``x`` in a segment; terms + 1, and not below 3, if None.
    segments
        Number of segments; chosen by the criterion if None.
    max_candidates
        Most positions where a break is tried; of more values of ``x``, neighbours are joined.

    Raises
    ------
    InputError
        If there are not enough values for a single segment, or for that many ``segments``.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    scale = _scale(y, sigma, weights)
    order = np.argsort(x, kind="stable")
    bases = [_columns(x, basis), *(np.asarray(other, dtype=np.float64) for other in alternatives)]
    rows = [(np.column_stack([columns, y]) * scale[:, None])[order] for columns in bases]
    values, starts = np.unique(x[order], return_index=True)
    terms = max(columns.shape[1] for columns in bases)
    min_values = max(3, terms + 1) if min_values is None else min_values
    if len(values) < min_values:
        raise InputError(
            f"{len(values)} values of the variable are too few to fit, it takes {min_values}",
            hint="measure more of them",
        )
    noise = _noise_floor(rows[0][:, -1], known=sigma is not None)
    data = _Data(rows, values, np.append(starts, len(y)), terms, noise, min_values)
    whole = [_residual(part) for part in rows]
    if segments is None and min(whole) <= noise * len(y):
        return _unbroken(data, whole)  # nothing is left that a break could explain
    return _broken(data, max_segments, segments, max_candidates)


def sigma_of_interval(low: ArrayLike, high: ArrayLike) -> Array:
    """Return the standard deviation of a median of which the 95 % interval is known.

    At least a millionth of the value, because an interval of few or equal repetitions may have no
    width.
    """
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    return np.asarray(np.maximum((high - low) / INTERVAL_WIDTH, 1e-6 * np.abs(high + low) / 2))


@dataclass(frozen=True)
class _Data:
    """What is segmented.

    Attributes
    ----------
    rows
        For each basis its weighted columns and the weighted ``y``, sorted by ``x``.
    values
        The distinct values of ``x``.
    starts
        First row of each value, and the number of rows.
    terms
        Coefficients of a segment.
    noise
        Mean square that counts as no deviation.
    min_values
        Fewest values in a segment.
    """

    rows: list[Array]
    values: Array
    starts: NDArray[Any]
    terms: int
    noise: float
    min_values: int

    def criterion(self, cost: float, segments: int) -> float:
        """Return n times SICc (McQuarrie 1999, equation 2); every break is a parameter, too."""
        n = len(self.rows[0])
        parameters = segments * self.terms + segments - 1
        left = n - parameters - 2
        if left <= 0 or not math.isfinite(cost):
            return math.inf if segments > 1 else 0.0
        # Without noise the floor would have to be divided by 0.
        mean_square = max(cost / n, self.noise, 1e-300)
        return n * math.log(mean_square) + parameters * math.log(n) * n / left


def _unbroken(data: _Data, whole: Sequence[float]) -> Segmentation:
    """Return a single segment, of the basis that leaves the least."""
    form = int(np.argmin(whole))
    return _result(data, [form], [0, len(data.values)], [data.criterion(whole[form], 1)])


def _broken(
    data: _Data, max_segments: int, segments: int | None, max_candidates: int
) -> Segmentation:
    """Return the best segmentation of all, or of those into that many segments."""
    edges = _candidates(len(data.values), data.min_values, max_candidates)
    costs = np.stack([
        _costs(_blocks(part, data.starts[edges[:-1]]), edges, data.starts, data.min_values)
        for part in data.rows
    ])  # fmt: skip
    totals, cuts = _cut(costs.min(axis=0), max_segments if segments is None else segments)
    criterion = [data.criterion(total, k + 1) for k, total in enumerate(totals)]
    chosen = int(np.argmin(criterion)) if segments is None else segments - 1
    if not math.isfinite(totals[chosen]):
        raise InputError(
            f"the data cannot be cut into {chosen + 1} segments of {data.min_values} values each"
            if chosen
            else "the terms of the model are collinear in these data"
        )
    ends = [0, *cuts[chosen], len(edges) - 1]
    forms = [int(np.argmin(costs[:, first, last])) for first, last in pairwise(ends)]
    return _result(data, forms, [int(edges[end]) for end in ends], criterion)


def _columns(x: Array, basis: ArrayLike | Callable[[Array], Array] | None) -> Array:
    if basis is None:
        return np.column_stack([np.ones_like(x), x])
    columns = np.asarray(basis(x) if callable(basis) else basis, dtype=np.float64)
    return columns[:, None] if columns.ndim == 1 else columns


def _scale(y: Array, sigma: ArrayLike | None, weights: ArrayLike | None) -> Array:
    """Return what a row is multiplied by, so that plain least squares is the weighted one."""
    if sigma is not None and weights is not None:
        raise ValueError("sigma and weights exclude each other")
    if sigma is not None:
        return np.asarray(1 / np.asarray(sigma, dtype=np.float64))
    if weights is not None:
        return np.asarray(np.sqrt(np.asarray(weights, dtype=np.float64)))
    if not np.all(y > 0):
        raise InputError("relative deviations need values above zero", hint="give weights")
    return 1 / y


def _candidates(values: int, min_values: int, max_candidates: int) -> NDArray[np.int64]:
    """Return the indices of the values where a break is tried, first and past-the-end included."""
    count = min(values, max(max_candidates, min_values))
    return np.unique(np.round(np.linspace(0, values, count + 1)).astype(np.int64))


def _blocks(rows: Array, starts: NDArray[np.int64]) -> Array:
    """Reduce the rows of each place to a triangle with the same normal equations (QR)."""
    width = rows.shape[1]
    blocks = np.zeros((len(starts), width, width))
    for k, part in enumerate(np.split(rows, starts[1:])):
        small = np.linalg.qr(part, mode="r") if len(part) > width else part
        blocks[k, : len(small)] = small
    return blocks


def _costs(
    blocks: Array, places: NDArray[np.int64], starts: NDArray[Any], min_values: int
) -> Array:
    """Return the squared deviations of every segment: entry (i, j) of places i to j - 1.

    A triangle for each first place is extended place by place. Nothing is subtracted, so data
    without noise have costs of rounding size. Segments that are too short or whose terms depend on
    each other cost infinitely much.
    """
    count, width = len(blocks), blocks.shape[1]
    cost = np.full((count + 1, count + 1), np.inf)
    triangles = np.zeros((count, width, width))
    for j in range(count):
        upper = np.broadcast_to(blocks[j], (j + 1, width, width))
        triangles[: j + 1] = np.linalg.qr(
            np.concatenate([triangles[: j + 1], upper], axis=1), mode="r"
        )
        inner = triangles[: j + 1, :-1, :-1]
        left = np.abs(np.diagonal(inner, axis1=1, axis2=2))
        whole = np.linalg.norm(inner, axis=1)
        allowed = np.all(left > _DEPENDENT * whole, axis=1)
        allowed &= places[j + 1] - places[: j + 1] >= min_values
        allowed &= starts[places[j + 1]] - starts[places[: j + 1]] >= width  # terms, and one more
        cost[: j + 1, j + 1] = np.where(allowed, triangles[: j + 1, -1, -1] ** 2, np.inf)
    return cost


def _residual(rows: Array) -> float:
    """Return the squared deviations of a single segment; infinite if its terms depend."""
    length = np.maximum(np.linalg.norm(rows[:, :-1], axis=0), 1e-300)
    found, _, rank, _ = np.linalg.lstsq(rows[:, :-1] / length, rows[:, -1], rcond=_DEPENDENT)
    if rank < len(length):
        return math.inf
    return float(np.sum((rows[:, -1] - rows[:, :-1] / length @ found) ** 2))


def _cut(cost: Array, max_segments: int) -> tuple[list[float], list[list[int]]]:
    """Return for 1 … ``max_segments`` the least total cost and the positions of the breaks."""
    count = len(cost) - 1
    best = cost[0]
    came_from: list[NDArray[np.int64]] = []
    totals, cuts = [float(best[count])], [list[int]()]
    for number in range(2, max_segments + 1):
        through = best[:, None] + cost
        came_from.append(np.argmin(through, axis=0))
        best = np.min(through, axis=0)
        totals.append(float(best[count]))
        path, end = list[int](), count
        for step in reversed(came_from[: number - 1]):
            end = int(step[end])
            path.append(end)
        cuts.append(path[::-1])
    return totals, cuts


def _noise_floor(scaled: Array, *, known: bool) -> float:
    """Return the mean square that counts as no deviation at all."""
    rounding = _ROUNDING**2 * float(np.mean(scaled**2))
    return max(1.0, rounding) if known else rounding


def _result(
    data: _Data, forms: Sequence[int], edges: Sequence[int], criterion: list[float]
) -> Segmentation:
    """Fit the segments between values at ``edges``, each with its own basis."""
    values = data.values
    breaks = [Break(float(values[edge - 1]), float(values[edge])) for edge in edges[1:-1]]
    segments = []
    for (first, last), form in zip(pairwise(edges), forms, strict=True):
        part = data.rows[form][data.starts[first] : data.starts[last]]
        length = np.linalg.norm(part[:, :-1], axis=0)
        found = np.linalg.lstsq(part[:, :-1] / length, part[:, -1], rcond=None)[0] / length
        segments.append(Segment(float(values[first]), float(values[last - 1]), found, form))
    return Segmentation(breaks, segments, criterion)


def _middle(found: Break) -> float:
    """Return where the nearer segment changes: in the ratio, because sizes span decades."""
    if found.below > 0:
        return math.sqrt(found.below * found.above)
    return (found.below + found.above) / 2
