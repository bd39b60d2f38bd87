"""What the pictures of a map say of its slow parts: a line below the title, and frames.

Of units their rows and columns are framed, of pairs their cells.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from isochrone.base.arrays import Ints
from isochrone.base.text import printable
from isochrone.latency_map.slow_part import Slow
from isochrone.views.head import HeadLine
from isochrone.views.style import CAPTION, INK, SLOW, shortened
from isochrone.views.view import Axes

_MAX_FRAME_NAMES = 3

FRAMED = ("red frame:", "dashed frame:")
"""How what is slow and what is possibly slow are marked, in words."""

_OUT = 0.035  # inches of a frame outside the map, where it is not hidden
_MIN_FRAME_INCHES = 0.07  # inches of a frame across; thinner ones would be a line over the cells
_MAX_SPANS = 4
"""Places of a part, as of a node whose ranks are scattered, up to which all its rows are framed; of
more, frames would hide the map, and are at its edge only."""

_LINE = "-"
_DASHES = (0, (4, 2.5))
_CASING = "#ffffff"

Box = tuple[float, float, float, float]


def named(
    components: Sequence[Slow], names: Mapping[str, str], width: float, signs: tuple[str, str]
) -> list[HeadLine]:
    """Name the worst of what is slow, each with its ratio; else what is possibly slow.

    Parameters
    ----------
    components
        The slow components, the worst first.
    names
        Of the hosts, as they stand in the picture.
    width
        Of the line in inches.
    signs
        How the picture marks what is slow and what is possibly slow.
    """
    slow = [component for component in components if component.retested]
    listed = slow or components
    if not listed:
        return []
    labels = [
        f"{name_of(component, names)} {component.ratio:.1f}×"
        for component in listed[:_MAX_FRAME_NAMES]
    ]
    left = len(components) - len(labels)
    begins = f"{signs[0]} slow: " if slow else f"{signs[1]} possibly slow, not yet confirmed: "
    suffix = f" and {left} more" if left else ""
    text = shortened(begins + ", ".join(labels), CAPTION, width, suffix)
    return [HeadLine(text, SLOW if slow else INK)]


def name_of(component: Slow, names: Mapping[str, str]) -> str:
    """Call a slow part by the names that stand in the picture."""
    if component.kind == "rank":
        return component.who.split(" (")[0]
    if component.kind == "node" and component.who in names:
        return f"node {names[component.who]}"
    name = component.who.removeprefix(f"{component.kind} ")
    return f"{component.kind} {printable(name, 40)}"


def draw_frames(
    axes: Axes, components: Sequence[Slow], order: Ints, inch: float, hosts: Sequence[str]
) -> None:
    """Frame the slow parts of a map, red if they were measured again, else dashed.

    Parameters
    ----------
    axes
        With the map, a rank a unit.
    components
        What is slow.
    order
        The ranks from the upper left to the lower right.
    inch
        Number of ranks in an inch.
    hosts
        Of each rank.
    """
    from matplotlib.patches import Rectangle

    position = np.argsort(order)
    for component in reversed(components):  # the worst on top
        ink, style = (SLOW, _LINE) if component.retested else (INK, _DASHES)
        boxes = _boxes(component, position, inch, hosts)
        if len(boxes) > 2 * _MAX_SPANS:  # too small for dashes
            style = _LINE
        for left, foot, right, top in boxes:
            for colour, wide, dashes in ((_CASING, 3.2, _LINE), (ink, 1.6, style)):
                frame = Rectangle(
                    (left, foot),
                    right - left,
                    top - foot,
                    fill=False,
                    edgecolor=colour,
                    linewidth=wide,
                    linestyle=dashes,
                    clip_on=False,
                    zorder=3,
                    joinstyle="miter",
                )
                axes.add_patch(frame)


def _boxes(component: Slow, position: Ints, inch: float, hosts: Sequence[str]) -> list[Box]:
    """Return the frames of one part: left, foot, right, top."""
    if component.of.link:  # of two ranks, or of two nodes with the ranks there
        first, *others = component.ranks
        first_end = {first, *(r for r in others[1:] and others if hosts[r] == hosts[first])}
        first_spans, second_spans = (
            _spans(position[list(end)], inch) for end in (first_end, {*component.ranks} - first_end)
        )
        return [
            (a, c, b, d)
            for x in first_spans
            for y in second_spans
            for (a, b), (c, d) in ((x, y), (y, x))
        ]
    spans = _spans(position[list(component.ranks)], inch)
    if component.of.concerns == "both":
        return [(a, c, b, d) for a, b in spans for c, d in spans]
    left, foot = -0.5, len(position) - 0.5
    across = down = left - _OUT * inch, foot + _OUT * inch
    if len(spans) > _MAX_SPANS:  # where numbers are: at the left, and below
        across, down = (left - 2 * _OUT * inch, left), (foot, foot + 2 * _OUT * inch)
    columns = [(a, down[0], b, down[1]) for a, b in spans]
    return columns + [(across[0], a, across[1], b) for a, b in spans]


def _spans(positions: Ints, inch: float) -> list[tuple[float, float]]:
    """Return where places are that follow each other, at least as wide as can be seen."""
    half_width = _MIN_FRAME_INCHES * inch / 2
    return [
        (min(a - 0.5, (a + b) / 2 - half_width), max(b + 0.5, (a + b) / 2 + half_width))
        for a, b in runs_of(positions)
    ]


def runs_of(positions: Ints) -> list[tuple[int, int]]:
    """Return the first and the last of each run of places that follow each other."""
    ordered = np.sort(positions)
    cuts = np.flatnonzero(np.diff(ordered) > 1) + 1
    return [(int(run[0]), int(run[-1])) for run in np.split(ordered, cuts)]
