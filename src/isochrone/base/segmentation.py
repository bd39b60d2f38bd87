"""Optimal segmentation of piecewise models along one variable.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import inf, isfinite, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from isochrone.base.arrays import Array, Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.segment_costs import Sums, costs_between
from isochrone.base.stats import INTERVAL_WIDTH, distinct

LINE_VALUES = 4
LINE_RATIO = 2.0
"""Minimum number of message sizes, and ratio of the largest to the smallest, for a slope."""

MAX_CANDIDATES = 300
"""Enough for any sweep over sizes; the effort grows with the square."""

_NORMAL_EQUATIONS_ROUNDING = 1e-4
"""Relative deviations below this are no noise: normal equations are not more precise."""

_MOVES = 8
"""How often each break is moved at most."""


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

    ``form`` is the number of the formula, and ``level`` whether it is that of short pieces.
    """

    low: float
    high: float
    coefficients: Floats
    form: int = 0
    level: bool = False


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

    def index(self, x: ArrayLike) -> Ints:
        """Return for each value the number of its segment; within a break, of the nearer one."""
        # in the ratio, because sizes span decades
        middles = [
            sqrt(gap.below * gap.above) if gap.below > 0 else (gap.below + gap.above) / 2
            for gap in self.breaks
        ]
        return np.searchsorted(np.array(middles), np.asarray(x, dtype=np.float64), side="left")


def segment(
    x: ArrayLike,
    y: ArrayLike,
    basis: ArrayLike | Callable[[Floats], Floats] | None = None,
    *,
    forms: Sequence[Sequence[int]] | None = None,
    sigma: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    max_segments: int = 4,
    min_values: int | None = None,
    min_ratio: float = 1.0,
    level: int | None = None,
    max_candidates: int = MAX_CANDIDATES,
) -> Segmentation:
    """Cut data along ``x`` into the segments with the best weighted least-squares fit.

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
    forms
        Formulas, each by the columns of the basis that it uses: a segment takes the one that is
        worth most, and pays for its number of terms. A single one with all columns if None.
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
    min_ratio
        Minimum ratio of the largest to the smallest value of a segment.
    level
        Number of the formula, a constant, of what is shorter than ``min_ratio``: two values are
        enough, because sizes are close together where a time jumps. None if nothing is.
    max_candidates
        Most positions where a break is tried; of more values of ``x``, neighbours are joined.

    Raises
    ------
    InputError
        If there are not enough values for a single segment.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    scale = _scale(y, sigma, weights)
    order = np.argsort(x, kind="stable")
    columns = _columns(x, basis)
    forms = [range(columns.shape[1])] if forms is None else forms
    rows = (np.column_stack([columns, y]) * scale[:, None])[order]
    values, starts = np.unique(x[order], return_index=True)
    if min_values is None:
        min_values = max(3, max(len(form) for form in forms) + 1)
    if len(values) < min_values:
        raise InputError(
            f"{len(values)} values of the variable are too few to fit; {min_values} are needed",
            hint="measure more of them",
        )
    noise = _noise_floor(rows[:, -1], has_sigma=sigma is not None)
    positions = _candidates(len(values), min_values, max_candidates)
    if values[-1] < min_ratio * values[0]:
        min_ratio, level = 1.0, None  # all of them are neighbours
    data = _Data(
        rows,
        forms,
        values,
        np.append(starts, len(y)),
        positions,
        noise,
        min_values,
        min_ratio,
        level,
    )
    unbroken = data.whole()
    if min(unbroken) <= noise * len(y):
        return _unbroken(data, unbroken)  # nothing is left that a break could explain
    if len(positions) <= len(values):
        data = replace(data, places=_finer(data, max_segments))
    return _broken(data, max_segments)


def sigma_of_interval(low: ArrayLike, high: ArrayLike) -> Floats:
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
        Weighted columns and the weighted ``y``, sorted by ``x``.
    forms
        Columns of each formula.
    values
        The distinct values of ``x``.
    starts
        First row of each value, and the number of rows.
    places
        Indices of the values where a break is tried, and their number.
    noise
        Mean square that counts as no deviation.
    min_values, min_ratio, level
        As in `segment`.
    """

    rows: Floats
    forms: Sequence[Sequence[int]]
    values: Floats
    starts: Array
    places: Ints
    noise: float
    min_values: int
    min_ratio: float
    level: int | None

    @cached_property
    def sums(self) -> Sums:
        """Normal equations, from which costs are taken."""
        return Sums(self.rows, self.starts)

    def whole(self) -> list[float]:
        """Return the squared deviations of a single segment by each formula."""
        ends = np.array([0]), np.array([len(self.values)])
        deviations = self.sums.costs(self.forms, *ends)[:, 0].tolist()
        return [inf if k == self.level else cost for k, cost in enumerate(deviations)]

    def costs(self) -> Floats:
        """Return the squared deviations of all segments by each formula; infinite if too short."""
        fewest = self.min_values if self.level is None else 2
        costs = costs_between(self.sums, self.forms, self.places, fewest)
        self.forbid(costs, *np.meshgrid(self.places, self.places, indexing="ij"))
        return costs

    def forbid(self, costs: Floats, first: Ints, last: Ints) -> None:
        """Make segments infinitely expensive that are too short for a formula."""
        long = self.values[last - 1] >= self.min_ratio * self.values[np.minimum(first, last - 1)]
        level = None if self.level is None else costs[self.level].copy()
        costs[:, ~long | (last - first < self.min_values)] = inf
        if level is not None:
            costs[self.level] = np.where(long | (last - first < 2), inf, level)

    def least(self, first: Ints, last: Ints, terms: int) -> Floats:
        """Return the least squared deviations of segments by formulas of so many terms."""
        forms = [k for k, form in enumerate(self.forms) if len(form) == terms]
        costs = np.full((len(self.forms), len(first)), inf)
        costs[forms] = self.sums.costs([self.forms[k] for k in forms], first, last)
        self.forbid(costs, first, last)
        return np.asarray(costs.min(axis=0))

    def criterion(self, cost: float, coefficients: int, segments: int) -> float:
        """Return n times SICc (McQuarrie 1999, equation 2); every break is a parameter, too."""
        n = len(self.rows)
        parameters = coefficients + segments - 1
        left = n - parameters - 2
        if left <= 0 or not isfinite(cost):
            return inf if segments > 1 else 0.0
        # Without noise the floor would have to be divided by 0.
        mean_square = max(cost / n, self.noise, 1e-300)
        return n * log(mean_square) + parameters * log(n) * n / left


