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

    def only(self, chosen: Ints | Bools) -> "Seen":
        """Return some of the pairs."""
        rows, logs, exact = self.rows[chosen], self.logs[:, chosen], self.exact[:, chosen]
        return self._replace(rows=rows, logs=logs, exact=exact)

    def first(self, count: int) -> "Seen":
        """Return the first maps."""
        return self._replace(logs=self.logs[:count], exact=self.exact[:count])


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
    between_units = np.column_stack([np.sort(unit[rows[:, :2]], axis=1), rows[:, 2]])
    code, between = _code(rows, run.size), _code(between_units, run.size)
    logs = np.full((len(others), len(rows)), np.nan)
    for launch_logs, launch in zip(logs, others, strict=True):
        seats = _seats(run, launch)
        pairs, values = pairs_at(launch, seats)
        _fill(launch_logs, code, _code(pairs, run.size), values)
    exact = ~np.isnan(logs)
    for launch_logs, launch in zip(logs, others, strict=True):
        node = dict(zip(hosts, unit.tolist(), strict=True)) if by_host else {}
        units = np.array([node.get(host, -1) for host in launch.hosts])
        unlike = np.unique(units[(_seats(run, launch) < 0) & (units >= 0)])
        if not len(unlike):
            continue
        pairs, values = pairs_at(launch, units)
        pairs, values = pairs[pairs[:, 0] != pairs[:, 1]], values[pairs[:, 0] != pairs[:, 1]]
        ends = np.isin(unit[rows[:, :2]], unlike).any(axis=1)
        chosen = ends & (unit[rows[:, 0]] != unit[rows[:, 1]])
        updated = launch_logs[chosen]
        _fill(updated, between[chosen], *medians_by(_code(pairs, run.size), values))
        launch_logs[chosen] = updated
    return Seen(hosts, by_host, unit, rows, logs, exact)


def _code(rows: Ints, size: int) -> Ints:
    """Return one number for each pair and message size."""
    return np.asarray((rows[:, 2] * size + rows[:, 0]) * size + rows[:, 1])


def _fill(target: Floats, code: Ints, codes: Ints, values: Floats) -> None:
    """Write values to where their codes are."""
    if len(codes):
        order = np.argsort(codes)
        position = np.minimum(np.searchsorted(codes, code, sorter=order), len(codes) - 1)
        matches = codes[order[position]] == code
        target[matches] = values[order[position]][matches]


def _seats(run: Run, other_run: Run) -> Ints:
    """Return for each rank of another run the rank of this one at its place; -1 if there is none.

    Ranks of a host are matched in the order of their processors if these are the same, else in the
    order of their numbers.
    """
    hosts, others = run.hosts, other_run.hosts
    if hosts == others:
        return np.arange(run.size)
    seats = np.full(other_run.size, -1)
    ranks_by_host, other_ranks = (
        grouped((rank.host, rank) for rank in side.ranks) for side in (run, other_run)
    )
    for host, mine in ranks_by_host.items():
        if host and len(other_ranks.get(host, ())) == len(mine):
            for own_rank, other_rank in zip(*in_order(mine, other_ranks[host]), strict=True):
                seats[other_rank.rank] = own_rank.rank
    return seats
