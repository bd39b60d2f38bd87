"""What the times of an operation show about its growth, and so what a formula of it may give."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.models.data.observations import Observations
from isochrone.models.data.placement import PLACES, farther
from isochrone.models.data.starts import numbered
from isochrone.models.data.terms import evaluate_term, length_of, picked, stacked, variables_of
from isochrone.models.formulas import linear
from isochrone.models.formulas.pool import Candidate
from isochrone.models.selection.cross_validation import SegmentFit
from isochrone.models.thresholds import MAX_FALL, UNKNOWN_NOISE

_BEYOND = (2.0, 4.0, 8.0)
"""Times the largest number of ranks and bytes, where a formula must give a possible time."""


_FELL = (0.02, 4.0)
"""Part of a time, and times its noise, by which times must fall before data show that they do."""


@dataclass(frozen=True)
class Limits:
    """What the times of an operation show about its growth.

    Attributes
    ----------
    rising
        ``p`` and ``b`` if times never fall as it doubles, as far as the noise lets see.
    largest
        Largest message size; 0 without any.
    """

    rising: tuple[str, ...]
    largest: float

    @classmethod
    def of(cls, observed: Observations) -> Limits:
        """Look at the times of an operation."""
        names = [name for name in ("p", "b") if name in observed.variables]
        rising = tuple(name for name in names if _rises(observed, name))
        largest = float(np.max(observed.variables.get("b", np.zeros(1))))
        return cls(rising, largest)

    def costs(self, candidate: Candidate) -> Candidate:
        """Return a formula of one growth with that as a cost, if times grow."""
        first, *others = candidate.form.terms
        if first != "1" or len(others) != 1 or not set(variables_of(others)) <= {*self.rising}:
            return candidate
        return replace(candidate, costs=(*candidate.costs, *others))

    def allowed(self, segment_fits: list[SegmentFit], observed: Observations) -> list[SegmentFit]:
        """Return the formulas that give possible times within a segment and beyond.

        They are above zero, and fall with neither ranks nor bytes unless the data do.
        """
        if not {"p", "b"} & observed.variables.keys():
            return segment_fits
        beyond = [observed.variables]
        if "p" in observed.variables:
            beyond += [farther(observed.variables, factor) for factor in (1.0, *_BEYOND)]
        by_bytes = [self._by_bytes(beyond[k]) for k in (0, -1) if "b" in self.rising]
        every = [*beyond, *(points for points, _ in by_bytes)]
        ends = np.cumsum([length_of(block) for block in every])[:-1]
        points = stacked(every)
        columns = {
            term: evaluate_term(term, points)
            for term in dict.fromkeys(
                term for segment_fit in segment_fits for term in segment_fit.fit.terms
            )
        }

        def allows(fit: linear.Fit) -> bool:
            time = np.column_stack([columns[term] for term in fit.terms]) @ fit.coefficients
            times = np.split(time, ends)
            if any(np.any(time <= 0) for time in times[: len(beyond)]):
                return False
            if "p" in self.rising and any(
                np.any(more < less * (1 - MAX_FALL))
                for less, more in pairwise(times[1 : len(beyond)])
            ):
                return False
            return not any(
                np.any(same & (np.diff(time) < -MAX_FALL * time[:-1]))
                for time, (_, same) in zip(times[len(beyond) :], by_bytes, strict=True)
            )

        return [segment_fit for segment_fit in segment_fits if allows(segment_fit.fit)]

    def _by_bytes(self, points: Mapping[str, Floats]) -> tuple[dict[str, Floats], Bools]:
        """Return points in the order of their bytes, and beyond; and which differ in these only.

        That is said of each and the one after it.
        """
        size = points["b"]
        largest = size == size.max()
        beyond = [{**picked(points, largest), "b": factor * size[largest]} for factor in _BEYOND]
        every = [points, *(beyond if size.max() == self.largest else [])]
        points = stacked(every)
        row = _rows(points, {"b"})
        order = np.lexsort((points["b"], row))
        return picked(points, order), np.diff(row[order]) == 0


def _rows(points: Mapping[str, Floats], but: Container[str]) -> Ints:
    """Return the number of the combination of all variables but some at each point, from 0."""
    others = [column for name, column in points.items() if name not in but]
    return numbered(*others) if others else np.zeros(length_of(points), dtype=np.int64)


def _rises(observed: Observations, name: str) -> bool:
    """Whether no time falls as a variable at least doubles, all others being equal."""
    row = _rows(observed.variables, {name, *(PLACES if name == "p" else ())})
    value = observed.variables[name]
    noise = UNKNOWN_NOISE if observed.noise is None else observed.noise
    limit = 1 - max(_FELL[0], _FELL[1] * noise)
    for k in range(row.max() + 1):
        order = np.flatnonzero(row == k)[np.argsort(value[row == k])]
        running_max = np.maximum.accumulate(observed.seconds[order])
        half = np.searchsorted(value[order], value[order] / 2, side="right") - 1
        comparable = half >= 0
        if np.any(observed.seconds[order][comparable] < limit * running_max[half[comparable]]):
            return False
    return True