def _unbroken(data: _Data, deviations: Sequence[float]) -> Segmentation:
    """Return a single segment, with the best formula."""
    criteria = [
        data.criterion(cost, len(form), 1)
        for cost, form in zip(deviations, data.forms, strict=True)
    ]
    form = int(np.argmin(np.where(np.isfinite(deviations), criteria, inf)))
    return _result(data, [form], [0, len(data.values)], [criteria[form]])


def _finer(data: _Data, max_segments: int) -> Ints:
    """Return the best places of the breaks near those that were found, for 1, 2, 3 … segments.

    These are as many as the criterion would choose. Each break is
    moved to the value between its neighbouring places where both its sides together
    cost least, until none moves.
    """
    positions = data.places
    _, best, paths = _by_number(data, max_segments)
    finer = {0, len(data.values)}
    limit = int(np.argmin([value for value, _ in best])) + 1
    for (_, count), cuts in zip(best[:limit], paths[:limit], strict=True):
        if not cuts:
            continue
        path = cuts[count][1]
        coarse = [0, *(end for end, _ in path)]
        edges = positions[coarse].tolist()
        moved: dict[tuple[int, int, int], int] = {}
        for _ in range(_MOVES):
            previous = list(edges)
            for k in range(1, len(path)):
                around = k, edges[k - 1], edges[k + 1]
                if around not in moved:
                    low, high = positions[coarse[k] - 1], positions[coarse[k] + 1]
                    at = np.arange(max(low, around[1] + 1), min(high, around[2] - 1) + 1)
                    cost = data.least(np.full_like(at, around[1]), at, path[k - 1][1])
                    cost += data.least(at, np.full_like(at, around[2]), path[k][1])
                    possible = np.isfinite(cost).any()
                    moved[around] = int(at[np.argmin(cost)]) if possible else edges[k]
                edges[k] = moved[around]
            if edges == previous:
                break
        finer |= {*edges}
    return np.array(sorted(finer), dtype=np.int64)


_Best = list[tuple[float, int]]
_Found = list[dict[int, tuple[float, "_Path"]]]


def _by_number(data: _Data, max_segments: int) -> tuple[dict[int, Ints], _Best, _Found]:
    """Return the formulas of segments by their terms, and of each number of segments the best.

    That is the criterion and the number of coefficients, and all that were found.
    """
    minima, form = _by_terms(data.costs(), [len(form) for form in data.forms])
    paths = _cut(minima, max_segments)
    best = [
        min((data.criterion(total, count, k + 1), count) for count, (total, _) in cuts.items())
        if cuts
        else (inf, 0)
        for k, cuts in enumerate(paths)
    ]
    return form, best, paths


def _broken(data: _Data, max_segments: int) -> Segmentation:
    """Return the best segmentation of all."""
    form, best, paths = _by_number(data, max_segments)
    chosen = int(np.argmin([value for value, _ in best]))
    if not paths[chosen]:
        raise InputError("the terms of the model are collinear in these data")
    _, path = paths[chosen][best[chosen][1]]
    ends = [0, *(end for end, _ in path)]
    forms = [
        int(form[terms][a, b]) for (a, b), (_, terms) in zip(pairwise(ends), path, strict=True)
    ]
    edges = [int(data.places[end]) for end in ends]
    return _result(data, forms, edges, [value for value, _ in best])


