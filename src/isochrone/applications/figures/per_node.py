"""Slowdown of applications with more ranks on a node, from several emulations."""

from collections.abc import Sequence

import numpy as np

from isochrone.applications.emulation.summary import sharing
from isochrone.runfile.run import Run
from isochrone.views.lines import ChartText, Line, draw_lines
from isochrone.views.view import Figure, Options, View


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw a line for each application, alone and with others.

    Raises
    ------
    InputError
        If no application took any time.
    """
    lines = [
        Line(
            name,
            *np.array(
                [(k, slowdown.median, slowdown.low, slowdown.high) for k, _, slowdown in of]
            ).T,
        )
        for name, of in sharing(runs).items()
    ]
    facts = [
        runs[0].origin,
        f"{runs[0].size} ranks",
        "wall time / that with fewest ranks on a node",
        "error bars: 95 % intervals",
    ]
    text = ChartText(
        "Slowdown by ranks on a node", facts, "ranks on a node", "{:g}".format, "{:g}".format, runs
    )
    return draw_lines(lines, text, "log")


VIEW = View(draw, kinds=("emulation",), several=True)
