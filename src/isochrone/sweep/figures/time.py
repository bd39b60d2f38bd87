"""Time by message size: the median of each size with its 95 % interval, several runs in one."""

from collections.abc import Sequence

from isochrone.runfile.run import Run
from isochrone.sweep.figures._sweeps import by_size, collect, meaning
from isochrone.views.scales import tick_seconds
from isochrone.views.view import Figure, Options, View


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw all curves of all runs; sizes are of no use here: all are drawn."""
    drawn = collect(runs, options.ops)
    return by_size(
        runs,
        drawn,
        options,
        ("median", "low", "high"),
        title="Time by message size",
        fact=meaning(runs),
        bar="error bars: 95 % interval of the median",
        tick=tick_seconds,
    )


VIEW = View(draw, kinds=("sweep",), usual=("sweep",), several=True)
