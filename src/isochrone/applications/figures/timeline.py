"""One iteration of each application, rank by rank: computation, and communication by phase."""

from collections.abc import Sequence
from dataclasses import dataclass

from isochrone.applications.emulation.recorded import App, Event, applications, launched
from isochrone.applications.figures._emulations import (
    COMMUNICATION,
    COMPUTATION,
    head,
    short,
    the_run,
    time_axis,
    with_rows,
)
from isochrone.applications.results.records import records
from isochrone.base.errors import InputError
from isochrone.base.table import grouped
from isochrone.runfile.run import Run
from isochrone.views.style import CAPTION, FAINT, INK, LABEL, axes_at, nice_ranks, text_width
from isochrone.views.view import Axes, Figure, Options, View

_COMPUTE = "compute"
_WAITING = ("recv", "wait", "irecv")
"""What a rank may do in a phase that is drawn lighter."""

_BOTH = {"serve", "farm", "work"}
"""What a rank may do that is both computation and communication."""

_LIGHT = 0.5
_PANEL_WIDTH = 4.3  # inches of a panel where there are two columns of them
_SINGLE_PANEL_WIDTH = 7.6  # and where there is one
_LEFT, _GAP = 0.62, 0.55
_ABOVE, _BELOW = 0.5, 0.36  # inches above and below a panel: names of phases, and of times
_RANK_INCHES = 0.17  # inches of a rank, as long as there are few
_TALLEST = 3.6
_MAX_DRAWN_RANKS = 512
_MAX_COMMON_SCALE = 3.0  # times as long, up to which both columns have one scale


