"""How times are spread: the part of them below each time, with p50, p95 and p99 marked.

Of a sweep the repetitions of a few sizes, of a map the pairs of each level. A percentile is marked
from so many times on that one of them is beyond it: p95 from 20, p99 from 100. A bar across a mark
is its 95 % interval, where there are times enough.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.latency_map import topology
from isochrone.latency_map.map_to_draw import noted, on_hosts, refuse_bandwidths
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times, times_of
from isochrone.sweep.curves import KIND as SWEEP
from isochrone.sweep.curves import repetitions_of
from isochrone.sweep.figures._sweeps import chosen_scale, chosen_sizes, collect, facts, meaning
from isochrone.sweep.labels import distinguish
from isochrone.views.head import (
    HeadLine,
    head_height,
    head_lines,
    map_facts,
    map_title,
    warned,
    write_head,
)
from isochrone.views.scales import Scale, tick_seconds, value_ticks, with_margin
from isochrone.views.style import (
    CAPTION,
    COLOURS,
    FAINT,
    INK,
    axes_at,
    new_figure,
    plain_axes,
    text_width,
)
from isochrone.views.view import Axes, Figure, Options, View

_MAX_LINES = len(COLOURS)
_MAX_LEVEL_PANELS = 4
_WIDE_TIMES = 8  # largest over smallest time from which an axis is logarithmic
_MAX_LINE_STEPS = 1000  # of one line; more are not seen
_WIDTH, _HEIGHT = 5.6, 3.6  # inches of a panel
_LEFT, _BOTTOM, _RIGHT = 0.75, 0.55, 0.4
_PANEL_COLUMNS = 2
_LEGEND_LINE = 0.17  # inches of a line of the legend
_MAX_LEVEL_NAME = 46  # characters of a name

_MARKS = (("p50", 0.50, "o"), ("p95", 0.95, "s"), ("p99", 0.99, "D"))
"""Percentiles that are marked: name, part of the times below, marker."""


class _Line(Record):
    """Times of one thing, sorted, and their summary; ``sampled`` if there could be more of them."""

    name: str
    seconds: Floats
    times: Times
    sampled: bool

    def mark(self, name: str) -> tuple[float | None, float | None, float | None]:
        """Return a percentile and the ends of its interval, as far as they are known."""
        of = self.times
        keys = ("median", "low", "high") if name == "p50" else (name, f"{name}_low", f"{name}_high")
        value, *ends = (getattr(of, key) for key in keys)
        with_interval = self.sampled and (name != "p50" or of.has_interval)
        return (value, *ends) if with_interval else (value, None, None)


class _Panel(Record):
    """What is drawn on common axes; their ``scale`` is that of the times if it is None."""

    title: str
    lines: list[_Line]
    of: str
    scale: Scale | None = None


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the repetitions of sweeps, or the pairs of one map.

    Raises
    ------
    InputError
        If there is nothing but summaries of repetitions, a size was not measured, or runs of
        several kinds, or several maps, are given.
    """
    if all(run.kind == SWEEP for run in runs):
        return _of_sweeps(runs, options)
    if len(runs) > 1:
        raise InputError(
            f"the view distribution plots sweeps or a single map, not {len(runs)} runs"
        )
    return _of_map(runs[0], options)


# --- what is drawn --------------------------------------------------------------------------------


