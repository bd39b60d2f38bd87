"""Bandwidth by message size, summed over both directions or all concurrent pairs."""

from collections.abc import Sequence

import numpy as np

from isochrone.base.errors import InputError
from isochrone.runfile.run import Run
from isochrone.sweep.figures._sweeps import bars, chosen_scale, collect, facts, lines
from isochrone.sweep.labels import distinguish
from isochrone.views.lines import ChartText, draw_lines
from isochrone.views.scales import tick_bytes, tick_rate
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
    labels = distinguish(drawn)
    kinds = {next((_OF[name] for name in _OF if name in c.key), _ANY) for _, c in drawn}
    both = {_option(run) for run, _ in drawn} == {"bidirectional"}
    of = "of both directions combined" if both else kinds.pop() if len(kinds) == 1 else ""
    words = ChartText(
        title="Bandwidth by message size",
        facts=facts(
            runs, labels, f"bandwidth: {of}" if of else "", bars(drawn, "error bars: 95 % interval")
        ),
        below="message size",
        tick_x=tick_bytes,
        tick_y=tick_rate,
        of=runs,
    )
    made = lines(drawn, labels, "bandwidth", lambda _: ("bandwidth_low", "bandwidth_high"))
    return draw_lines(made, words, chosen_scale(options.scale, drawn))


def _option(run: Run) -> object:
    return run.options.get("mode")


VIEW = View(draw, kinds=("sweep",), several=True)
