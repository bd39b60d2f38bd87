"""How far a model is from the times: minimum, average and maximum deviation of each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.models import deviations_by_group, goodness_of_fit
from isochrone.models.deviation import Deviation
from isochrone.runfile.origin import one_word, with_noun
from isochrone.views.fitted import COLOURS, WORDS, Drawn, head, name_of, origin_notes, resolve
from isochrone.views.style import CAPTION, FAINT, INK, LABEL, new_figure
from isochrone.views.view import TABLE, Options, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["VIEW", "draw"]

_MAX_GROUPS: Final = 24


def draw(runs: Sequence[Drawn], options: Options) -> Figure:
    """Draw bars for each value of each variable, as figures 2 to 4 of Kühnemann et al. do."""
    model, groups, origin = resolve(runs, options.model, options.ops)
    overall = goodness_of_fit(model, groups)["deviation"]
    found = deviations_by_group(model, groups) or {"": {}}
    figure = new_figure(8.2, 2.6 * len(found) + 0.9)
    for number, (name, values) in enumerate(found.items()):
        _bars(figure.add_subplot(len(found), 1, number + 1), name, values)
    observed = one_word(origin)
    note = (
        f"|predicted - {observed}| / {observed}; overall: "
        f"{100 * overall['minimum']:.2f} % to {100 * overall['maximum']:.2f} %, "
        f"average {100 * overall['average']:.2f} % of {overall['points']} points"
    )
    title = f"Deviation of {name_of(model)} from {with_noun(origin)}"
    head(figure, title, [note, *origin_notes(model, origin)])
    return figure


def _bars(axes: Axes, name: str, values: dict[str, Deviation]) -> None:
    """Draw three bars for each value: least, average, largest."""
    shown = list(values.items())
    if len(shown) > _MAX_GROUPS:  # those that matter
        worst = sorted(shown, key=lambda item: -item[1].maximum)[:_MAX_GROUPS]
        shown = [item for item in shown if item in worst]
    places = range(len(shown))
    for k, (what, colour) in enumerate(
        zip(("minimum", "average", "maximum"), COLOURS, strict=False)
    ):
        heights = [100 * getattr(found, what) for _, found in shown]
        at = [place + 0.28 * (k - 1) for place in places]
        axes.bar(at, heights, width=0.26, color=colour, label=what)
    axes.set_xticks(list(places), [_text(name, value) for value, _ in shown],
                    rotation=45 if len(shown) > 8 else 0,
                    ha="right" if len(shown) > 8 else "center")  # fmt: skip
    axes.set_ylabel("deviation in %", size=LABEL, color=FAINT)
    axes.set_xlabel(WORDS.get(name, name), size=LABEL, color=FAINT)
    axes.tick_params(labelsize=CAPTION, labelcolor=INK, color=FAINT)
    axes.set_facecolor("none")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(fontsize=CAPTION, frameon=False, ncols=3, loc="lower right", bbox_to_anchor=(1, 1))


def _text(name: str, value: str) -> str:
    if name in ("b", "bytes"):
        return format_bytes(int(float(value)))
    return printable(value, 24)


VIEW: Final = View(draw, kinds=("sweep", "hotspot", TABLE), several=True)