def _columns(x: Floats, basis: ArrayLike | Callable[[Floats], Floats] | None) -> Floats:
    if basis is None:
        return np.column_stack([np.ones_like(x), x])
    columns = np.asarray(basis(x) if callable(basis) else basis, dtype=np.float64)
    return columns[:, None] if columns.ndim == 1 else columns


def _scale(y: Floats, sigma: ArrayLike | None, weights: ArrayLike | None) -> Floats:
    """Return the factor of each row that makes plain least squares weighted."""
    if sigma is not None:
        return np.asarray(1 / np.asarray(sigma, dtype=np.float64))
    if weights is not None:
        return np.asarray(np.sqrt(np.asarray(weights, dtype=np.float64)))
    if not np.all(y > 0):
        raise InputError("relative weights need times above zero", hint="give weights")
    return 1 / y


def _candidates(values: int, min_values: int, max_candidates: int) -> Ints:
    """Return the indices of the values where a break is tried, first and past-the-end included."""
    count = min(values, max(max_candidates, min_values))
    return distinct(np.round(np.linspace(0, values, count + 1)).astype(np.int64))


def _by_terms(costs: Floats, terms: Sequence[int]) -> tuple[dict[int, Floats], dict[int, Ints]]:
    """Return for each number of terms the minimum costs of all segments, and their formulas."""
    minima, form = {}, {}
    for count in sorted(set(terms)):
        mine = np.flatnonzero(np.array(terms) == count)
        which = np.argmin(costs[mine], axis=0)
        form[count] = mine[which]
        minima[count] = np.take_along_axis(costs[mine], which[None], axis=0)[0]
    return minima, form


_Path = list[tuple[int, int]]
"""Where each segment ends, and how many terms it has."""


def _cut(cost: Mapping[int, Floats], max_segments: int) -> list[dict[int, tuple[float, _Path]]]:
    """Return for 1 … ``max_segments``, and each number of coefficients, the best segments.

    ``cost`` are those of the segments by their number of terms.
    """
    count = len(next(iter(cost.values()))) - 1
    layer = {terms: costs[0] for terms, costs in cost.items()}
    came_from: list[dict[int, tuple[Ints, Ints]]] = []
    paths = [_ends(layer, came_from, count, cost)]
    for _ in range(1, max_segments):
        options: dict[int, list[tuple[Floats, int]]] = {}
        for total, best in layer.items():
            for terms, costs in cost.items():
                options.setdefault(total + terms, []).append((best[:, None] + costs, terms))
        layer, back = {}, {}
        for total, choices in options.items():
            through = np.concatenate([array for array, _ in choices])
            choice, start = np.divmod(through.argmin(axis=0), count + 1)
            layer[total] = through.min(axis=0)
            back[total] = start, np.array([terms for _, terms in choices])[choice]
        came_from.append(back)
        paths.append(_ends(layer, came_from, count, cost))
    return paths


def _ends(
    layer: Mapping[int, Floats],
    came_from: Sequence[Mapping[int, tuple[Ints, Ints]]],
    count: int,
    cost: Mapping[int, Floats],
) -> dict[int, tuple[float, _Path]]:
    """Follow the best segments back from the end of the data; only those that are possible."""
    paths = {}
    for total, best in layer.items():
        if not isfinite(best[count]):
            continue
        path = []
        left, end = total, count
        for back in reversed(came_from):
            start, terms = (int(way[end]) for way in back[left])
            path.append((end, terms))
            left, end = left - terms, start
        paths[total] = float(best[count]), [*path, (end, left)][::-1]
    return paths


def _noise_floor(scaled: Floats, *, has_sigma: bool) -> float:
    """Return the mean square that counts as no deviation at all."""
    rounding = _NORMAL_EQUATIONS_ROUNDING**2 * float(np.mean(scaled**2))
    return max(1.0, rounding) if has_sigma else rounding


def _result(
    data: _Data, forms: Sequence[int], edges: Sequence[int], criterion: list[float]
) -> Segmentation:
    """Fit the segments between values at ``edges``, each with its own basis."""
    values = data.values
    breaks = [Break(float(values[edge - 1]), float(values[edge])) for edge in edges[1:-1]]
    segments = []
    for (first, last), form in zip(pairwise(edges), forms, strict=True):
        rows = data.rows[data.starts[first] : data.starts[last], [*data.forms[form], -1]]
        length = np.linalg.norm(rows[:, :-1], axis=0)
        coefficients = np.linalg.lstsq(rows[:, :-1] / length, rows[:, -1], rcond=None)[0] / length
        segments.append(
            Segment(
                float(values[first]),
                float(values[last - 1]),
                coefficients,
                form,
                form == data.level,
            )
        )
    return Segmentation(breaks, segments, criterion)
