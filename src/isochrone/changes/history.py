"""Comparable runs over time: the median of each level, node or curve, and its change points.

A series is cut into segments of constant time (`base.segmentation`). A change point is reported if
the change exceeds `MIN_HISTORY_CHANGE` and is significant. Nodes are compared relative to the other
nodes of the same run, so that a slow night of the whole machine is not attributed to them. Maps of
a history need only share hosts with one of them: a series has no value for a night without its
host.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.record import Record
from isochrone.base.segmentation import segment
from isochrone.base.stats import median_of
from isochrone.base.table import grouped
from isochrone.changes.comparability import PLACE, Difference, comparable, other_settings
from isochrone.changes.effects import off_usual, usual_of
from isochrone.changes.nights import DRAWN, Night, Read, Value, fill, nights_of
from isochrone.changes.thresholds import (
    MAX_SEGMENTS,
    MIN_CHANGE_ERRORS,
    MIN_HISTORY_CHANGE,
    MIN_SEGMENT_RUNS,
)
from isochrone.runfile.run import Run


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
    """One level, node, curve or point over the runs, and its changes.

    Attributes
    ----------
    what
        Its value in the latest run that has it.
    seconds
        Medians; NaN for a run without it.
    changes
        In their order.
    """

    what: Value
    seconds: Floats
    changes: list[Change]

    @property
    def name(self) -> str:
        """What it is, as text."""
        quantity = self.what
        return quantity.who if quantity.kind != "node" else f"node {quantity.who}"


class History(Record):
    """Comparable runs, the oldest first.

    Attributes
    ----------
    nights
        In the order of their dates.
    marks
        For each run the settings that differ from the run before it.
    series
        Levels first, then nodes; or curves and points.
    notes
        What was left out.
    """

    nights: list[Night]
    marks: list[list[Difference]]
    series: list[Series]
    notes: list[str]

    @property
    def dates(self) -> list[str]:
        """Start of each run, from its file: escape it."""
        return [night.started for night in self.nights]

    def of(self, *kinds: str) -> list[Series]:
        """Return the series of these kinds."""
        return [series for series in self.series if series.what.kind in kinds]


def histories_of(runs: Sequence[Run]) -> list[History]:
    """Return the histories of runs in memory; see `histories`."""
    return histories(*nights_of(runs))


def histories(nights: Sequence[Night], read: Read) -> list[History]:
    """Group complete runs by what was measured and where, and analyse each group over time.

    Raises
    ------
    InputError
        If a run holds no times, or comparable runs have too little in common.
    """
    complete = [night for night in nights if not night.left_out]
    complete.sort(key=lambda night: (night.started, night.file))
    groups = comparable([night.setting for night in complete], PLACE)
    grouped_histories = []
    for alike in groups:
        group = [complete[k] for k in alike]
        fill(group, read)
        marks = [
            other_settings(later.setting, earlier.setting) for earlier, later in pairwise(group)
        ]
        notes = dict.fromkeys(note for night in group for note in night.notes)
        grouped_histories.append(History(group, [[], *marks], _series(group), [*notes]))
    return grouped_histories


def _series(nights: Sequence[Night]) -> list[Series]:
    rows = [{value[:3]: value for value in night.values or ()} for night in nights]
    latest = {key: value for row in rows for key, value in row.items()}
    # in the order of the latest night
    keys = sorted(
        dict.fromkeys(key for row in reversed(rows) for key in row),
        key=lambda key: (key[2] or 0, DRAWN.index(key[0])),
    )
    shape, column = (len(rows), len(keys)), {key: k for k, key in enumerate(keys)}
    seconds, shifts = np.full(shape, np.nan), np.full(shape, np.nan)
    for k, row in enumerate(rows):
        columns = [column[key] for key in row]
        seconds[k, columns] = [value.seconds for value in row.values()]
        shifts[k, columns] = [value.shift for value in row.values()]
    for (_, kind), columns in grouped(((key[2], key[0]), column[key]) for key in keys).items():
        if kind in ("node", "inside"):
            off = off_usual(shifts[:, columns], usual_of(shifts[:, columns]))
            shifts[:, columns] -= np.nan_to_num(off)
    return [
        Series(latest[key], seconds[:, k], _changes(shifts[:, k], seconds[:, k]))
        for key, k in column.items()
    ]


def _changes(logs: Floats, seconds: Floats) -> list[Change]:
    """Return where a series of logarithms changes; NaN are no values."""
    present = np.flatnonzero(~np.isnan(logs))
    logs, seconds = logs[present], seconds[present]
    if len(logs) < 2 * MIN_SEGMENT_RUNS:
        return []
    nights = np.arange(len(logs), dtype=np.float64)

    segments = segment(
        nights,
        logs,
        np.ones_like,
        weights=np.ones(len(logs)),
        max_segments=MAX_SEGMENTS,
        min_values=MIN_SEGMENT_RUNS,
    )
    edges = [0, *(round(boundary.above) for boundary in segments.breaks), len(logs)]
    changes = []
    for start, at, end in zip(edges, edges[1:], edges[2:], strict=False):
        left, right = logs[start:at], logs[at:end]
        shift = median_of(right) - median_of(left)
        freedom = len(left) + len(right) - 2
        squares = np.sum((left - np.mean(left)) ** 2) + np.sum((right - np.mean(right)) ** 2)
        error = float(np.sqrt(squares / freedom * (1 / len(left) + 1 / len(right))))
        if (
            abs(np.expm1(abs(shift))) > MIN_HISTORY_CHANGE
            and abs(shift) > MIN_CHANGE_ERRORS * error
        ):
            sides = median_of(seconds[start:at]), median_of(seconds[at:end])
            changes.append(Change(int(present[at]), *sides, float(np.exp(shift))))
    return changes
