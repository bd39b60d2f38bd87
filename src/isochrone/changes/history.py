"""Comparable runs over time: the median of each level, node or curve, and its change points.

A series is cut into segments of constant time (`base.segmentation`). A change point is reported if
the change exceeds `LEAST` and is significant. Nodes are compared relative to the other nodes of the
same run, so that a slow night of the whole machine is not attributed to them. Maps need only share
hosts: they are seen from the places of the last one, as in `effects`.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.record import Record
from isochrone.base.segmentation import segment
from isochrone.base.stats import median_of
from isochrone.base.text import listed, printable
from isochrone.changes.comparability import PLACE, Difference, Group, groups_of, other_settings
from isochrone.changes.effects import Quantity, quantities
from isochrone.runfile.run import Run

LEAST = 0.05
"""Threshold: smaller relative changes are not reported."""

SURE = 4.0
"""Standard errors between the segments on both sides of a change point."""

SHORTEST = 3
"""Minimum number of runs of a segment, to distinguish it from a bad night."""

MOST = 6
"""Maximum number of segments."""

_DRAWN = ("level", "node", "inside", "curve", "point")


class Change(Record):
    """A change between two successive runs.

    Attributes
    ----------
    at
        Index of the first run after it.
    before, after
        Medians of the segments on both sides, in seconds.
    ratio
        after / before; for a node relative to the other nodes.
    """

    at: int
    before: float
    after: float
    ratio: float


class Series(Record):
    """One level, node, curve or point over the runs.

    Attributes
    ----------
    what
        What it is.
    runs
        Indices of the runs that have it.
    seconds
        Its median in each of these.
    changes
        Where it changed.
    """

    what: Quantity
    runs: Ints
    seconds: Floats
    changes: list[Change]

    @property
    def name(self) -> str:
        """What it is, as text."""
        what = self.what
        return what.who if what.kind != "node" else f"node {what.who}"


class History(Record):
    """Comparable runs, the oldest first.

    Attributes
    ----------
    runs
        In the order of their dates.
    marks
        For each run the settings that differ from the run before it.
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
        """Start of each run, from its file: escape it."""
        return [run.about.started for run in self.runs]

    def of(self, *kinds: str) -> list[Series]:
        """Return the series of these kinds."""
        return [one for one in self.series if one.what.kind in kinds]


def histories(runs: Sequence[Run]) -> list[History]:
    """Group complete runs by what was measured and where, and analyse each group over time.

    Raises
    ------
    InputError
        If a run holds no times, or comparable runs have too little in common.
    """
    return [_history(group) for group in groups_of(runs, PLACE)]


def _history(group: Group) -> History:
    runs = group.runs
    marks = [[], *(other_settings(two, one) for one, two in pairwise(group.settings))]
    quantity = quantities(runs, len(runs))
    series = []
    for what, shifts, seconds in zip(
        quantity.items, quantity.shifts.T, quantity.seconds.T, strict=True
    ):
        has = np.flatnonzero(~np.isnan(shifts))
        if what.kind in _DRAWN and len(has):
            logs = np.log(seconds) if what.kind in ("curve", "point") else shifts
            series.append(Series(what, has, seconds[has], _changes(logs[has], seconds[has], has)))
    return History(runs, marks, series, [*quantity.notes, *_not_shown(runs)])


def _not_shown(runs: Sequence[Run]) -> list[str]:
    """Name the hosts that the last run lacks."""
    last = runs[-1].hosts
    lacking = sorted({host for run in runs for host in run.hosts}.difference(last))
    shown = listed([printable(host, 40) for host in lacking], 5)
    return [f"not shown, because the last run lacks them: {shown}"] if lacking else []


def _changes(logs: Floats, seconds: Floats, runs: Ints) -> list[Change]:
    """Return where a series of logarithms changes; ``runs`` are the indices of its runs."""
    if len(logs) < 2 * SHORTEST:
        return []
    nights = np.arange(len(logs), dtype=np.float64)

    found = segment(
        nights, logs, np.ones_like, weights=np.ones(len(logs)), max_segments=MOST,
        min_values=SHORTEST,
    )  # fmt: skip
    edges = [0, *(round(one.above) for one in found.breaks), len(logs)]
    changes = []
    for start, at, end in zip(edges, edges[1:], edges[2:], strict=False):
        one, two = logs[start:at], logs[at:end]
        shift = median_of(two) - median_of(one)
        freedom = len(one) + len(two) - 2
        squares = np.sum((one - np.mean(one)) ** 2) + np.sum((two - np.mean(two)) ** 2)
        error = float(np.sqrt(squares / freedom * (1 / len(one) + 1 / len(two))))
        if abs(np.expm1(abs(shift))) > LEAST and abs(shift) > SURE * error:
            sides = median_of(seconds[start:at]), median_of(seconds[at:end])
            changes.append(Change(int(runs[at]), *sides, float(np.exp(shift))))
    return changes
