"""What launches, or two sides of them, measured: a logarithm of a median for each and point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.text import listed, printable
from isochrone.changes.parts import Group
from isochrone.runfile.columns import MAX_SECONDS, MIN_SECONDS
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Key, identity, points

__all__ = ["Measured", "logs_of", "of_samples"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """Points that both sides have.

    Attributes
    ----------
    keys
        What each point is.
    before, after
        Logarithms of the medians in seconds, shape (launches, points); NaN where a launch lacks
        the point.
    kinds
        Groups of points that may have changed together, the largest kind first.
    kind
        What a single point is called: ``point`` or ``pair``.
    notes
        How points were matched, and what only one side has.
    one_sided
        Number of points that only one side has.
    """

    keys: list[dict[str, Any]]
    before: Array
    after: Array
    kinds: list[list[Group]]
    kind: str
    notes: list[str]
    one_sided: int


def of_samples(before: Sequence[Run], after: Sequence[Run]) -> Measured:
    """Return the points of two sides of sweeps, or of anything else that repeats.

    Raises
    ------
    InputError
        If a run holds no times, or the sides have no point in common.
    """
    sides = [[_medians(run) for run in runs] for runs in (before, after)]
    left, right = ({key: None for times in side for key in times} for side in sides)
    keys = [key for key in left if key in right]
    if not keys:
        raise InputError("the two sides have no point in common", hint=_others(left, right))
    notes = []
    if len(keys) < len(left) or len(keys) < len(right):
        notes.append(f"left out, as not on both sides: {_others(left, right)}")
    logs = [_matrix(side, keys) for side in sides]
    kinds = _curves(keys, before[0].by)
    one_sided = len(left.keys() ^ right.keys())
    return Measured([dict(key) for key in keys], logs[0], logs[1], kinds, "point", notes, one_sided)


def logs_of(runs: Sequence[Run]) -> tuple[list[dict[str, Any]], Array]:
    """Return every point of several launches, and its logarithms as in `Measured`.

    Raises
    ------
    InputError
        If a run holds no times.
    """
    launches = [_medians(run) for run in runs]
    keys = list(dict.fromkeys(key for times in launches for key in times))
    return [dict(key) for key in keys], _matrix(launches, keys)


def _matrix(launches: Sequence[dict[Key, float]], keys: Sequence[Key]) -> Array:
    return np.array([[times.get(key, np.nan) for key in keys] for times in launches])


def _medians(run: Run) -> dict[Key, float]:
    """Return the logarithm of the median of each point."""
    table = run.tables.get("sample")
    if table is None or not len(table) or "seconds" not in table:
        raise InputError(f"a run of '{run.experiment}' holds no times to compare", where=run.where)
    seconds = table["seconds"]
    if seconds.dtype.kind != "f" or not np.all((seconds >= MIN_SECONDS) & (seconds <= MAX_SECONDS)):
        raise InputError("a 'sample' record whose 'seconds' is no time", where=run.where)
    names = identity(table, run.by)
    if not names:
        raise InputError("samples without a size", where=run.where)
    found = points(table, names, run.where)
    return {key: float(np.log(np.median(seconds[rows]))) for key, rows in found.items()}


def _others(left: dict[Key, None], right: dict[Key, None]) -> str:
    """Say which values only one side has."""
    for name in [name for name, _ in next(iter(left), ())]:
        mine, yours = ({v for key in side for n, v in key if n == name} for side in (left, right))
        said = []
        for only, which in ((mine - yours, "first"), (yours - mine, "second")):
            if only:
                shown = listed([printable(v, 40) for v in sorted(only, key=repr)], 5)
                said.append(f"only the {which} has {name} {shown}")
        if said:
            return "; ".join(said)
    counts = len(left.keys() - right.keys()), len(right.keys() - left.keys())
    return f"{counts[0]} are only in the first, {counts[1]} only in the second"


def _curves(keys: Sequence[Key], by: Sequence[str]) -> list[list[Group]]:
    """Group the points of a sweep: all of them, and those of each curve."""
    curves: dict[tuple[tuple[str, Any], ...], list[int]] = {}
    for k, key in enumerate(keys):
        own = tuple((n, v) for n, v in key if (n in by if by else isinstance(v, str)))
        curves.setdefault(own, []).append(k)
    kinds = [[Group("all", f"all {len(keys)} points", np.arange(len(keys)))]]
    several = [
        Group("curve", ", ".join(f"{n} {printable(v, 40)}" for n, v in own), np.array(rows))
        for own, rows in curves.items()
        if len(rows) > 1
    ]
    return [kinds[0], several] if len(curves) > 1 and several else kinds if len(keys) > 1 else []