def _of_sweeps(runs: Sequence[Run], options: Options) -> Figure:
    drawn = collect(runs, options.ops)
    scale = chosen_scale(options.scale, drawn) if options.scale else None
    repetitions = {id(run): repetitions_of(run) for run in runs}
    samples = [repetitions[id(run)][str(curve.key), curve.p] for run, curve in drawn]
    if not any(samples):
        raise InputError(
            "the run has no single repetitions, only summaries",
            hint="measure again with isochrone measure",
        )
    labels = distinguish(drawn)
    # of sizes that all curves have; times of different sizes are too far apart for common axes
    wanted = chosen_sizes(samples, options.sizes)
    if len(set(options.sizes)) > _MAX_LEVEL_PANELS:
        raise InputError(f"the view distribution plots at most {_MAX_LEVEL_PANELS} message sizes")
    if not options.sizes:
        wanted = sorted({wanted[0], wanted[-1]})
    panels = []
    for size in wanted:
        members = [
            _Line(name, np.sort(sizes[size]), times_of(sizes[size]), sampled=True)
            for name, sizes in zip(labels.each, samples, strict=True)
            if size in sizes
        ]
        title = format_bytes(size) if len(wanted) > 1 else ""
        panels.append(_Panel(title, members, "repetitions", scale))
    size_note = [f"{format_bytes(wanted[0])} messages"] if len(wanted) == 1 else []
    notes = facts(runs, labels, *size_note, meaning(runs))
    across = _width(len(panels)) - _LEFT - 0.1
    head = [*head_lines(notes, across), *warned(runs, across)]
    return _laid_out("Distribution of the repetitions", panels, head)


def _of_map(run: Run, options: Options) -> Figure:
    """Draw a line for each level: the chosen statistic of its pairs."""
    statistic, nbytes = options.what, options.size
    refuse_bandwidths(run)
    title = map_title(run, statistic, "Distribution of the ")
    i, j, times = run.cells(statistic, nbytes)
    analysis = options.analysis or topology.analyse(run, nbytes)
    selected = on_hosts(run, options)
    level = analysis.level_of(i, j)
    lines = []
    for map_level in analysis.levels:
        seconds = times[selected[i] & selected[j] & (level == map_level.level) & np.isfinite(times)]
        if len(seconds):
            name = f"level {map_level.level} {map_level.name}"
            lines.append(_Line(name, np.sort(seconds), times_of(seconds), sampled=False))
    head = map_facts(run, statistic, nbytes, noted(options), _width(1) - _LEFT - 0.1)
    return _laid_out(title, [_Panel("", lines, "pairs")], head)


# --- how it is drawn ------------------------------------------------------------------------------


def _width(panels: int) -> float:
    across = min(panels, _PANEL_COLUMNS)
    return across * (_LEFT + _WIDTH) + (across - 1) * 0.3 + _RIGHT


