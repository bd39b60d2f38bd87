"""A figure as a part of the page: SVG in the page's colours and fonts, with ids of its own."""

import re
from xml.etree import ElementTree

from isochrone import views
from isochrone.base.text import printable
from isochrone.pages.page import Picture
from isochrone.views.style import FAINT, INK, SLOW

_THEMED = {INK: "var(--ink)", FAINT: "var(--faint)", SLOW: "var(--slow)"}
_FONT = re.compile(r"font-family:[^;]*")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")


def drawn(picture: Picture, prefix: str) -> str:
    """Draw a picture; ``prefix`` keeps its ids apart from those of other pictures.

    Raises
    ------
    InputError
        If matplotlib is not installed, or its runs cannot be drawn so.
    """
    figure = views.draw(picture.view, picture.runs, picture.options)
    description = printable(f"{picture.alt or picture.title}, view {picture.view}.")
    return inline(views.to_svg(figure), prefix, description)


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
        for child in [child for child in parent if child.tag in ("metadata", "style")]:
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
    used = set()
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
