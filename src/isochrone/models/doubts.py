"""What makes measured times doubtful before a formula is fitted to them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.models.clusters import two_groups
from isochrone.models.formulas import number
from isochrone.models.observations import TABLE, Samples
from isochrone.models.unused import unused, words

__all__ = ["doubts"]

_WITHOUT_CHANCE: Final = {"simulated", "made up"}
"""Origins of times that are the same in every start."""


def doubts(samples: Samples) -> list[str]:
    """Say what is doubtful, one sentence each.

    That is: columns that are not used, repetitions in two groups, and times of one start only.
    """
    point = samples.points()
    columns = unused(samples.others, point, samples.seconds)
    return [
        *samples.remarks, *words(columns),
        *_groups(samples, point, [one.name for one in columns if one.ratio > 1]),
        *_one_start(samples, point),
    ]  # fmt: skip


def _groups(samples: Samples, point: NDArray[np.int64], apart: list[str]) -> list[str]:
    """Say where repetitions of one start, equal in the columns ``apart``, are in two groups."""
    same = point
    for column in [samples.start, *(samples.others[name] for name in apart)]:
        own = np.unique(column, return_inverse=True)[1].ravel()
        same = np.unique(same * (own.max() + 1) + own, return_inverse=True)[1].ravel()
    found = two_groups(samples.seconds, same)
    if not len(found.points):
        return []
    row = int(np.flatnonzero(same == found.points[np.argmax(found.ratio)])[0])
    where = [str(values[row]) for values in samples.selectors.values()]
    where += [f"{k} = {number(k, v[row])}" for k, v in samples.variables.items() if np.ptp(v)]
    points = len(np.unique(point[np.isin(same, found.points)]))
    place = f"{found.ratio.max():.3g}x at {', '.join(where)}"
    return [
        f"the repetitions at {points} of {point.max() + 1} points fall into two groups, "
        f"{np.median(found.ratio):.3g}x apart (at most {place}): their median is of the larger "
        f"group ({100 * (1 - np.median(found.share)):.0f} % of the repetitions)"
    ]


def _one_start(samples: Samples, point: NDArray[np.int64]) -> list[str]:
    """Say that the intervals hold no other start if each point was measured in one only."""
    if set(samples.origin.split(" and ")) <= _WITHOUT_CHANCE:
        return []
    cells = np.unique(np.column_stack([point, samples.start]), axis=0)
    if len(cells) > point.max() + 1:
        return []
    known = "" if samples.experiment != TABLE else ", as far as the table says (column 'launch')"
    return [
        f"each point is of one start of the job{known}: launches of one command differ, and the "
        "intervals do not hold by how much; measure --runs 5"
    ]
