"""The pictures of a report: SVG that takes part in the page, in its colours and its fonts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree

from isochrone import views
from isochrone.results.latency_map.topology import Topology
from isochrone.runfile.run import Run
from isochrone.views.style import FAINT, INK, QUANTITIES, SLOW

__all__ = ["Picture", "inline", "pictures", "sweep_picture"]

ORDER: Final = {
    "heatmap": (
        "Every pair of ranks",
        "Each cell is a pair; read a rank along its row or its column. Blocks of one colour along "
        "the diagonal are nodes, a bright cross is a slow rank or node.",
    ),
    "surface": (
        "The same as a surface",
        "Low is fast, high is slow. Valleys along the diagonal are nodes, walls are slow parts.",
    ),
    "levels": (
        "The hierarchy",
        "Two ranks meet at the height of their round trip: low on a node, higher across the "
        "network. Dashed lines are the levels that were found.",
    ),
}
"""The views of a report, each with its title and how it is read."""

SWEEP_VIEWS: Final = {
    "time": (
        "Time by message size",
        "A flat part is the cost of a message, a slope the cost of its bytes. Bars are the 95 % "
        "intervals of the medians; where it is shaded, the protocol changes.",
    ),
    "bandwidth": (
        "Bandwidth by message size",
        "How many bytes a second, on the way to the most the machine can do.",
    ),
    "ranks": (
        "Time by number of ranks",
        "How the time grows with the number of ranks, at a few message sizes.",
    ),
}
"""The views of sweeps, each with its title and how it is read."""

_THEMED: Final = {INK: "var(--ink)", FAINT: "var(--faint)", SLOW: "var(--slow)"}
_FONT: Final = re.compile(r"font-family:[^;]*")
_REFERENCE: Final = re.compile(r"url\(#([^)]*)\)")


@dataclass(frozen=True)
class Picture:
    """One figure of the report.

    Attributes
    ----------
    name
        The view, as the user types it.
    title, caption
        What it shows and how it is read.
    svg
        Markup that can stand in an HTML page.
    """

    name: str
    title: str
    caption: str
    svg: str


def pictures(run: Run, what: str, nbytes: int, found: Topology, prefix: str) -> Iterator[Picture]:
    """Draw the views of a latency map; ``prefix`` keeps their ids apart from others'."""
    for name, (title, caption) in ORDER.items():
        figure = views.draw(name, [run], views.Options(what, (nbytes,), analysis=found))
        words = f"{title}: {QUANTITIES[what].lower()} between {run.size} ranks, view {name}."
        yield Picture(name, title, caption, inline(views.to_svg(figure), f"{prefix}-{name}", words))


def sweep_picture(runs: Sequence[Run], name: str, prefix: str) -> Picture:
    """Draw one view of one or several sweeps."""
    title, caption = SWEEP_VIEWS[name]
    figure = views.draw(name, runs)
    of = f"{len(runs)} runs" if len(runs) > 1 else f"{runs[0].size} ranks"
    words = f"{title}: {runs[0].experiment.replace('-', ' ')}, {of}, view {name}."
    return Picture(name, title, caption, inline(views.to_svg(figure), f"{prefix}-{name}", words))


def inline(svg: str, prefix: str, description: str) -> str:
    """Make a standalone SVG part of a page.

    Without what only a file needs (size, metadata, namespaces), without its style sheet, which
    would apply to the whole page, with the colours of the page's theme, and with its own ids.
    """
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key in [key for key in element.attrib if key.startswith("{")]:
            element.set(key.rpartition("}")[2], element.attrib.pop(key))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in ("metadata", "style"):
                parent.remove(child)
    _rename(root, prefix)
    for element in root.iter():
        style = element.get("style", "")
        for ink, name in _THEMED.items():
            style = style.replace(ink, name)
        if style:
            element.set("style", _FONT.sub("font-family: inherit", style))
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.attrib.update({"role": "img", "aria-label": description, "stroke-linejoin": "round"})
    return ElementTree.tostring(root, encoding="unicode")


def _rename(root: ElementTree.Element, prefix: str) -> None:
    """Put a prefix before the ids that something refers to, and drop all others."""
    used: set[str] = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "href" and value.startswith("#"):
                used.add(value[1:])
                element.set(key, f"#{prefix}-{value[1:]}")
            elif key in ("clip-path", "style"):
                used.update(_REFERENCE.findall(value))
                element.set(key, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{prefix}-{name}")
