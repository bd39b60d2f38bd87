"""The pairs of latency maps, matched by the places of their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes
from isochrone.changes.machine import machine_parts
from isochrone.changes.measured import Measured
from isochrone.changes.places import Places, places_of
from isochrone.runfile.run import Run
from isochrone.runfile.samples import counting

__all__ = ["Matched", "keys_of", "matched", "of_maps"]

Array = NDArray[np.float64]

SMALLEST: Final = 1e-12
"""Seconds that stand for a time of 0, which a coarse clock makes."""


class Matched(NamedTuple):
    """Pairs that any of several maps has.

    ``rows`` are two places and a message size each; ``logs`` the logarithms of the medians in
    seconds, shape (maps, pairs), NaN where a map lacks the pair.
    """

    places: Places
    rows: NDArray[np.int64]
    logs: Array


def matched(runs: Sequence[Run]) -> Matched:
    """Match the pairs of maps by the places of their ranks.

    Raises
    ------
    InputError
        If a map holds no medians.
    """
    places = places_of(runs)
    found = [_pairs(run, seats) for run, seats in zip(runs, places.of_rank, strict=True)]
    sizes, codes = _codes([pairs for pairs, _ in found], len(places.rank))
    every = np.unique(np.concatenate(codes))
    logs = np.full((len(runs), len(every)), np.nan)
    for one, code, (_, values) in zip(logs, codes, found, strict=True):
        one[np.searchsorted(every, code)] = values
    pair, size = np.divmod(every, len(sizes))
    rows = np.column_stack([*np.divmod(pair, len(places.rank)), sizes[size]])
    return Matched(places, rows, logs)


def keys_of(places: Places, rows: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Say what each pair is: two ranks, or places, and a message size."""
    return [_key(places, *row) for row in rows.tolist()]


def of_maps(before: Sequence[Run], after: Sequence[Run]) -> Measured:
    """Match the pairs of maps by the places of their ranks.

    Raises
    ------
    InputError
        If a map holds no medians, or the sides have no pair in common.
    """
    places, rows, logs = matched([*before, *after])
    known = np.asarray(~np.isnan(logs))
    both = np.asarray(known[: len(before)].any(axis=0) & known[len(before) :].any(axis=0))
    if not both.any():
        raise InputError("the two sides have no point in common")
    notes = [places.note] if places.note else []
    if not both.all():
        notes.append(f"left out, as not on both sides: {_left_out(rows, both)}")
    rows, logs = rows[both], logs[:, both]
    kinds = machine_parts(before[0], after[0], places, rows)
    keys = keys_of(places, rows)
    sides, lost = (logs[: len(before)], logs[len(before) :]), int(np.sum(~both))
    return Measured(keys, *sides, kinds, "pair", notes, lost)


def _pairs(run: Run, seats: NDArray[np.int64]) -> tuple[NDArray[np.int64], Array]:
    """Return the pairs as rows of two places and a size, and the logarithms of their medians."""
    table = run.pairs()
    if "median" not in table:
        raise InputError("the pairs have no 'median'", where=run.where)
    a, b = seats[table["i"]], seats[table["j"]]
    keep = counting(table, ("i", "j", "bytes"), run.where) & (a >= 0) & (b >= 0)
    rows = np.column_stack([np.minimum(a, b), np.maximum(a, b), table["bytes"]])[keep]
    return rows.astype(np.int64), np.log(np.maximum(table["median"][keep], SMALLEST))


def _codes(
    pairs: Sequence[NDArray[np.int64]], places: int
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Return the message sizes, and for each run one number for each pair and size."""
    sizes = np.unique(np.concatenate([rows[:, 2] for rows in pairs]))
    codes = [
        (rows[:, 0] * places + rows[:, 1]) * len(sizes) + np.searchsorted(sizes, rows[:, 2])
        for rows in pairs
    ]
    return sizes, codes


def _left_out(rows: NDArray[np.int64], both: NDArray[np.bool_]) -> str:
    """Say what only one side has: sizes, if it is those."""
    sizes = set(rows[:, 2].tolist()) - set(rows[both, 2].tolist())
    named = f" ({', '.join(map(format_bytes, sorted(sizes)))})" if sizes else ""
    return f"{int(np.sum(~both))} pairs{named}"


def _key(places: Places, a: int, b: int, nbytes: int) -> dict[str, Any]:
    i, j = sorted((places.rank[a], places.rank[b]))
    key: dict[str, Any] = {"i": i, "j": j, "bytes": nbytes}
    if not places.by_rank:
        key["places"] = [places.names[a], places.names[b]]
    return key
