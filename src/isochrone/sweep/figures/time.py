"""Time by message size: the median of each size with its 95 % interval, several runs in one."""

from collections.abc import Sequence

from isochrone.runfile.run import Run
from isochrone.sweep.figures._sweeps import bars, chosen_scale, collect, facts, lines, meaning
from isochrone.sweep.labels import distinguish
from isochrone.views.lines import ChartText, draw_lines
from isochrone.views.scales import tick_bytes, tick_seconds
from isochrone.views.view import Figure, Options, View


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw all curves of all runs; sizes are of no use here: all are drawn."""
    drawn = collect(runs, options.ops)
    labels = distinguish(drawn)
    words = ChartText(
        title="Time by message size",
        facts=facts(
            runs,
            labels,
            meaning(runs),
            bars(drawn, "error bars: 95 % interval of the median"),
        ),
        below="message size",
        tick_x=tick_bytes,
        tick_y=tick_seconds,
        of=runs,
    )
    made = lines(drawn, labels, "median", lambda _: ("low", "high"))
    return draw_lines(made, words, chosen_scale(options.scale, drawn))


VIEW = View(draw, kinds=("sweep",), usual=("sweep",), several=True)
