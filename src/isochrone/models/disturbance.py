"""Concurrent groups against one alone: by what factor they slow each other down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

__all__ = ["TOGETHER", "Disturbance", "factor_of", "together_of"]

TOGETHER: Final = "total"
"""Instead of a phase: both phases in one operation, against their sum."""


class Disturbance(msgspec.Struct, frozen=True):
    """A phase of a grid collective, measured in one group alone and in all groups at once.

    Attributes
    ----------
    op
        The whole operation.
    phase
        ``LG`` or ``CG``; ``total``: the whole operation against the sum of its phases, which may
        overlap or hinder each other.
    phase_op, phase_ranks, phase_bytes
        Operation of a group, its ranks, and the block of one rank.
    groups
        How many worked at once; of ``total`` the rows.
    sharing
        Most groups with a member on the same node; 0 where that is not known, and of ``total``.
    factor, low, high
        All at once / one alone, with its 95 % interval; None where that is not known.
    """

    op: str
    phase: str
    phase_op: str
    phase_ranks: int
    phase_bytes: int
    groups: int
    sharing: int
    factor: float
    low: float | None = None
    high: float | None = None


def together_of(
    known: Sequence[Disturbance], op: str, rows: int, length: int, size: int
) -> tuple[float, float, float] | None:  # fmt: skip
    """Return what a whole operation takes against the sum of its phases; None if not measured.

    Of this very grid only: how phases overlap says nothing of other grids.
    """
    own = [one for one in known if (one.phase_ranks, one.groups) == (length, rows)]
    return factor_of(own, TOGETHER, op, length, rows, size, 0)


def factor_of(
    known: Sequence[Disturbance], phase: str, op: str, ranks: int, groups: int, size: int,
    sharing: int,
) -> tuple[float, float, float] | None:  # fmt: skip
    """Return the factor of a phase with its interval; None if nothing like it was measured.

    That is the factor of the same kind of group, the same operation and the same ``sharing``, of
    the nearest number of ranks and of groups, and on the line between the nearest sizes, all in
    logarithms.
    """
    alike = [
        one for one in known
        if (one.phase, one.phase_op, one.sharing) == (phase, op, sharing) and one.factor > 0
    ]  # fmt: skip
    if not alike:
        return None

    def apart(shape: tuple[int, int]) -> tuple[float, tuple[int, int]]:
        return abs(math.log(shape[0] / ranks)) + abs(math.log(shape[1] / groups)), shape

    nearest = min({(one.phase_ranks, one.groups) for one in alike}, key=apart)
    points: dict[float, list[Disturbance]] = {}
    for one in alike:
        if (one.phase_ranks, one.groups) == nearest:
            points.setdefault(math.log2(max(one.phase_bytes, 1)), []).append(one)
    at = sorted(points)
    x = math.log2(max(size, 1))
    rows = [np.mean([_ends(one) for one in points[place]], axis=0) for place in at]
    found = [float(np.interp(x, at, [row[k] for row in rows])) for k in range(3)]
    return found[0], found[1], found[2]


def _ends(one: Disturbance) -> tuple[float, float, float]:
    low = one.factor if one.low is None else one.low
    high = one.factor if one.high is None else one.high
    return one.factor, low, high
