"""What the pictures of a map say of its slow parts: one line below the title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from isochrone.base.text import printable
from isochrone.latency_map.slow import Slow
from isochrone.views.head import HeadLine
from isochrone.views.style import CAPTION, INK, SLOW, shortened

__all__ = ["name_of", "named"]

_MAX_NAMED: Final = 3


def named(
    parts: Sequence[Slow], names: Mapping[str, str], width: float, signs: tuple[str, str]
) -> list[HeadLine]:
    """Name the worst of what is slow, each with its ratio; else what is suspected.

    Parameters
    ----------
    parts
        The slow parts, the worst first.
    names
        Of the hosts, as they stand in the picture.
    width
        Of the line in inches.
    signs
        How the picture marks what is slow and what is suspected.
    """
    slow = [part for part in parts if part.retested]
    shown = slow or parts
    if not shown:
        return []
    words = [f"{name_of(part, names)} {part.ratio:.1f}×" for part in shown[:_MAX_NAMED]]
    left = len(parts) - len(words)
    begins = f"{signs[0]} slow: " if slow else f"{signs[1]} suspected, not measured again: "
    more = f" and {left} more" if left else ""
    text = shortened(begins + ", ".join(words), CAPTION, width, more)
    return [HeadLine(text, SLOW if slow else INK)]


def name_of(part: Slow, names: Mapping[str, str]) -> str:
    """Call a slow part by the names that stand in the picture."""
    if part.kind == "rank":
        return f"rank {part.ranks[0]}"
    if part.kind == "node" and part.who in names:
        return f"node {names[part.who]}"
    who = part.who.removeprefix(f"{part.kind} ")
    return f"{part.kind} {printable(who, 40)}"
