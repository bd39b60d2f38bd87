"""What may explain a change: settings, library, memory, machine, if all ranks have it in common."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final

from isochrone.changes.parts import Part
from isochrone.changes.verdict import Difference

__all__ = ["of_all_ranks"]

_COMMON: Final = ("all", "curve", "level", "point")
"""Kinds of parts that are not of some nodes or ranks: how a library is set, or which it is, changes
these. A single node that became slow has a reason of its own."""

STARTS_DIFFER: Final = 1.3
"""Ratio up to which single starts of one command were seen to differ."""


def of_all_ranks(
    parts: Sequence[Part], whole: Difference | None, ratios: Sequence[float], *, one_start: bool
) -> bool:
    """Tell whether something changed that all ranks have in common.

    Parameters
    ----------
    parts
        What changed.
    whole
        All points as one; None if there is only one.
    ratios
        Of each point.
    one_start
        Whether a side has one start, so that there is no verdict: then a change counts that is
        larger than starts differ.
    """
    if one_start:
        ratio = whole.ratio if whole is not None else max(ratios, default=1.0)
        return ratio > 0 and abs(log(ratio)) > log(STARTS_DIFFER)
    found = {part.kind for part in parts}
    if whole is not None and whole.verdict in ("slower", "faster"):
        found.add("all")
    return not found.isdisjoint(_COMMON)
