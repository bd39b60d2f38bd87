"""The pairs of two latency maps, and the parts of the machine that may have changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes
from isochrone.results.comparison.measured import Measured
from isochrone.results.comparison.parts import Group
from isochrone.results.comparison.places import Places, places_of
from isochrone.results.latency_map.topology import analyse
from isochrone.runfile.run import Run
from isochrone.runfile.samples import counting

__all__ = ["of_maps"]

Array = NDArray[np.float64]

SMALLEST: Final = 1e-12
"""Seconds that stand for a time of 0, which a coarse clock makes."""


def of_maps(before: Sequence[Run], after: Sequence[Run]) -> Measured:
    """Match the pairs of maps by the places of their ranks.

    Raises
    ------
    InputError
        If a map holds no medians, or the sides have no pair in common.
    """
    runs = [*before, *after]
    places = places_of(runs)
    found = [_pairs(run, seats) for run, seats in zip(runs, places.of_rank, strict=True)]
    sizes, codes = _codes([pairs for pairs, _ in found], len(places.rank))
    every = np.unique(np.concatenate(codes))
    logs = np.full((len(runs), len(every)), np.nan)
    for one, code, (_, values) in zip(logs, codes, found, strict=True):
        one[np.searchsorted(every, code)] = values
    pair, size = np.divmod(every, len(sizes))
    rows = np.column_stack([*np.divmod(pair, len(places.rank)), sizes[size]])
    known = ~np.isnan(logs)
    both = known[: len(before)].any(axis=0) & known[len(before) :].any(axis=0)
    if not both.any():
        raise InputError("the two sides have no point in common")
    notes = [places.note] if places.note else []
    if not both.all():
        notes.append(f"left out, as not on both sides: {_left_out(rows, both)}")
    rows, logs = rows[both], logs[:, both]
    kinds = _machine_parts(before[0], after[0], places, rows)
    keys = [_key(places, *row) for row in rows.tolist()]
    return Measured(keys, logs[: len(before)], logs[len(before) :], kinds, "pair", notes)


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


def _machine_parts(
    first: Run, last: Run, places: Places, rows: NDArray[np.int64]
) -> list[list[Group]]:
    """Group the pairs by what they share, each kind for each message size.

    All; those of a level, as it was before; what leaves a switch and what stays inside, by the
    levels of both sides, because a switch that is as fast as its uplink does not show; the same
    for nodes; those of a rank.
    """
    sizes = np.unique(rows[:, 2]).tolist()
    whole = [Group("all", f"all {len(rows)} pairs", np.arange(len(rows)))] if len(rows) > 1 else []
    found: list[list[Group]] = [whole, [], [], [], []]
    levels, later = _levels(first, places.of_rank[0]), _levels(last, places.of_rank[-1])
    for size in sizes:
        of_size = np.flatnonzero(rows[:, 2] == size)
        a, b = rows[of_size, 0], rows[of_size, 1]
        named = size if len(sizes) > 1 else None
        for k, groups in enumerate(_groups(levels, later, places, a, b), start=1):
            found[k] += [Group(kind, who, of_size[own], named) for kind, who, own in groups]
    return [kind for kind in found if kind]


Named = tuple[str, str, NDArray[np.int64]]
"""Kind and name of a group, and the numbers of its pairs."""

Level = tuple[str, NDArray[np.int64]]
"""Name of a level, and the group of each place."""


def _groups(
    levels: list[Level], later: list[Level], places: Places, a: NDArray[np.int64],
    b: NDArray[np.int64],
) -> list[list[Named]]:  # fmt: skip
    """Return kinds of groups of the pairs a-b: levels, switches, nodes, ranks."""
    level = np.full(len(a), -1)
    for k, (_, group) in reversed(list(enumerate(levels))):
        level[group[a] == group[b]] = k
    of_levels = [
        ("level", f"level {k} ({name})", np.flatnonzero(level == k))
        for k, (name, _) in enumerate(levels)
    ]
    switches: dict[str, Named] = {}
    for _, group in (*levels, *later):
        switches |= {one[1]: one for one in _of_switches(group, places, a, b)}
    nodes: list[Named] = []
    if all(places.hosts):
        host = np.unique(places.hosts, return_inverse=True)[1].ravel()
        for name, inside, leaving in _inside_and_leaving(host, a, b, places):
            nodes += [("node", name, leaving), ("node", f"inside of {name}", inside)]
    ranks = [
        ("rank", f"rank {places.names[seat]}", own)
        for seat, own in enumerate(_of_each_rank(a, b, len(places.rank)))
    ]
    kept = [[one for one in kind if len(one[2]) > 1] for kind in (switches.values(), nodes, ranks)]
    return [[one for one in of_levels if len(one[2])], *kept]


def _of_each_rank(
    a: NDArray[np.int64], b: NDArray[np.int64], places: int
) -> list[NDArray[np.int64]]:
    """Return the numbers of the pairs of each place."""
    ends = np.concatenate([a, b])
    order = np.argsort(ends, kind="stable")
    parts = np.split(order % len(a), np.cumsum(np.bincount(ends, minlength=places))[:-1])
    return [np.sort(part) for part in parts]


def _of_switches(
    group: NDArray[np.int64], places: Places, a: NDArray[np.int64], b: NDArray[np.int64]
) -> list[Named]:
    """Return what leaves each group of several whole nodes, and what stays inside."""
    if not all(places.hosts):
        return []
    hosts = [{places.hosts[seat] for seat in np.flatnonzero(group == g)} for g in np.unique(group)]
    if len(hosts) < 2 or max(map(len, hosts)) < 2 or sum(map(len, hosts)) > len(set.union(*hosts)):
        return []
    found: list[Named] = []
    for g, own in zip(np.unique(group), hosts, strict=True):
        if len(own) > 1:
            name = f"{min(own)} … {max(own)} ({len(own)} nodes)"
            inside = (group[a] == g) & (group[b] == g)
            leaving = (group[a] == g) != (group[b] == g)
            found.append(("switch", f"switch of {name}", np.flatnonzero(leaving)))
            found.append(("switch", f"inside of the switch of {name}", np.flatnonzero(inside)))
    return found


def _inside_and_leaving(
    host: NDArray[np.int64], a: NDArray[np.int64], b: NDArray[np.int64], places: Places
) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield each node with the pairs that stay inside and those that leave it."""
    for h in range(int(host.max()) + 1):
        here, there = host[a] == h, host[b] == h
        name = places.hosts[int(np.flatnonzero(host == h)[0])]
        yield name, np.flatnonzero(here & there), np.flatnonzero(here != there)


def _levels(run: Run, place_of: NDArray[np.int64]) -> list[Level]:
    """Return the levels of a map; ``place_of`` is the place of each of its ranks."""
    places = int(place_of.max()) + 1
    found = []
    for level in analyse(run).levels:
        group = np.arange(places) + len(level.groups)
        for g, ranks in enumerate(level.groups):
            seats = place_of[ranks]
            group[seats[seats >= 0]] = g
        found.append((level.name, group))
    return found
