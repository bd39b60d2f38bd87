"""Where one segment ends and the next begins: given by the user or found in the data.

A segment that is found is a segment along one variable, and within it along the next, see
`isochrone.base.segmentation`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import ceil, floor, inf, log, log2, sqrt

import numpy as np

from isochrone.base.arrays import Bools, Floats
from isochrone.base.errors import InputError
from isochrone.base.segmentation import LINE_RATIO, LINE_VALUES, Break, Segmentation, segment
from isochrone.base.units import parse_bytes
from isochrone.models.data.observations import Observations
from isochrone.models.data.terms import (
    CLASSES,
    VARIABLES,
    design_matrix,
    evaluate_term,
    is_size,
    length_of,
)
from isochrone.models.formulas.pool import Pool, varying
from isochrone.models.formulas.segment import Range
from isochrone.models.thresholds import MAX_CUT_VARIABLES, MIN_FIT_VALUES, MIN_FORMULA_ERROR

_FLOAT_ROUNDING = 1e-9

_CANDIDATES = {150: 32, 1 << 62: 24}
"""Positions where a segment may end, up to this many observations; many families are tried along
several variables, and a fit of ten thousand observations is to be done in a moment."""

MAX_SEGMENTS = (6, 4)
"""Along the only variable, and along one of several, which share them."""

_FEWEST, _FEWEST_SIZES = 3, 2
"""Values along which a segment is that holds several points of each; they are a factor of 2 apart
at least."""


@dataclass(frozen=True)
class Splits:
    """Where segments may end.

    Attributes
    ----------
    given
        For a variable or product, the largest values of all segments but the last.
    along
        Variables or products along which segments are looked for; None for those of the family.
    tolerance
        Relative deviations below this do not justify another segment.
    known
        For a variable, where the library is known to switch: a break that is found around one of
        these values is taken to be there.
    """

    given: dict[str, list[float]] = field(default_factory=dict)
    along: tuple[str, ...] | None = None
    tolerance: float = MIN_FORMULA_ERROR
    known: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """How to fit: see `isochrone.models.fit.fit`."""

    splits: Splits
    weights: str
    robust: bool


@dataclass(frozen=True)
class Region:
    """Where one segment holds: its range, and a mask of the observations in it, shape (n,).

    ``switch`` and ``reach`` are as in `Segment`.
    """

    range: dict[str, Range]
    mask: Bools
    switch: dict[str, Range] = field(default_factory=dict)
    reach: dict[str, Range] = field(default_factory=dict)

    def opened(self, name: str, side: int) -> Region:
        """Return the region without its lower (0) or upper (1) end along a variable."""
        every = []
        for ends in (self.range, self.switch, self.reach):
            left = [end if k != side else None for k, end in enumerate(ends[name])]
            others = {key: value for key, value in ends.items() if key != name}
            every.append(others if left == [None, None] else {**ends, name: (left[0], left[1])})
        return Region(every[0], self.mask, every[1], every[2])


def parse_splits(
    texts: Sequence[str] | None,
    tolerance: float = MIN_FORMULA_ERROR,
    breakpoints: Sequence[str] = (),
) -> Splits:
    """Read ``--split``: ``none``, ``p`` (look along p), ``p:4`` or ``p*b:64KiB,8MiB`` (given).

    ``breakpoints`` are of the library, ``b:12KiB,512KiB``; they only say where in a gap it is.

    Raises
    ------
    InputError
        If a value is none, or they do not rise.
    """
    fixed = {}
    along = []
    for text in texts or ():
        if text.strip() == "none":
            continue
        name, bounds = _bounds(text)
        if bounds:
            fixed[name] = bounds
        else:
            along.append(name)
    switches: dict[str, list[float]] = {}
    for text in breakpoints:
        name, bounds = _bounds(text)
        if not bounds:
            raise InputError(f"the breakpoint '{text}' has no value", hint=f"try {name}:12KiB")
        switches.setdefault(name, []).extend(bounds)
    looked_for = None if texts is None else tuple(along)
    return Splits(fixed, looked_for, tolerance, switches)


def _bounds(text: str) -> tuple[str, list[float]]:
    """Read ``b:8KiB,64KiB``: a variable or a product, and rising values; none without a colon."""
    name, colon, values = text.partition(":")
    name = name.strip()
    evaluate_term(name, {key: np.ones(1) for key in VARIABLES})
    if not colon:
        return name, []
    bounds = []
    for value in values.split(","):
        try:
            bounds.append(float(value))
        except ValueError:
            if not is_size(name):
                raise InputError(f"'{value}' is not a valid breakpoint of '{name}'") from None
            bounds.append(float(parse_bytes(value)))
    if sorted(set(bounds)) != bounds:
        raise InputError(f"the breakpoints in '{text}' are not increasing")
    return name, bounds


class Search:
    """Looks for the segments of one operation; remembers what it has cut.

    Attributes
    ----------
    pool
        Formulas, and the variables to look along if ``splits`` does not say.
    along
        Variables, and products of them, along which segments are looked for.
    """

    def __init__(self, pool: Pool, observed: Observations, options: Options) -> None:
        self.pool, self.observed, self.splits = pool, observed, options.splits
        self.weights = options.weights
        along = pool.splits if self.splits.along is None else self.splits.along
        self.along = [
            name
            for name in along
            if name not in (*self.splits.given, *CLASSES) and _has(name, observed)
        ]
        self._found: dict[tuple[bytes, str], Segmentation | None] = {}

    def given(self) -> list[Region]:
        """Return the regions between the bounds that were given; at least one.

        Raises
        ------
        InputError
            If the data do not hold the variable, or no values between its bounds.
        """
        regions = [Region({}, np.ones(len(self.observed), dtype=bool))]
        for name, bounds in self.splits.given.items():
            if not _has(name, self.observed):
                raise InputError(f"cannot split along '{name}'", hint="the data do not contain it")
            # a value on a bound belongs to the part below
            index = np.searchsorted(bounds, evaluate_term(name, self.observed.variables))
            finer = []
            for region in regions:
                for k, ends in enumerate(pairwise([None, *bounds, None])):
                    mask = region.mask & (index == k)
                    if not mask.any():
                        raise InputError(
                            f"no points in the segment {k + 1} of '{name}'",
                            hint="give other breakpoints",
                        )
                    finer.append(Region({**region.range, name: ends}, mask))
            regions = finer
        return regions

    def ways(self) -> Iterator[Callable[[], list[Region]]]:
        """Yield ways to cut the data: not at all, along each variable first, by each class."""
        yield self.given
        yield from (partial(self.regions, name) for name in self.along)
        requested = self.splits.along
        nodes = ("nodes",) * bool(self.pool.classes and "nodes" in self.observed.variables)
        for name in (*self.pool.classes, *nodes):
            if requested is None or name in requested:
                yield partial(self.classes, name)

    def regions(self, first: str | None = None) -> list[Region]:
        """Return where the segments hold, cut along ``first``, else where it pays; at least one."""
        names = [first] if first else self.along
        regions = (self._cut(region, self.along, names) for region in self.given())
        return self._with_needed_ends(
            [subregion for subregions in regions for subregion in subregions]
        )

    def classes(self, name: str) -> list[Region]:
        """Return the regions of two classes of ranks or nodes, each cut further where that pays.

        Raises
        ------
        InputError
            If one of them was hardly measured.
        """
        value = evaluate_term(name, self.observed.variables)
        classes: list[tuple[Range, Bools]] = [((1.0, 1.0), value == 1), ((0.0, 0.0), value == 0)]
        if name == "nodes":
            classes = [((None, 1.0), value <= 1), ((2.0, None), value >= 2)]
        subregions = []
        for region in self.given():
            for ends, mine in classes:
                mask = region.mask & mine
                if len(np.unique(self.observed.variables["p"][mask])) < MIN_FIT_VALUES:
                    raise InputError(f"the data have too few numbers of ranks of a class by {name}")
                class_region = Region({**region.range, name: ends}, mask)
                subregions += self._cut(
                    class_region, self.along, ["b"] if "b" in self.along else self.along
                )
        return self._with_needed_ends(subregions)

    def _with_needed_ends(self, regions: Sequence[Region]) -> list[Region]:
        """Take off the ends of regions that keep out no measured point.

        A jump at the same size for all ranks may be found along p*b first, and along b within. Then
        the end along p*b is only where the data end, and predictions must not change there.
        """
        variables = self.observed.variables
        opened = []
        for region in regions:
            for name in region.range.keys() - {*self.splits.given, *CLASSES, "nodes"}:
                ends = region.range[name]
                for k in (0, 1):
                    open_ended = (None, ends[1]) if k == 0 else (ends[0], None)
                    wider = {**region.range, name: open_ended}
                    if ends[k] is None or np.any(_within(wider, variables) & ~region.mask):
                        continue
                    ends = open_ended
                    region = region.opened(name, k)
            opened.append(region)
        return opened

    def _cut(self, region: Region, along: Sequence[str], names: Sequence[str]) -> list[Region]:
        """Cut one region where that pays most, and its parts along the other variables."""
        # Any of several variables may happen to be cut by noise: they share one chance (Bonferroni)
        best, best_gain = None, 2 * log(max(len(along), 1))
        for name in names:
            key = region.mask.tobytes(), name
            if key not in self._found:
                with suppress(InputError):  # the data do not allow a single segment
                    self._found[key] = self._segment(region, name)
            segmentation = self._found.setdefault(key, None)
            if segmentation is None or not segmentation.breaks:
                continue
            gain = segmentation.criterion[0] - min(segmentation.criterion)
            if gain > best_gain:
                best_gain, best = gain, (name, segmentation)
        if best is None:
            return [region]
        name, segmentation = best
        value = evaluate_term(name, self.observed.variables)
        others = [variable for variable in along if variable != name]
        cut = region.range.keys() - {*self.splits.given, *CLASSES, "nodes"}
        deeper = len(cut) + 1 < MAX_CUT_VARIABLES
        return [
            piece
            for subregion in _parts(region, name, value, segmentation, self.splits)
            for piece in (self._cut(subregion, others, others) if deeper else [subregion])
        ]

    def _segment(self, region: Region, name: str) -> Segmentation:
        observed = self.observed.only(region.mask)
        seconds, variables = observed.seconds, observed.variables
        relative = self.weights == "relative"
        scale = seconds if relative else np.full_like(seconds, seconds.mean())
        noise = max(observed.noise or 0.0, self.splits.tolerance, _FLOAT_ROUNDING)
        terms = list(dict.fromkeys(term for form in self.pool.forms for term in form.terms))
        forms = [[terms.index(term) for term in form.terms] for form in self.pool.forms]
        single = len(varying(observed)) == 1
        lines = self.pool.min_values >= LINE_VALUES
        min_values = self.pool.min_values
        if lines and not single:  # several points of each value
            min_values = _FEWEST_SIZES if name == "b" else _FEWEST
        value = evaluate_term(name, variables)
        return segment(
            value,
            seconds,
            design_matrix(terms, variables),
            forms=forms,
            sigma=noise * scale,
            max_segments=MAX_SEGMENTS[not single],
            min_values=min_values,
            min_ratio=LINE_RATIO if lines else 1.0,
            max_candidates=next(c for n, c in _CANDIDATES.items() if len(seconds) <= n),
        )


def _parts(
    region: Region, name: str, value: Floats, segmentation: Segmentation, splits: Splits
) -> Iterator[Region]:
    """Yield the parts of a region between breaks."""
    breakpoints = splits.known.get(name, ())
    ends = [(gap.below, gap.above, likely_switch(gap, breakpoints)) for gap in segmentation.breaks]
    none = (None, None, None)
    for before, after in zip([none, *ends], [*ends, none], strict=True):
        (below, low, first), (high, above, last) = before, after
        yield Region(
            {**region.range, name: (low, high)},
            region.mask & _between(value, (low, high)),
            {**region.switch, name: (first, last)},
            {**region.reach, name: (below, above)},
        )


def _within(ranges: Mapping[str, Range], variables: Mapping[str, Floats]) -> Bools:
    """Return which points are within the ranges; shape (n,)."""
    inside = np.ones(length_of(variables), dtype=bool)
    for name, ends in ranges.items():
        inside &= _between(evaluate_term(name, variables), ends)
    return inside


def _between(value: Floats, ends: Range) -> Bools:
    """Return which values are between the ends, or on one; shape (n,)."""
    low, high = ends
    above = value >= (-inf if low is None else low)
    return np.asarray(above & (value <= (inf if high is None else high)))


def _has(name: str, observed: Observations) -> bool:
    try:
        evaluate_term(name, observed.variables)
    except InputError:
        return False
    return True


def likely_switch(gap: Break, breakpoints: Collection[float] = ()) -> float:
    """Return the largest value that is taken to belong to the segment below.

    Parameters
    ----------
    gap
        Largest measured value below the switch, and smallest above.
    breakpoints
        Switches that the library is known to have; one within the gap is taken.

    Returns
    -------
    float
        Else the roundest binary number between the two, that is the one with the fewest digits,
        and of several the one nearest to the middle; else the middle of the ratio.
    """
    low, high = gap.below, gap.above
    inside = [value for value in breakpoints if low <= value < high]
    if inside:
        return inside[0]
    middle = sqrt(low * high) if low > 0 else (low + high) / 2
    if high - low < 2:
        return low
    step = 2.0 ** floor(log2(high - low))
    while step >= 1:
        first = floor(low / step) + 1
        last = ceil(high / step) - 1
        if first <= last:
            return step * min(range(first, last + 1), key=lambda k: abs(k * step - middle))
        step /= 2
    return middle
