"""Log-median of each launch and point of a measurement."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.record import Members
from isochrone.base.stats import median_of
from isochrone.base.table import grouped
from isochrone.base.text import listed, printable
from isochrone.base.units import MAX_SECONDS, MIN_SECONDS, format_bytes
from isochrone.changes.components import Group
from isochrone.changes.machine import Places, machine_parts, places_of
from isochrone.runfile.run import NO_RESULT, Run
from isochrone.runfile.samples import Key, counting, identity, points

_Key = TypeVar("_Key")

MIN_CLOCK_SECONDS = 1e-12
"""Seconds used in place of 0, which a coarse clock returns."""


class Measured(NamedTuple):
    """All points of several launches.

    Attributes
    ----------
    key
        Returns the key of a point.
    logs
        Logarithms of the medians in seconds, shape (launches, points); NaN where a launch lacks
        the point.
    kind
        What a single point is called: ``point`` or ``pair``.
    notes
        How points were matched.
    kinds
        Returns groups of points that may have changed together, the largest kind first.
    others
        Returns as text which points only one of two sides has.
    """

    key: Callable[[int], Members]
    logs: Floats
    kind: str
    notes: list[str]
    kinds: Callable[[Ints], list[list[Group]]]
    others: Callable[[Bools, Bools], str]


def measured(runs: Sequence[Run]) -> Measured:
    """Match the pairs of maps by the slots of their ranks, or the points of anything else.

    Raises
    ------
    InputError
        If a run holds no times.
    """
    if "pair" not in runs[0].tables:
        keys, logs = logs_of(runs)
        return Measured(
            keys.__getitem__,
            logs,
            "point",
            [],
            lambda chosen: _curves([keys[k] for k in chosen], runs[0].by),
            lambda left, right: _others(keys, left, right),
        )
    slots, rows, logs = matched(runs)
    return Measured(
        lambda k: _key(slots, *rows[k].tolist()),
        logs,
        "pair",
        [slots.note] if slots.note else [],
        lambda chosen: machine_parts(runs[0], runs[-1], slots, rows[chosen]),
        lambda left, right: _left_out(rows, left & right),
    )


# ---- pairs of maps -----------------------------------------------------------------------------


class Matched(NamedTuple):
    """All pairs of several maps.

    ``rows`` are two places and a message size each; ``logs`` the logarithms of the medians in
    seconds, shape (maps, pairs), NaN where a map lacks the pair.
    """

    places: Places
    rows: Ints
    logs: Floats

    def only(self, chosen: Ints | Bools) -> "Matched":
        """Return some of the pairs."""
        return Matched(self.places, self.rows[chosen], self.logs[:, chosen])


def matched(runs: Sequence[Run]) -> Matched:
    """Match the pairs of maps by the places of their ranks.

    Raises
    ------
    InputError
        If a map holds no medians.
    """
    slots = places_of(runs)
    pairs_of_runs = [
        pairs_at(run, rank_slots) for run, rank_slots in zip(runs, slots.of_rank, strict=True)
    ]
    every = np.concatenate([rows for rows, _ in pairs_of_runs])
    sizes, size = np.unique(every[:, 2], return_inverse=True)
    code = (every[:, 0] * len(slots.rank) + every[:, 1]) * len(sizes) + size.ravel()
    _, first, index = np.unique(code, return_index=True, return_inverse=True)
    logs = np.full((len(runs), len(first)), np.nan)
    launch = np.repeat(np.arange(len(runs)), [len(rows) for rows, _ in pairs_of_runs])
    logs[launch, index.ravel()] = np.concatenate([values for _, values in pairs_of_runs])
    return Matched(slots, every[first], logs)


def pairs_at(run: Run, slots: Ints) -> tuple[Ints, Floats]:
    """Return the pairs as rows of two places and a size, and the logarithms of their medians.

    ``slots`` is the place of each rank; pairs with one at -1 are left out.
    """
    table = run.pairs()
    if "median" not in table:
        raise InputError("the pairs have no 'median'", where=run.where)
    a, b = slots[table["i"]], slots[table["j"]]
    keep = counting(table, ("i", "j", "bytes"), run.where) & (a >= 0) & (b >= 0)
    rows = np.column_stack([np.minimum(a, b), np.maximum(a, b), table["bytes"]])[keep]
    return rows.astype(np.int64), np.log(np.maximum(table["median"][keep], MIN_CLOCK_SECONDS))


def _left_out(rows: Ints, shared: Bools) -> str:
    """Return the number of pairs that only one side has, with their sizes if these differ."""
    sizes = set(rows[:, 2].tolist()) - set(rows[shared, 2].tolist())
    named = f" ({', '.join(map(format_bytes, sorted(sizes)))})" if sizes else ""
    return f"{int(np.sum(~shared))} pairs{named}"


def _key(slots: Places, a: int, b: int, nbytes: int) -> Members:
    i, j = sorted((slots.rank[a], slots.rank[b]))
    key: Members = {"i": i, "j": j, "bytes": nbytes}
    if not slots.by_rank:
        key["places"] = [slots.names[a], slots.names[b]]
    return key


# ---- points of sweeps and other repeated measurements ------------------------------------------


def logs_of(runs: Sequence[Run]) -> tuple[list[Members], Floats]:
    """Return every point of several launches, and its logarithms as in `Measured`.

    Raises
    ------
    InputError
        If a run holds no times.
    """
    keys, logs = aligned([_medians(run) for run in runs])
    return [dict(key) for key in keys], logs


def aligned(launches: Sequence[dict[_Key, float]]) -> tuple[list[_Key], Floats]:
    """Return all keys, and the values of each launch, NaN where it lacks one."""
    keys = list(dict.fromkeys(key for values in launches for key in values))
    return keys, np.array([[values.get(key, np.nan) for key in keys] for values in launches])


def _medians(run: Run) -> dict[Key, float]:
    """Return the logarithm of the median of each point."""
    table = run.tables.get("sample")
    if table is None or not len(table) or "seconds" not in table:
        raise InputError(
            f"a run of '{run.experiment}' has no times to compare" if run.tables else NO_RESULT,
            where=run.where,
        )
    seconds = table["seconds"]
    if seconds.dtype.kind != "f" or not np.all((seconds >= MIN_SECONDS) & (seconds <= MAX_SECONDS)):
        raise InputError("a 'sample' record has invalid 'seconds'", where=run.where)
    names = identity(table, run.by)
    if not names:
        raise InputError("a sample has no size", where=run.where)
    rows_by_key = points(table, names, run.where)
    return {key: float(np.log(median_of(seconds[rows]))) for key, rows in rows_by_key.items()}


def _others(keys: Sequence[Members], left: Bools, right: Bools) -> str:
    """Return which values only one side has."""
    for name in keys[0]:
        mine, yours = (
            {key[name] for key, has in zip(keys, side, strict=True) if has and name in key}
            for side in (left, right)
        )
        texts = []
        for only, which in ((mine - yours, "first"), (yours - mine, "second")):
            if only:
                values = listed([printable(v, 40) for v in sorted(only, key=repr)], 5)
                texts.append(f"only the {which} has {name} {values}")
        if texts:
            return "; ".join(texts)
    counts = np.sum(left & ~right), np.sum(right & ~left)
    return f"{counts[0]} are only in the first, {counts[1]} only in the second"


def _curves(keys: Sequence[Members], by: Sequence[str]) -> list[list[Group]]:
    """Group the points of a sweep: all of them, and those of each curve."""
    all_points = [Group("all", f"all {len(keys)} points", np.arange(len(keys)))]
    curves = by_curve(keys, by)
    several = [
        Group("curve", ", ".join(f"{n} {printable(v, 40)}" for n, v in curve), np.array(rows))
        for curve, rows in curves.items()
        if len(rows) > 1
    ]
    return (
        [all_points, several]
        if len(curves) > 1 and several
        else [all_points]
        if len(keys) > 1
        else []
    )


def by_curve(
    keys: Iterable[Members], by: Sequence[str]
) -> dict[tuple[tuple[str, object], ...], list[int]]:
    """Return the numbers of the points of each curve, by what the points have in common."""
    return grouped(
        (tuple((n, v) for n, v in key.items() if (n in by if by else isinstance(v, str))), k)
        for k, key in enumerate(keys)
    )
