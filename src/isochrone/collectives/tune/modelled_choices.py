"""Choose grids where nothing was measured, by a model, where its intervals leave no doubt."""

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
    library, and the other way round. Where a model does not say how sure it is, nothing is chosen.

    Parameters
    ----------
    model
        Of collectives.
    op, ranks, sizes, machine
        What is asked for; ``machine`` knows its nodes.
    least
        Smallest gain that is wanted, a part of the time.

    Raises
    ------
    InputError
        If the model does not hold what is asked for.
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
