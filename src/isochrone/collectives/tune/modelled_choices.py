"""Choose grids by a model for unmeasured cases, where its intervals are conclusive."""

from __future__ import annotations

import math
from collections.abc import Sequence

from isochrone.collectives.grid_collectives import LIBRARY, Grid, all_grids
from isochrone.collectives.predict.grid_collectives import GridTime, Machine, predict
from isochrone.collectives.tune.gains import Gain
from isochrone.collectives.tune.times import DEFAULT, Choice, Place
from isochrone.collectives.tune.tuning import Saving
from isochrone.models import Model


def modelled_savings(
    model: Model, op: str, ranks: int, sizes: Sequence[int], machine: Machine, least: float
) -> list[Saving]:
    """Choose at each size the grid that saves most, if even its slow end saves enough.

    The gain then lies between what the upper end of the grid leaves of the lower end of the
    library, and the other way round. Without intervals of the model, nothing is chosen.

    Parameters
    ----------
    model
        Of collectives.
    op, ranks, sizes, machine
        The request; ``machine`` has the nodes.
    least
        Minimum gain, as a fraction of the time.

    Raises
    ------
    InputError
        If the model lacks the operation.
    """
    grids: list[Grid | None] = [None, *all_grids(ranks)]
    if 1 < machine.ppn < ranks:
        grids.append(Grid.parse("nodes"))
    times = predict(model, op, ranks, grids, sizes, machine)
    place = Place(op, ranks, machine.nodes)
    found = []
    for size in sizes:
        there = [one for one in times if one.bytes == size]
        library = next(one for one in there if one.grid == LIBRARY)
        gains = {one.grid: _gain(library, one) for one in there if one.grid != LIBRARY}
        sure = {grid: gain for grid, gain in gains.items() if gain.low > least}  # false for NaN
        if sure:
            best = min(sure, key=lambda grid: sure[grid].chosen)
            found.append(Saving(place, size, Choice("grid", best), DEFAULT, sure[best]))
    return found


def _gain(library: GridTime, grid: GridTime) -> Gain:
    ends = (
        (grid.high / library.low, grid.low / library.high) if library.low > 0 else (math.nan,) * 2
    )
    return Gain(library.seconds, grid.seconds, 1 - ends[0], 1 - ends[1], 0)
