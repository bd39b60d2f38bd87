"""Runs of one thing over time: the median of each level, node or curve, and where it changed.

A change is a cut of the series into stretches of a constant time, the exact one with the smallest
criterion (`base.segmentation`). What is said to be a change is moreover larger than `LEAST`, and
than the scatter around it makes by chance. Nodes are cut by what they take over the others of the
same run: a night on which all was slow is none of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.segmentation import segment
from isochrone.changes.comparability import PLACE, Difference, Group, differences, groups_of
from isochrone.changes.effects import Quantity, quantities
from isochrone.runfile.run import Run

Array = NDArray[np.float64]

LEAST: Final = 0.05
"""Changes of less than this part of the time are not told."""

SURE: Final = 4.0
"""Standard errors by which the stretches on both sides of a change differ: it is looked for at
every place."""

SHORTEST: Final = 3
"""Runs of the shortest stretch: of fewer it cannot be told from a bad night."""

MOST: Final = 6
"""Stretches that are tried."""

_DRAWN: Final = ("level", "node", "inside", "curve", "point")


@dataclass(frozen=True)
class Change:
    """A change between two runs that follow each other.

    Attributes
    ----------
    at
        Index of the first run after it.
    before, after
        Medians of the stretches on both sides, in seconds.
    ratio
        after / before; of a node over what the others did.
    """

    at: int
    before: float
    after: float
    ratio: float


@dataclass(frozen=True)
class Series:
    """One level, node, curve or point over the runs: medians in seconds, and its changes."""

    what: Quantity
    seconds: Array
    changes: list[Change]

    @property
    def name(self) -> str:
        """What it is, in words."""
        what = self.what
        return what.who if what.kind != "node" else f"node {what.who}"


@dataclass(frozen=True)
class History:
    """Runs of one thing, the oldest first.

    Attributes
    ----------
    runs
        In the order of their dates.
    marks
        Of each run what of its settings differs from the run before it.
    series
        Levels first, then nodes; or curves and points.
    notes
        What was left out.
    """

    runs: list[Run]
    marks: list[list[Difference]]
    series: list[Series]
    notes: list[str]

    @property
    def dates(self) -> list[str]:
        """Start of each run, as its file says; it comes from elsewhere."""
        return [run.about.started for run in self.runs]

    def of(self, *kinds: str) -> list[Series]:
        """Return the series of these kinds."""
        return [one for one in self.series if one.what.kind in kinds]


def histories(runs: Sequence[Run]) -> list[History]:
    """Sort complete runs by what was measured and where, and follow each over time.

    Raises
    ------
    InputError
        If a run holds no times, or those of one thing have too little in common.
    """
    return [_history(group) for group in groups_of(runs, PLACE)]


def _history(group: Group) -> History:
    runs = group.runs
    marks = [[], *(differences(two, one) for one, two in pairwise(group.settings))]
    found = quantities(runs, len(runs))
    series = []
    for k, what in enumerate(found.items):
        if what.kind in _DRAWN:
            seconds = found.seconds[:, k]
            own = found.shifts[:, k] if what.kind in ("node", "inside") else np.log(seconds)
            series.append(Series(what, seconds, _changes(own, seconds)))
    return History(runs, marks, series, found.notes)


def _changes(logs: Array, seconds: Array) -> list[Change]:
    """Return where a series of logarithms changes."""
    if len(logs) < 2 * SHORTEST:
        return []
    nights = np.arange(len(logs), dtype=np.float64)
    # segment() wants values above zero only for its default weights
    found = segment(
        nights, logs, np.ones_like, weights=np.ones(len(logs)), max_segments=MOST,
        min_values=SHORTEST,
    )  # fmt: skip
    edges = [0, *(round(one.above) for one in found.breaks), len(logs)]
    changes = []
    for start, at, end in zip(edges, edges[1:], edges[2:], strict=False):
        one, two = logs[start:at], logs[at:end]
        shift = float(np.median(two) - np.median(one))
        freedom = len(one) + len(two) - 2
        squares = np.sum((one - np.mean(one)) ** 2) + np.sum((two - np.mean(two)) ** 2)
        error = float(np.sqrt(squares / freedom * (1 / len(one) + 1 / len(two))))
        if abs(np.expm1(abs(shift))) > LEAST and abs(shift) > SURE * error:
            sides = float(np.median(seconds[start:at])), float(np.median(seconds[at:end]))
            changes.append(Change(at, *sides, float(np.exp(shift))))
    return changes
