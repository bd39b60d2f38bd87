"""Times of two measurements and their ratios with intervals, by operation and size."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.inference import contrast, without_chance
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.base.verdicts import FASTER, SLOWER
from isochrone.changes.compare import Comparison, compare
from isochrone.changes.components import Group, Part, contrasts
from isochrone.runfile.run import Run
from isochrone.views.head import HeadLine, write_head
from isochrone.views.style import (
    CAPTION,
    COLOURS,
    FAINT,
    INK,
    PALE,
    SLOW,
    Rates,
    axes_at,
    new_figure,
    plain_axes,
    plain_legend,
    time_ticks,
    time_unit,
)
from isochrone.views.view import Axes, Figure, Options, View

A, B = COLOURS[:2]
MAX_RATIO_PANELS = 12
MAX_RATIO_TICKS = 24
_CHANGES_WIDTH = 9.0
_AXES = 1.35
_ABOVE, _BELOW, _ASLANT = 0.35, 0.3, 0.75
"""Inches: the height of axes, and what is above and below them, with names aslant."""

_MARGINS = 0.75, 0.5
"""Inches left of the axes, and between those of times and those of ratios."""

_MIN_LOG_RATIO = 2.5
"""Ratio from which on an axis is logarithmic."""

_MAX_UPRIGHT_CHARACTERS = 8
_MAX_UPRIGHT_TICKS = 10
"""Names of more ticks, or of more characters, are written aslant."""

_COLOURS = {SLOWER: SLOW, FASTER: COLOURS[2]}


class _Panel(NamedTuple):
    """Times that belong together: the sizes of an operation, or the components of a map.

    ``before`` and ``after`` have the shape (launches, ticks), in seconds; ``typical`` (2, ticks) is
    what launches of both sides typically take; ``ratio``, ``low`` and ``high`` have the shape
    (ticks,). ``verdicts`` are empty where there is none of a whole level. ``moved`` bytes
    over the seconds are the bandwidth, in a map of bandwidths.
    """

    title: str
    ticks: list[str]
    before: Floats
    after: Floats
    typical: Floats
    ratio: Floats
    low: Floats
    high: Floats
    verdicts: list[str]
    moved: float | None

    @property
    def aslant(self) -> bool:
        """Whether the names of the ticks need room."""
        return (
            len(self.ticks) > _MAX_UPRIGHT_CHARACTERS
            or max(map(len, self.ticks)) > _MAX_UPRIGHT_TICKS
        )


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the times of A and B, and the ratios B / A; the dots are single launches.

    Raises
    ------
    InputError
        If these are not two runs, and no comparison is given; or they are not comparable.
    """
    found: Comparison | None = options.comparison
    if found is None:
        if len(runs) != 2:
            raise InputError(
                f"the view ratio plots two runs, not {len(runs)}",
                hint="of several launches: isochrone compare A B -o ab.html",
            )
        found = compare(runs[:1], runs[1:], as_they_are=True)
    panels = _panels(found)
    left_out = max(0, len(panels) - MAX_RATIO_PANELS)
    panels = panels[:MAX_RATIO_PANELS]
    below = _ASLANT if any(panel.aslant for panel in panels) else _BELOW
    height = _ABOVE + _AXES + below
    figure = new_figure(_CHANGES_WIDTH, 0.55 + height * len(panels))
    note = f" · {left_out} panels left out" if left_out else ""
    legend = f"dots: single launches · bars: 95 % intervals of B / A · band: margin{note}"
    write_head(figure, _MARGINS[0] / _CHANGES_WIDTH, "A and B compared", [HeadLine(legend)])
    wide = (_CHANGES_WIDTH - 2 * _MARGINS[0] - _MARGINS[1]) / 2
    ratio_name = "ratio B / A" + " of times" * (found.moved([0]) is not None)
    for number, panel in enumerate(panels):
        bottom = below + (len(panels) - 1 - number) * height
        for k, (fill, beside) in enumerate(((_times, ""), (_ratios, ratio_name))):
            left = _MARGINS[0] + k * (wide + _MARGINS[0])
            axes = axes_at(figure, left, bottom, wide, _AXES)
            beside = fill(axes, panel, found.margin) or beside
            plain_axes(axes, "", beside, size=CAPTION, title="" if k else panel.title, grid="y")
            _name_ticks(axes, panel)
            if number == k == 0:
                plain_legend(axes, loc="upper left", ncols=2)
    return figure


def _panels(found: Comparison) -> list[_Panel]:
    """Return the levels and the changed components of a map, or the curves of anything else."""
    changes = found.changes
    if found.kind == "pair":
        parts: list[Group | Part] = [*changes.levels]
        parts += [part for part in found.parts if part.kind not in ("all", "level")]
        names = [
            f"{one.who}, {format_bytes(one.nbytes)}" if one.nbytes is not None else one.who
            for one in parts
        ]
        points = [np.asarray(one.points) for one in parts]
        if not points:
            names, points = ["all pairs"], [np.arange(len(changes))]
        verdicts = [one.difference.verdict if isinstance(one, Part) else "" for one in parts]
        return [_panel(found, "levels, and what changed", names, points, verdicts or [""])]
    keys = [changes.key(k) for k in range(len(changes))]
    curves = grouped(
        (tuple((name, value) for name, value in key.items() if name != "bytes"), k)
        for k, key in enumerate(keys)
    )
    panels = []
    for shared, rows in curves.items():
        sizes = [keys[k].get("bytes") for k in rows]
        names = [format_bytes(size) if isinstance(size, int) else "" for size in sizes]
        title = ", ".join(f"{name} {value}" for name, value in shared if value is not None)
        points = [np.array([k]) for k in rows]
        verdicts = [changes.differences.verdicts[k] for k in rows]
        panels.append(_panel(found, title or found.experiment, names, points, verdicts))
    return panels