def _laid_out(title: str, panels: Sequence[_Panel], head: Sequence[HeadLine]) -> Figure:
    """Put the panels side by side, below each what its lines are."""
    max_lines = max(min(len(panel.lines), _MAX_LINES) for panel in panels)
    truncated = any(len(panel.lines) > _MAX_LINES for panel in panels)
    below = _BOTTOM + _LEGEND_LINE * (max_lines + 1 + truncated) + 0.1
    above = 0.34 if any(panel.title for panel in panels) else 0.14
    width, tall = _width(len(panels)), above + _HEIGHT + below
    height = head_height(len(head)) + -(-len(panels) // _PANEL_COLUMNS) * tall
    figure = new_figure(width, height)
    write_head(figure, _LEFT / width, title, head)
    for index, panel in enumerate(panels):
        row, column = divmod(index, _PANEL_COLUMNS)
        left = _LEFT + column * (_LEFT + _WIDTH + 0.3)
        foot = height - head_height(len(head)) - (row + 1) * tall + below
        axes = axes_at(figure, left, foot, _WIDTH, _HEIGHT)
        _draw_panel(axes, panel)
        _legend(axes, panel)
    return figure


def _draw_panel(axes: Axes, panel: _Panel) -> None:
    lines = panel.lines[:_MAX_LINES]
    lowest = min(float(line.seconds[0]) for line in lines)
    highest = max(float(line.seconds[-1]) for line in lines)
    scale = panel.scale or ("log" if _WIDE_TIMES * lowest < highest else "linear")
    scale = scale if lowest > 0 else "linear"
    axes.set_xscale(scale)
    ends = with_margin(lowest, highest, scale)
    axes.set(xlim=ends if ends[1] > ends[0] else (0, 1), ylim=(0, 1.03))
    ticks = value_ticks(max(ends[0], 0.0), ends[1] or 1.0, scale, tick_seconds)
    step = -(-len(ticks.places) // 8)
    axes.set_xticks(ticks.places[::step], ticks.texts[::step])
    axes.minorticks_off()
    marks = {fraction: name for name, fraction, _ in _MARKS}
    fractions = [0, 0.25, 0.5, 0.75, 0.95, 0.99]
    axes.set_yticks(
        fractions,
        [marks.get(fraction, f"{fraction:.0%}".replace("%", " %")) for fraction in fractions],
    )
    plain_axes(axes, "time at most", f"part of the {panel.of}", title=panel.title)
    for fraction in marks:
        axes.axhline(fraction, color=FAINT, alpha=0.35, linewidth=0.6, zorder=0.5)
    for line, colour in zip(lines, COLOURS, strict=False):
        _draw_line(axes, line, colour)


def _draw_line(axes: Axes, line: _Line, colour: str) -> None:
    """Draw the steps of one line, and its marks with their intervals."""
    n = len(line.seconds)
    at = np.unique(np.linspace(0, n - 1, min(n, _MAX_LINE_STEPS)).round().astype(int))
    x = np.concatenate([line.seconds[:1], line.seconds[at]])
    y = np.concatenate([[0.0], (at + 1) / n])
    axes.plot(x, y, drawstyle="steps-post", color=colour, linewidth=1.4)
    for name, fraction, marker in _MARKS:
        value, low, high = line.mark(name)
        if value is None:
            continue
        if low is not None and high is not None:
            axes.plot(
                [low, high],
                [fraction, fraction],
                color=colour,
                linewidth=2.6,
                alpha=0.45,
                solid_capstyle="butt",
                zorder=2.5,
            )
        axes.plot(
            [value],
            [fraction],
            marker,
            color=colour,
            markersize=5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            zorder=3,
        )


def _legend(axes: Axes, panel: _Panel) -> None:
    """Write below a panel what its lines are, and their marks in numbers."""
    columns = [_WIDTH - 0.75 * (len(_MARKS) - k) for k in range(len(_MARKS))]
    y = -(_BOTTOM + 0.02) / _HEIGHT
    write = partial(
        axes.text, transform=axes.transAxes, va="center_baseline", size=CAPTION, parse_math=False
    )
    for at, (name, _, marker) in zip(columns, _MARKS, strict=True):
        axes.plot(
            [(at + 0.3) / _WIDTH],
            [y],
            marker,
            color=FAINT,
            markersize=4,
            clip_on=False,
            transform=axes.transAxes,
        )
        write((at + 0.7) / _WIDTH, y, name, ha="right", color=FAINT)
    for k, (line, colour) in enumerate(zip(panel.lines, COLOURS, strict=False)):
        y = -(_BOTTOM + 0.02 + _LEGEND_LINE * (k + 1)) / _HEIGHT
        axes.plot(
            [0, 0.22 / _WIDTH],
            [y, y],
            color=colour,
            linewidth=2,
            clip_on=False,
            transform=axes.transAxes,
        )
        called = _called(line, panel.of, columns[0] - 0.3)
        write(0.3 / _WIDTH, y, called, color=INK)
        for at, (name, _, _) in zip(columns, _MARKS, strict=True):
            value = line.mark(name)[0]
            text = "–" if value is None else format_seconds(value)
            write((at + 0.7) / _WIDTH, y, text, ha="right", color=INK)
    left = len(panel.lines) - _MAX_LINES
    if left > 0:
        y = -(_BOTTOM + 0.02 + _LEGEND_LINE * (_MAX_LINES + 1)) / _HEIGHT
        write(0.3 / _WIDTH, y, f"and {left} more, not drawn", color=FAINT)


def _called(line: _Line, of: str, room: float) -> str:
    """Name a line, with the number of its times, in so many inches."""
    count = f"{len(line.seconds):,} {of if len(line.seconds) > 1 else of[:-1]}"
    name = printable(line.name, _MAX_LEVEL_NAME)
    text = f"{name}, {count}" if name else count
    while name and text_width(text, CAPTION) > 1.05 * room:
        name = name[:-2].rstrip() + "…" if len(name) > 2 else ""
        text = f"{name}, {count}" if name else count
    return text


VIEW = View(draw, kinds=("sweep", "latency-map"), several=True)
