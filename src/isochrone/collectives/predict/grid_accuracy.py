"""Comparison of predicted and measured times: operations on grids, and their phases."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from isochrone.base.errors import InputError
from isochrone.collectives.grid_collectives import OPERATIONS, Grid
from isochrone.collectives.predict.grid_collectives import Machine, predict
from isochrone.collectives.results.grid_collectives import LIBRARY, TOTAL, GridPoint, points
from isochrone.models import Model
from isochrone.models.deviation import Deviation, deviation
from isochrone.runfile.run import Run


@dataclass(frozen=True)
class Compared:
    """One measured time and its prediction, in seconds.

    Attributes
    ----------
    op, ranks, bytes, grid
        Of the whole operation.
    part
        ``LG``, ``CG`` or ``total``.
    """

    op: str
    ranks: int
    bytes: int
    grid: str
    part: str
    measured: float
    predicted: float

    @property
    def away(self) -> float:
        """|predicted - measured| / measured."""
        return abs(self.predicted - self.measured) / self.measured


def compare(model: Model, run: Run) -> list[Compared]:
    """Compare all operations of a run with a model: totals, and phases as in a total.

    Phases are measured, and predicted, with all groups at once. Operations missing in the model are
    omitted.

    Raises
    ------
    InputError
        If the run is not of collectives.
    """
    machine = Machine.of_hosts(run.hosts)
    groups: dict[tuple[str, int, int, str], list[GridPoint]] = {}
    for point in points(run):
        groups.setdefault((point.op, point.ranks, point.bytes, point.grid), []).append(point)
    found = []
    for (op, ranks, size, grid), of in groups.items():
        if op not in OPERATIONS:
            continue
        try:
            wanted = None if grid == LIBRARY else Grid.parse(grid)
            (time,) = predict(model, op, ranks, [wanted], [size], machine)
        except InputError:  # the model has no such operation, or no time for it
            continue
        several = len(time.phases) > 1
        predicted = [(one.phase.group, one.seconds) for one in time.phases if several]
        for part, seconds in (*predicted, (TOTAL, time.seconds)):
            own = [one for one in of if one.phase == part]
            most = max((one.groups for one in own), default=0)
            measured = next((one.seconds for one in own if one.groups == most), 0.0)
            if measured > 0 and math.isfinite(seconds):
                found.append(Compared(op, ranks, size, time.grid, part, measured, seconds))
    return found


def summarised(compared: Iterable[Compared]) -> Deviation | None:
    """Return least, average and largest deviation; None if empty."""
    rows = list(compared)
    if not rows:
        return None
    predicted, measured = (np.array([getattr(one, what) for one in rows])
                           for what in ("predicted", "measured"))  # fmt: skip
    return deviation(predicted, measured)
