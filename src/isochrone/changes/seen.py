"""Several maps, seen from the places of one of them: what each tells of the pairs of this one.

Ranks are matched by host, and by their place on it if it has as many ranks in both maps. Where it
has not, the pairs of nodes are still the same: each of their pairs of ranks then takes the median
of all that the other map has between these nodes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.stats import medians_by
from isochrone.base.table import grouped
from isochrone.changes.log_medians import pairs_at
from isochrone.changes.machine import in_order
from isochrone.latency_map.partitions import numbered
from isochrone.runfile.run import Run


class Seen(NamedTuple):
    """The pairs of one map, as several maps have them.

    Attributes
    ----------
    hosts
        Host of each rank of this map; empty strings where hosts are not recorded.
    by_host
        Whether there are several nodes, and their names are recorded.
    unit
        Node of each rank; without several nodes the rank itself.
    rows
        Two ranks and a message size each.
    logs
        Logarithms of the medians in seconds, shape (maps, rows); NaN where a map lacks the pair.
    exact
        Whether they are of the same two places, not of all between the two nodes.
    """

    hosts: list[str]
    by_host: bool
    unit: Ints
    rows: Ints
    logs: Floats
    exact: Bools

    def only(self, some: Ints | Bools) -> "Seen":
        """Return some of the pairs."""
        rows, logs, exact = self.rows[some], self.logs[:, some], self.exact[:, some]
        return self._replace(rows=rows, logs=logs, exact=exact)

    def first(self, number: int) -> "Seen":
        """Return the first maps."""
        return self._replace(logs=self.logs[:number], exact=self.exact[:number])


def seen_from(run: Run, others: Sequence[Run]) -> Seen:
    """Match the pairs of maps to those of one map.

    Raises
    ------
    InputError
        If a map holds no medians.
    """
    hosts = run.hosts
    by_host = all(hosts) and len(set(hosts)) > 1
    unit = numbered(hosts) if by_host else np.arange(run.size)
    rows, _ = pairs_at(run, np.arange(run.size))
    rows = rows[np.argsort(_code(rows, run.size), kind="stable")]
    code, between = _code(rows, run.size), _code(_of(rows, unit), run.size)
    logs = np.full((len(others), len(rows)), np.nan)
    for own, other in zip(logs, others, strict=True):
        seats = _seats(run, other)
        found, values = pairs_at(other, seats)
        _fill(own, code, _code(found, run.size), values)
    exact = ~np.isnan(logs)
    for own, other in zip(logs, others, strict=True):
        node = dict(zip(hosts, unit.tolist(), strict=True)) if by_host else {}
        units = np.array([node.get(host, -1) for host in other.hosts])
        unlike = np.unique(units[(_seats(run, other) < 0) & (units >= 0)])
        if not len(unlike):
            continue
        found, values = pairs_at(other, units)
        found, values = found[found[:, 0] != found[:, 1]], values[found[:, 0] != found[:, 1]]
        ends = np.isin(unit[rows[:, :2]], unlike).any(axis=1)
        chosen = ends & (unit[rows[:, 0]] != unit[rows[:, 1]])
        some = own[chosen]
        _fill(some, between[chosen], *medians_by(_code(found, run.size), values))
        own[chosen] = some
    return Seen(hosts, by_host, unit, rows, logs, exact)


def _of(rows: Ints, unit: Ints) -> Ints:
    ends = np.sort(unit[rows[:, :2]], axis=1)
    return np.column_stack([ends, rows[:, 2]])


def _code(rows: Ints, size: int) -> Ints:
    """Return one number for each pair and message size."""
    return np.asarray((rows[:, 2] * size + rows[:, 0]) * size + rows[:, 1])


def _fill(target: Floats, code: Ints, codes: Ints, values: Floats) -> None:
    """Write values to where their codes are."""
    if len(codes):
        order = np.argsort(codes)
        place = np.minimum(np.searchsorted(codes, code, sorter=order), len(codes) - 1)
        there = codes[order[place]] == code
        target[there] = values[order[place]][there]


def _seats(run: Run, other: Run) -> Ints:
    """Return for each rank of another run the rank of this one at its place; -1 if there is none.

    Ranks of a host are matched in the order of their processors if these are the same, else in the
    order of their numbers.
    """
    hosts, others = run.hosts, other.hosts
    if hosts == others:
        return np.arange(run.size)
    seats = np.full(other.size, -1)
    here, there = (grouped((one.host, one) for one in each.ranks) for each in (run, other))
    for host, mine in here.items():
        if host and len(there.get(host, ())) == len(mine):
            for one, two in zip(*in_order(mine, there[host]), strict=True):
                seats[two.rank] = one.rank
    return seats
