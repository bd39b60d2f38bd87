"""Which ranks work together on a grid: the groups of its phases, as the probe arranges them.

The rows (CG) are those of ``probe/grid/shape.h``; the columns (LG) have a member in each row, where
a row is shorter its last rank.
"""

from __future__ import annotations

import re
from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.runfile.run import Run

__all__ = ["groups_of", "most_sharing", "rows_of"]

_LENGTH: Final = re.compile(r"(?:[1-9]\d{0,8}x|rows-of-)([1-9]\d{0,8})")


def rows_of(run: Run, grid: str) -> list[list[int]]:
    """Return the ranks of a run row by row.

    Raises
    ------
    InputError
        If it is no grid, or rows are nodes and those are not known.
    """
    if grid == "nodes":
        on: dict[str, list[int]] = {}
        for rank, host in enumerate(run.hosts):
            on.setdefault(host, []).append(rank)
        if "" in on:
            raise InputError("the ranks of the grid 'nodes' have no hosts", where=run.where)
        return list(on.values())
    found = _LENGTH.fullmatch(grid)
    if found is None:
        raise InputError(f"'{printable(grid, 40)}' is no grid", where=run.where)
    length = int(found[1])
    return [
        list(range(first, min(first + length, run.size))) for first in range(0, run.size, length)
    ]


def groups_of(run: Run, grid: str, phase: str) -> list[list[int]]:
    """Return the groups of a phase, that of rank 0 first.

    Parameters
    ----------
    phase
        ``LG`` or ``CG``.
    """
    rows = rows_of(run, grid)
    groups = rows
    if phase == "LG":
        longest = max(map(len, rows))
        groups = [[row[min(place, len(row) - 1)] for row in rows] for place in range(longest)]
    return sorted(groups, key=lambda group: 0 not in group)


def most_sharing(run: Run, groups: list[list[int]]) -> int:
    """Count the groups that have a member on the same node, on the node where they are most."""
    hosts = run.hosts
    on: dict[str, int] = {}
    for group in groups:
        for host in {hosts[rank] for rank in group}:
            on[host] = on.get(host, 0) + 1
    return max(on.values())
