"""Bandwidth by message size, summed over both directions or all concurrent pairs."""

from collections.abc import Sequence

import numpy as np

from isochrone.base.errors import InputError
from isochrone.runfile.run import Run
from isochrone.sweep.figures._sweeps import by_size, collect
from isochrone.views.scales import tick_rate
from isochrone.views.view import Figure, Options, View

_OF = {"pair": "of one pair", "pairs": "of all pairs together"}
"""Of what the bandwidth is, by what a curve is of."""

_ANY = "block of one rank divided by the time of the operation"


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the bandwidth of all curves of all runs.

    Raises
    ------
    InputError
        If no curve moves any data.
    """
    drawn = collect(runs, options.ops)
    drawn = [(run, c) for run, c in drawn if np.nanmax(np.append(c.column("bandwidth"), 0.0)) > 0]
    if not drawn:
        raise InputError("the runs have no bandwidth: no operation moves data")
    kinds = {next((_OF[name] for name in _OF if name in c.key), _ANY) for _, c in drawn}
    bidirectional = all(
        str(run.options.get("mode")).startswith("bidirectional") for run, _ in drawn
    )
    of = "of both directions combined" if bidirectional else kinds.pop() if len(kinds) == 1 else ""
    return by_size(
        runs,
        drawn,
        options,
        ("bandwidth", "bandwidth_low", "bandwidth_high"),
        title="Bandwidth by message size",
        fact=f"bandwidth: {of}" if of else "",
        bar="error bars: 95 % interval",
        tick=tick_rate,
    )


VIEW = View(draw, kinds=("sweep",), several=True)
