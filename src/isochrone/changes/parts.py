"""Which parts changed, the largest that explains it first: all, a level, a node, a single pair.

A part changed if its points did so alike. Of each launch the median over its points is one number,
so that a part is told from chance far better than each of its points. What a part explains is not
said again of smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.changes.verdict import Contrast, Difference

__all__ = ["Group", "Part", "changed_parts", "overall"]

Array = NDArray[np.float64]
Compare = Callable[[Array, Array], Contrast]

ALIKE: Final = {"node": 0.75, "rank": 0.75}
"""Least part of the points that changed as the part did. The pairs of a node have another end, and
a quarter of them may have changed for a reason of its own."""

ALIKE_ELSE: Final = 0.9

FAR: Final = 3.0
"""Standard errors by which a point that did not change alike differs from its part."""


@dataclass(frozen=True)
class Group:
    """Points that may have changed together.

    Attributes
    ----------
    kind
        ``all``, ``curve``, ``level``, ``switch``, ``node``, ``rank`` or, of nodes, ``pair``.
    who
        For a person. Host names come from elsewhere: escape them.
    points
        Their numbers.
    nbytes
        Message size, if the group is of one of several.
    """

    kind: str
    who: str
    points: NDArray[np.int64]
    nbytes: int | None = None


@dataclass(frozen=True)
class Part:
    """A part that changed, or a single point.

    Attributes
    ----------
    kind, who, nbytes
        As of `Group`; a single point is of the kind ``pair`` or ``point``.
    before, after
        Typical times of its points in seconds: geometric means of their medians.
    added
        Seconds that it adds to a point, in the middle; below 0 if it is faster.
    difference
        How it changed.
    points
        Numbers of the points it explains.
    of
        How many it has.
    """

    kind: str
    who: str
    nbytes: int | None
    before: float
    after: float
    added: float
    difference: Inline[Difference]
    points: Hidden[tuple[int, ...]]
    of: int

    @property
    @shown
    def count(self) -> Annotated[int, "as points"]:
        """How many points it explains."""
        return len(self.points)


def overall(before: Array, after: Array, compare: Compare) -> Contrast:
    """Compare all points that every launch has, as one; a `Contrast` of length 1."""
    return _contrasts(before, after, [np.arange(before.shape[1])], compare)


def changed_parts(
    before: Array,
    after: Array,
    kinds: Sequence[Sequence[Group]],
    compare: Compare,
    *,
    tests: int,
    margin: float,
) -> tuple[list[Part], NDArray[np.bool_]]:
    """Find the parts that changed.

    Parameters
    ----------
    before, after
        Logarithms of medians, shape (launches, points).
    kinds
        What may have changed together, the largest kind first.
    compare
        How two sides are compared.
    tests
        Number of kinds among which the chance of a wrong verdict is shared out.
    margin
        Smaller changes are none.

    Returns
    -------
    list of Part, ndarray of shape (points,)
        The parts, and which points they explain.
    """
    single = compare(before, after)
    explained = np.zeros(before.shape[1], dtype=bool)
    found: list[Part] = []
    for groups in kinds:
        found += _of_kind(before, after, groups, compare, single, explained, (tests, margin))
    return found, explained


def _of_kind(
    before: Array, after: Array, groups: Sequence[Group], compare: Compare, single: Contrast,
    explained: NDArray[np.bool_], rule: tuple[int, float],
) -> list[Part]:  # fmt: skip
    """Find the changed groups of one kind; mark what they explain."""
    tests, margin = rule
    base = np.exp(np.nanmean(before, axis=0))
    whole = _contrasts(before, after, [group.points for group in groups], compare)
    differences = whole.differences(whole.p * tests * len(groups), margin)
    found = []
    size = [len(group.points) * abs(whole.change[k]) for k, group in enumerate(groups)]
    for k in np.argsort(-np.nan_to_num(size), kind="stable").tolist():
        group = groups[k]
        difference = differences[k]
        if difference.verdict not in ("slower", "faster"):
            continue
        alike = group.points[_alike(single, base, group.points, whole.change[k])]
        new = alike[~explained[alike]]
        enough = len(alike) >= ALIKE.get(group.kind, ALIKE_ELSE) * len(group.points)
        if not enough or 2 * len(new) < len(alike):
            continue
        explained[alike] = True
        sides = [float(np.exp(np.nanmean(side[:, alike]))) for side in (before, after)]
        added = float(np.median(base[alike] * np.expm1(single.change[alike])))
        found.append(Part(
            group.kind, group.who, group.nbytes, sides[0], sides[1], added, difference,
            tuple(alike.tolist()), len(group.points),
        ))  # fmt: skip
    return found


def _alike(
    single: Contrast, base: Array, points: NDArray[np.int64], shift: float
) -> NDArray[np.bool_]:
    """Tell which points changed as most of the part did, as far as their scatter lets one see.

    A part may cost a factor, or a time that it adds to each of its points, such as a slow port:
    whichever is true of more of them.
    """
    errors = single.error[points]
    error = float(np.sqrt(np.nanmean(errors**2))) if np.any(~np.isnan(errors)) else 0.0
    change, seconds = single.change[points], base[points]
    by_factor = np.abs(change - shift) <= np.maximum(abs(shift) / 2, FAR * error)
    added = seconds * np.expm1(change)
    typical = float(np.nanmedian(added))
    off = np.maximum(abs(typical) / 2, FAR * error * seconds)
    by_time = (np.abs(added - typical) <= off) & (np.sign(typical) == np.sign(shift))
    return np.asarray(by_factor if by_factor.sum() >= by_time.sum() else by_time)


def _contrasts(
    before: Array, after: Array, groups: Sequence[NDArray[np.int64]], compare: Compare
) -> Contrast:
    """Compare groups of points: the median over each group is one number of a launch."""
    both = np.concatenate([before, after])
    whole = ~np.isnan(both).any(axis=0)
    level = both - np.mean(both, axis=0)
    values = np.full((len(both), len(groups)), np.nan)
    for k, group in enumerate(groups):
        known = group[whole[group]]
        if len(known):
            values[:, k] = np.median(level[:, known], axis=1)
    return compare(values[: len(before)], values[len(before) :])