@dataclass(frozen=True)
class Panel:
    """One iteration of one application."""

    app: App
    events: list[Event]

    @property
    def begin(self) -> float:
        """When its first rank began, in seconds of the launch."""
        return min(event.begin for event in self.events)

    @property
    def seconds(self) -> float:
        """How long it took until the last rank was done."""
        return max(event.end for event in self.events) - self.begin


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw a row for each application: alone, and with all others if that was recorded.

    Raises
    ------
    InputError
        If no iteration was recorded event by event.
    """
    run = the_run(runs)
    rows = _rows(run)
    if not rows:
        raise InputError("the run contains no timeline of an iteration", where=run.where)
    columns = [beside for beside in (False, True) if any(beside in row for row in rows)]
    wide = _PANEL_WIDTH if len(columns) > 1 else _SINGLE_PANEL_WIDTH
    apps = [next(iter(row.values())).app for row in rows]
    heights = [min(_TALLEST, max(0.34, _RANK_INCHES * _shown(app))) for app in apps]
    width = _LEFT + wide * len(columns) + _GAP * (len(columns) - 1) + 0.25
    figure, bottoms = with_rows(width, heights, _ABOVE, _BELOW)
    for row, high, bottom in zip(rows, heights, bottoms, strict=True):
        lengths = [panel.seconds for panel in row.values()]
        shared = max(lengths) <= _MAX_COMMON_SCALE * min(lengths)
        for beside, panel in row.items():
            x = _LEFT + columns.index(beside) * (wide + _GAP)
            axes = axes_at(figure, x, bottom, wide, high)
            _panel(axes, panel, max(lengths) if shared else panel.seconds, wide)
            first = beside == next(iter(row))
            axes.set_ylabel("rank" if first else "", size=CAPTION, color=FAINT, labelpad=2)
            title = ("with all others" if beside else "alone") if len(columns) > 1 else ""
            title += "" if shared else ", on a scale of its own"
            axes.set_title(title, size=LABEL, color=FAINT, loc="right", pad=5)
            if first:
                _legend(axes, panel, wide, high)
    notes = ["light: receiving or waiting", "dotted: the last rank is done"]
    whats = {event.what for row in rows for panel in row.values() for event in panel.events}
    notes += ["serving and farming: computation is in it"] if whats & _BOTH else []
    most_ranks = max(len(app.ranks) for app in apps)
    notes += [f"the first {_MAX_DRAWN_RANKS} ranks"] if most_ranks > _MAX_DRAWN_RANKS else []
    head(figure, 0.2, "One iteration, rank by rank", run, notes)
    return figure


def _rows(run: Run) -> list[dict[bool, Panel]]:
    """Return for each application its iteration alone, and with others, by whether it is that."""
    beside_others = {(launch.launch, launch.app) for launch in launched(run) if launch.beside}
    events = grouped(
        ((event.app, (event.launch, event.app) in beside_others), event)
        for event in records(run, "event", Event)
        if event.end >= event.begin
    )
    rows = []
    for app in applications(run):
        row = {}
        for beside in (False, True):
            app_events = events.get((app.number, beside), [])
            first = min((event.launch for event in app_events), default=0)
            app_events = [
                event
                for event in app_events
                if event.launch == first and event.rank < _MAX_DRAWN_RANKS
            ]
            if app_events:
                row[beside] = Panel(app, app_events)
        rows += [row] if row else []
    return rows


def _shown(app: App) -> int:
    return min(len(app.ranks), _MAX_DRAWN_RANKS)


def _panel(axes: Axes, panel: Panel, longest: float, wide: float) -> None:
    """Draw the bars of one iteration, and its axes."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    begin = panel.begin
    corners, colours = [], []
    order = sorted(panel.events, key=lambda event: event.end - event.begin, reverse=True)
    for event in order:  # what is within another one is drawn above it
        left, right = event.begin - begin, event.end - begin
        low, high = event.rank - 0.42, event.rank + 0.42
        corners.append([(left, low), (right, low), (right, high), (left, high)])
        waits = event.what in _WAITING
        # computation has one colour, each phase that communicates its own
        colour = COMMUNICATION[event.phase % len(COMMUNICATION)]
        colour = COMPUTATION if event.what == _COMPUTE else colour
        colours.append(to_rgba(colour, _LIGHT if waits else 1.0))
    axes.add_collection(PolyCollection(corners, facecolors=colours, linewidths=0))
    ranks = _shown(panel.app)
    axes.set_xlim(0, 1.02 * longest)
    axes.set_ylim(ranks - 0.5, -0.5)
    time_axis(axes, longest, wide, "both")
    axes.set_yticks(nice_ranks(ranks))
    axes.axvline(panel.seconds, color=INK, linewidth=0.8, linestyle=(0, (2, 2)))


def _legend(axes: Axes, panel: Panel, wide: float, high: float) -> None:
    """Name the application and, in their colours, what its ranks do."""
    axes.annotate(
        short(panel.app.name),
        (0, 1),
        xytext=(0, 18),
        xycoords="axes fraction",
        textcoords="offset points",
        color=INK,
        size=LABEL + 1,
        weight="bold",
        parse_math=False,
    )
    names = panel.app.phases
    phases = sorted({event.phase for event in panel.events if event.what != _COMPUTE})
    seen = [("computation", COMPUTATION)] * any(e.what == _COMPUTE for e in panel.events)
    seen += [
        (short(names[k] if k < len(names) else str(k), 18), COMMUNICATION[k % len(COMMUNICATION)])
        for k in phases
    ]
    x = 0.0
    for text, colour in seen:
        width = 0.24 + 0.9 * text_width(text, CAPTION)
        if x + width > wide - 0.55:
            text, colour, width = "…", "none", 0.0
        axes.plot(
            [(x + 0.05) / wide],
            [1 + 0.105 / high],
            marker="s",
            markersize=5,
            color=colour,
            transform=axes.transAxes,
            clip_on=False,
        )
        axes.annotate(
            text,
            ((x + 0.13) / wide, 1),
            xytext=(0, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            size=CAPTION,
            color=INK,
            parse_math=False,
        )
        x += width
        if not width:
            break


VIEW = View(draw, kinds=("emulation",))