def _panel(
    found: Comparison, title: str, names: list[str], points: list[Ints], verdicts: list[str]
) -> _Panel:
    """Return the ticks of a panel; of very many, as many that are spread evenly."""
    if len(points) > MAX_RATIO_TICKS:
        chosen = np.unique(
            np.linspace(0, len(points) - 1, MAX_RATIO_TICKS).round().astype(int)
        ).tolist()
        names, points = [names[k] for k in chosen], [points[k] for k in chosen]
        verdicts = [verdicts[k] for k in chosen]
        title += f" ({len(chosen)} of them)"
    left, right = np.split(found.changes.logs, [found.launches[0]])
    test = contrast if found.unit == "launch" else without_chance
    one = contrasts(left, right, points, test)
    sides = [
        np.exp(np.column_stack([np.nanmedian(side[:, rows], axis=1) for rows in points]))
        for side in (left, right)
    ]
    ratio, low, high = (np.exp(np.clip(v, -50, 50)) for v in (one.change, one.low, one.high))
    ticks = [printable(name, 30) for name in names]
    moved = found.moved(np.concatenate(points).tolist())
    before, after = sides
    absolute = test(np.log(before), np.log(after))
    typical = np.exp(np.stack([absolute.before, absolute.after]))
    return _Panel(
        printable(title, 90), ticks, before, after, typical, ratio, low, high, verdicts, moved
    )


def _times(axes: Axes, panel: _Panel, _margin: float) -> str:
    """Draw what launches of each side typically take; return what the axis shows."""
    both = np.concatenate([panel.before.ravel(), panel.after.ravel()])
    unit = time_unit(both)
    rates = None if panel.moved is None else Rates.of(panel.moved, both)
    where = np.arange(len(panel.ticks))
    sides = ((panel.before, A, "A", -0.1), (panel.after, B, "B", 0.1))
    for (seconds, colour, name, shift), middle in zip(sides, panel.typical, strict=True):
        values, typical = (
            rates.moved / of / rates.factor if rates else of / unit.factor
            for of in (seconds, middle)
        )
        axes.plot(where, typical, "-o", color=colour, lw=1.4, ms=3.5, label=name, zorder=3)
        at = np.broadcast_to(where + shift, values.shape)
        axes.plot(at.ravel(), values.ravel(), ".", color=colour, ms=3, alpha=0.55, zorder=2)
    _scale(axes)
    return f"median bandwidth in {rates.name}" if rates else f"median time in {unit.name}"


def _ratios(axes: Axes, panel: _Panel, margin: float) -> str:
    """Draw the ratios; what is slower is red, and the margin a band."""
    where = np.arange(len(panel.ticks))
    if margin:
        axes.axhspan(1 / (1 + margin), 1 + margin, color=FAINT, alpha=0.12, lw=0)
    axes.axhline(1.0, color=FAINT, lw=0.8)
    dots = panel.after / panel.typical[0]
    at = np.broadcast_to(where + 0.15, dots.shape)
    axes.plot(at.ravel(), dots.ravel(), ".", color=PALE, ms=3, zorder=2)
    rows = zip(where, panel.ratio, panel.low, panel.high, panel.verdicts, strict=True)
    for k, ratio, low, high, verdict in rows:
        colour = _COLOURS.get(verdict, INK)
        axes.plot([k], [ratio], "o", color=colour, ms=4, zorder=4)
        if np.isfinite(low) and np.isfinite(high):
            axes.plot([k, k], [low, high], "-", color=colour, lw=1.6, zorder=3)
    _scale(axes)
    return ""


def _scale(axes: Axes) -> None:
    """Choose a logarithmic axis for values that differ much."""
    low, high = axes.get_ylim()
    lines = np.concatenate([np.ravel(line.get_ydata()) for line in axes.get_lines()])
    least = float(np.nanmin(lines))
    wide = least > 0 and float(np.nanmax(lines)) > _MIN_LOG_RATIO * least
    if wide:
        axes.set_yscale("log")
        time_ticks(axes.yaxis, 0, wide=True)
    else:
        axes.set_ylim(low, high)


def _name_ticks(axes: Axes, panel: _Panel) -> None:
    axes.set_xlim(-0.6, len(panel.ticks) - 0.4)
    axes.set_xticks(
        range(len(panel.ticks)),
        panel.ticks,
        fontsize=CAPTION,
        parse_math=False,
        rotation=40 if panel.aslant else 0,
        ha="right" if panel.aslant else "center",
        rotation_mode="anchor",
    )


VIEW = View(draw, kinds=("latency-map", "sweep", "hotspot", "tile-io"), several=True)
