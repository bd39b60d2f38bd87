"""Which components changed, the largest first: all, a level, a node, a single pair.

A component changed if its points changed in the same way. It is tested with one number per launch,
the median over its points, which has far more power than a test of each point. What a component
explains is not attributed to smaller ones again.
"""

from collections.abc import Callable, Sequence
from math import exp, isnan
from typing import Annotated

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.inference import FALSE_CHANGE_RATE, Contrast, group_medians, verdict
from isochrone.base.record import Record
from isochrone.base.stats import median_of
from isochrone.base.verdicts import FASTER, NOT_KNOWN, SAME, SLOWER
from isochrone.changes.thresholds import ALIKE_ELSE, BEYOND_ALL, MIN_POINT_ERRORS

Compare = Callable[[Floats, Floats], Contrast]

VERDICTS = (SLOWER, FASTER, SAME, NOT_KNOWN)


ALIKE = {"node": 0.75, "rank": 0.75}
"""Minimum fraction of the points that changed as the component did. The pairs of a node have
another end, and a quarter of them may have changed for another reason."""


class Difference(Record):
    """One ratio of times, and the verdict on it.

    Attributes
    ----------
    ratio
        after / before.
    low, high
        Its 95 % interval; None where a side has one launch only.
    p
        p-value, corrected for multiple tests; None likewise.
    verdict
        ``same``: the interval lies within the margin, so that equality is proved; ``slower`` or
        ``faster``: significant, and not within the margin; ``not known``: none of these.
    """

    ratio: float
    low: float | None
    high: float | None
    p: float | None
    verdict: str

    @property
    def changed(self) -> bool:
        """Whether it is slower or faster."""
        return self.verdict in VERDICTS[:2]


class Differences:
    """Differences of many things, of which each is made when it is looked at.

    Attributes
    ----------
    rows
        Logarithms of each ratio and its interval, and the p-value as it was corrected.
    verdicts
        The verdict on each.
    """

    def __init__(self, contrast: Contrast, corrected: Floats, margin: float) -> None:
        high, p = np.minimum(contrast.high, BEYOND_ALL), np.minimum(corrected, 1.0)
        self.rows = np.column_stack((contrast.change, contrast.low, high, p))
        self.verdicts: list[str] = [
            NOT_KNOWN
            if isnan(p)
            else verdict(
                exp(change), exp(low), exp(high), margin=margin, sure=p < FALSE_CHANGE_RATE
            )
            for change, low, high, p in self.rows.tolist()
        ]

    def __getitem__(self, k: int) -> Difference:
        change, low, high, p = self.rows[k].tolist()
        if isnan(p):
            return Difference(exp(change), None, None, None, NOT_KNOWN)
        return Difference(exp(change), exp(low), exp(high), p, self.verdicts[k])


class Group(Record):
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
    points: Ints
    nbytes: int | None = None


class Part(Record):
    """A component that changed, or a single point.

    Attributes
    ----------
    kind, who, nbytes
        As of `Group`; a single point is of the kind ``pair`` or ``point``.
    before, after
        Times in seconds: medians over the points it explains.
    added
        after - before, in seconds; below 0 if it is faster.
    difference
        How it changed.
    points
        Numbers of the points it explains.
    of
        Number of its points.
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


def changed_parts(
    before: Floats,
    after: Floats,
    kinds: Sequence[Sequence[Group]],
    compare: Compare,
    single: Contrast,
    *,
    tests: int,
    margin: float,
) -> tuple[list[Part], Bools]:
    """Find the components that changed.

    Parameters
    ----------
    before, after
        Logarithms of medians, shape (launches, points).
    kinds
        What may have changed together, the largest kind first.
    compare
        How two sides are compared.
    single
        The contrasts of single points.
    tests
        Number of kinds that share the error rate.
    margin
        Smaller changes are ignored.

    Returns
    -------
    list of Part, ndarray of shape (points,)
        The components, and which points they explain.
    """
    explained = np.zeros(before.shape[1], dtype=bool)
    base, late = np.exp(single.before), np.exp(single.after)
    components = []
    for groups in kinds:
        group_contrasts = contrasts(before, after, [group.points for group in groups], compare)
        differing = Differences(group_contrasts, group_contrasts.p * tests * len(groups), margin)
        size = [len(group.points) for group in groups] * np.abs(group_contrasts.change)
        for k in np.argsort(-np.nan_to_num(size), kind="stable").tolist():
            group = groups[k]
            if not differing[k].changed:
                continue
            alike = group.points[_alike(single, base, group.points, group_contrasts.change[k])]
            enough = len(alike) >= ALIKE.get(group.kind, ALIKE_ELSE) * len(group.points)
            if not enough or 2 * np.sum(~explained[alike]) < len(alike):
                continue
            explained[alike] = True
            first, last = median_of(base[alike]), median_of(late[alike])
            components.append(
                Part(
                    group.kind,
                    group.who,
                    group.nbytes,
                    first,
                    last,
                    last - first,
                    differing[k],
                    tuple(alike.tolist()),
                    len(group.points),
                )
            )
    return components, explained


def _alike(single: Contrast, base: Floats, points: Ints, shift: float) -> Bools:
    """Return which points changed as most of the component did, within their scatter.

    A component may cost a factor, or add a time to each of its points, as a slow port does. The
    model that fits more points is used.
    """
    errors = single.error[points]
    error = float(np.sqrt(np.nanmean(errors**2))) if np.any(~np.isnan(errors)) else 0.0
    change, seconds = single.change[points], base[points]
    by_factor = np.abs(change - shift) <= np.maximum(abs(shift) / 2, MIN_POINT_ERRORS * error)
    added = seconds * np.expm1(change)
    typical = float(np.nanmedian(added))
    off = np.maximum(abs(typical) / 2, MIN_POINT_ERRORS * error * seconds)
    by_time = (np.abs(added - typical) <= off) & (np.sign(typical) == np.sign(shift))
    return np.asarray(by_factor if by_factor.sum() >= by_time.sum() else by_time)


def contrasts(before: Floats, after: Floats, groups: Sequence[Ints], compare: Compare) -> Contrast:
    """Compare groups of points: the median over each group is one number of a launch."""
    sides = np.concatenate([before, after])
    values = group_medians(sides - np.mean(sides, axis=0), groups)
    return compare(values[: len(before)], values[len(before) :])
