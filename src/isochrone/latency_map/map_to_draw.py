"""A map as figures draw it: which ranks or nodes, and in which order."""

import dataclasses
from itertools import pairwise

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Array, Bools, Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.stats import order_by, row_medians
from isochrone.base.table import Table
from isochrone.latency_map import topology
from isochrone.latency_map.partitions import canonical, groups_of, numbered
from isochrone.latency_map.topology import Topology
from isochrone.runfile.run import MAX_MATRIX_RANKS, Rank, Run
from isochrone.views.view import Options

SORTS = {
    "rank": "",
    "node": "ranks sorted by node",
    "level": "ranks sorted by level",
    "cost": "ranks sorted by their median round trip",
}
"""The orders, each with what is said of it below the title."""


class Drawn(Record):
    """A map of the units that are drawn.

    Attributes
    ----------
    run, found
        The map and its analysis, with units in place of ranks.
    what, matrix
        The statistic that is drawn, in seconds; shape (units, units).
    ranks
        Of each unit the rank, or one that costs nothing by itself.
    unit
        ``rank`` or ``node``.
    notes
        What a figure says of that.
    """

    run: Run
    found: Topology
    what: str
    matrix: Floats
    ranks: Ints
    unit: str = "rank"
    notes: tuple[str, ...] = ()

    @property
    def guessed(self) -> bool:
        """Whether pairs that were not measured have estimates."""
        return topology.is_sampled(self.run) and self.what == self.run.statistic()

    def estimates(self, i: Ints, j: Ints) -> tuple[Floats, Floats]:
        """Return the times of pairs of units by the analysis, and half of their intervals."""
        return self.found.estimator.of(self.ranks[i], self.ranks[j])

    def names(self, units: Ints) -> list[str]:
        """Return the numbers of units, as axes show them."""
        return [str(k) for k in (units if self.unit == "node" else self.ranks[units])]


def on_hosts(run: Run, options: Options) -> Bools:
    """Mark the ranks that are to be drawn.

    Raises
    ------
    InputError
        If none is on one of the hosts.
    """
    for host in options.hosts:
        if host not in run.hosts:
            raise InputError(f"no rank is on host '{host}'", where="--hosts")
    return np.array([host in options.hosts or not options.hosts for host in run.hosts])


def noted(options: Options) -> list[str]:
    """Say which hosts were chosen."""
    return [f"only {', '.join(options.hosts)}"] * bool(options.hosts)


def refuse_bandwidths(run: Run) -> None:
    """Raise an error for a view of times, if it is to draw bandwidths."""
    if run.bandwidth:
        raise InputError(
            "this view draws times, and the map has bandwidths",
            where=run.where,
            hint="views of bandwidths: heatmap, levels",
        )


def as_drawn(run: Run, options: Options, max_ranks: int = MAX_MATRIX_RANKS) -> Drawn:
    """Return a map of all ranks, of those of the chosen hosts, or of nodes if there are too many.

    The time of two nodes is the median of their ranks', its interval from the least to the largest.
    """
    if not options.hosts and not (run.size > max_ranks and all(run.hosts)):
        matrix = run.matrix(options.what, options.size)  # before it is analysed: what is wrong
        analysis = options.analysis or topology.analyse(run, options.size)
        return Drawn(run, analysis, options.what, matrix, np.arange(run.size))
    unit, by_node = numbered(run.hosts), not options.hosts
    if not by_node:
        chosen = on_hosts(run, options)
        unit = np.where(chosen, np.cumsum(chosen) - 1, -1)
    analysis = options.analysis or topology.analyse(run, options.size)
    order = np.lexsort([analysis.estimator.cost, unit])
    order = order[unit[order] >= 0]
    ranks = order[np.unique(unit[order], return_index=True)[1]]
    merged = dataclasses.replace(
        run,
        header={**run.header, "ranks": len(ranks)},
        ranks=[Rank(k, run.hosts[rank], k) for k, rank in enumerate(ranks.tolist())],
        tables={"pair": _table(run, options.what, analysis.nbytes, unit)},
    )
    return Drawn(
        merged,
        _of_units(analysis, unit, ranks),
        options.what,
        merged.matrix(options.what),
        ranks,
        "node" if by_node else "rank",
        ("two nodes: median of their ranks",) if by_node else tuple(noted(options)),
    )


def _table(run: Run, statistic: str, nbytes: int, unit: Ints) -> Table:
    """Return the times of the pairs of units, of the statistic that is drawn and the usual one."""
    columns: dict[str, Array] = {}
    for name in (run.statistic(), statistic):
        i, j, seconds = run.cells(name, nbytes)
        a, b = np.minimum(unit[i], unit[j]), np.maximum(unit[i], unit[j])
        keys = (a * run.size + b)[a >= 0]
        order = order_by(keys, seconds[a >= 0])
        ordered, key = seconds[a >= 0][order], keys[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        last = np.append(first[1:], len(key)) - 1
        middle = (ordered[(first + last) // 2] + ordered[(first + last + 1) // 2]) / 2
        columns |= {
            "i": key[first] // run.size,
            "j": key[first] % run.size,
            name: middle,
            "low": ordered[first],
            "high": ordered[last],
        }
    return Table({**columns, "bytes": np.full(len(columns["i"]), nbytes)})


def _of_units(analysis: Topology, unit: Ints, ranks: Ints) -> Topology:
    """Put units in place of ranks in an analysis."""
    chain = [canonical(groups[ranks]) for groups in analysis.chain]
    levels = [
        replace(level, groups=groups_of(partition))
        for level, partition in zip(analysis.levels, chain, strict=True)
    ]
    units = [
        tuple(sorted({*unit[list(component.ranks)].tolist()} - {-1})) for component in analysis.slow
    ]
    slow = [
        replace(component, ranks=members)
        for component, members in zip(analysis.slow, units, strict=True)
        if len(members) > component.of.link
    ]
    return replace(analysis, ranks=len(ranks), levels=levels, chain=chain, slow=slow)


def order_of(run: Run, options: Options) -> Ints:
    """Return the ranks of a map from the upper left to the lower right.

    Ranks that are alike keep the order of their numbers: those of a node, of a group of a level.

    Raises
    ------
    InputError
        If there is no such order.
    """
    if options.sort not in SORTS:
        choices = ", ".join(SORTS)
        raise InputError(f"there is no order '{options.sort}'", hint=f"there are: {choices}")
    if options.sort == "node":
        return np.argsort(numbered(run.hosts), kind="stable")
    if options.sort == "level":
        # the groups of the farthest level side by side, in each those of the next, and so on
        analysis = options.analysis or topology.analyse(run, options.size)
        return np.lexsort([np.arange(run.size), *analysis.chain])
    if options.sort == "cost":
        # whatever is drawn, the ranks are in the order of their times; those without any are last
        matrix = run.matrix(run.statistic(), options.size)
        return np.argsort(row_medians(matrix), kind="stable")
    return np.arange(run.size)


def scattered(hosts: list[str]) -> bool:
    """Whether ranks of one host lie apart, so that its block is not seen in the order of ranks."""
    changes = sum(a != b for a, b in pairwise(hosts))
    return changes + 1 > len(set(hosts))
