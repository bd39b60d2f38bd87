"""An operation on a grid of ranks as its two phases, each an operation of its own in its groups."""

from collections.abc import Sequence

import numpy as np

from isochrone.applications.description.program import Collective
from isochrone.base.operations import ROOTED
from isochrone.collectives import grid_collectives
from isochrone.runfile.grid_groups import arranged


class GridPart(Collective, kw_only=True):
    """One phase of an operation on a grid, in one group.

    Attributes
    ----------
    whole, of
        The operation, and bytes of its block.
    number
        Of the phase, in the order of time.
    group
        ``CG`` along a row, ``LG`` along a column.
    """

    whole: Collective
    of: float
    number: int
    group: str


def parts_of(
    step: Collective, size: float, rank: int, ranks: int, node_of: Sequence[int] | None
) -> list[tuple[Collective, float]]:
    """Return the operations that a rank takes part in, in order, each with bytes of its block.

    Ranks that are done with the first phase begin the second while others are still at the first;
    the sum of both phases does not know that, and counts the time of the slowest twice.

    Parameters
    ----------
    step, size
        The operation and its block in bytes. One without a grid, on rows of different lengths, or
        on a grid of nodes that are not known, is one operation of its own.
    rank, ranks
        Of the application.
    node_of
        Node of each of its ranks; None if not known.
    """
    members = np.array(step.among or range(ranks))
    if not step.grid:
        return [(step, size)]
    nodes = np.zeros(len(members), np.int64) if node_of is None else np.array(node_of)[members]
    per_node = None if node_of is None else int(np.unique(nodes, return_counts=True)[1].max())
    if step.grid == "nodes" and per_node is None:
        return [(step, size)]
    rows, length = grid_collectives.Grid.parse(step.grid).over(len(members), per_node)
    row, column = arranged(step.grid, length, nodes)
    if rows * length != len(members) or min(rows, length) == 1:
        return [(step, size)]
    position, root = ({int(r): k for k, r in enumerate(members)}[of] for of in (rank, step.root))
    operations: list[tuple[Collective, float]] = []
    for phase_number, phase in enumerate(
        grid_collectives.phases(step.op, rows, length, round(size))
    ):
        if phase.group == "LG" and step.op in ROOTED and column[position] != column[root]:
            continue
        along, across = (row, column) if phase.group == "CG" else (column, row)
        together = np.flatnonzero(along == along[position])
        leader = together[across[together] == across[root]][0]
        operation = GridPart(
            step.phase,
            phase.op,
            step.size,
            int(members[leader]),
            among=tuple(members[together].tolist()),
            whole=step,
            of=size,
            number=phase_number,
            group=phase.group,
        )
        operations.append((operation, float(phase.bytes)))
    return operations
