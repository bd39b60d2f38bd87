"""How far a model is from the times: minimum, average and maximum deviation of each group."""

from collections.abc import Sequence

import numpy as np

from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.models import deviations_by_group, goodness_of_fit
from isochrone.models.data.extension import added
from isochrone.models.figures._fitted import WORDS, Drawn, head, name_of, origin_notes, resolve
from isochrone.models.selection.errors import Deviation
from isochrone.runfile.origin import one_word, with_noun
from isochrone.views.style import (
    COLOURS,
    LABEL,
    PALE,
    new_figure,
    plain_axes,
    plain_legend,
    text_width,
)
from isochrone.views.view import TABLE, Axes, Figure, Options, View

_MAX_DRAWN_GROUPS = 24
_DEVIATION_WIDTH = 8.2  # inches
_MIN_PERCENT = 0.01  # per cent; less is rounding
_THREE = ("minimum", "average", "maximum")


def draw(runs: Sequence[Drawn], options: Options) -> Figure:
    """Draw bars for each value of each variable, as figures 2 to 4 of Kühnemann et al. do."""
    model, groups, origin = resolve(runs, options.model, options.ops)
    overall = goodness_of_fit(model, groups)["deviation"]
    deviations = deviations_by_group(model, groups) or {"": {}}
    figure = new_figure(_DEVIATION_WIDTH, 2.6 * len(deviations) + 0.9)
    for row, (name, values) in enumerate(deviations.items()):
        _bars(figure.add_subplot(len(deviations), 1, row + 1), name, values)
    observed = one_word(origin)
    note = (
        f"|predicted - {observed}| / the smaller of both; overall: "
        f"{100 * overall['minimum']:.2f} % to {100 * overall['maximum']:.2f} %, "
        f"average {100 * overall['average']:.2f} % of {overall['points']} points"
    )
    title = f"Deviation of {name_of(model)} from {with_noun(origin)}"
    head(figure, title, [note, *origin_notes(model, origin)])
    return figure


def _bars(axes: Axes, name: str, values: dict[str, Deviation]) -> None:
    """Draw three bars for each value: least, average, largest; one where they are the same."""
    bars = list(values.items())
    if len(bars) > _MAX_DRAWN_GROUPS:  # those that matter
        worst = sorted(bars, key=lambda item: -item[1].maximum)[:_MAX_DRAWN_GROUPS]
        bars = [item for item in bars if item in worst]
    ticks = np.arange(len(bars))
    single = np.array([group.points == 1 for _, group in bars], dtype=bool)
    for k, (statistic, colour) in enumerate(zip(_THREE, COLOURS, strict=False)):
        heights = np.array([100 * getattr(group, statistic) for _, group in bars])
        if not bars or not single.all():
            axes.bar(
                (ticks + 0.28 * (k - 1))[~single],
                heights[~single],
                width=0.26,
                color=colour,
                label=statistic,
            )
    if single.any():  # the least is the largest, and three equal bars would say that three times
        single_heights = [100 * group.average for _, group in bars if group.points == 1]
        axes.bar(ticks[single], single_heights, width=0.5, color=PALE, label="of one point")
    sizes = name in ("b", "bytes")
    texts = [
        format_bytes(int(float(value))) if sizes else printable(value, 24) for value, _ in bars
    ]
    longest = max((text_width(text, LABEL) for text in texts), default=0)
    long = longest > 0.9 * _DEVIATION_WIDTH / max(len(texts), 1)
    axes.set_xticks(
        ticks.tolist(),
        texts,
        parse_math=False,
        rotation=45 if long else 0,
        ha="right" if long else "center",
    )
    axes.set_ylim(0, max(axes.get_ylim()[1], _MIN_PERCENT))
    plain_axes(axes, WORDS.get(name, name), "deviation in %", grid="y")
    plain_legend(axes, ncols=4, loc="lower right", bbox_to_anchor=(1, 1))


VIEW = View(draw, kinds=("sweep", *(extension.kind for extension in added()), TABLE), several=True)
