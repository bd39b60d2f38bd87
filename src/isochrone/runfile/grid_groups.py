"""Which ranks are together in a phase of a grid collective, and on which nodes they are.

A grid arranges ranks in rows (``workloads/grid_collectives.py``): the rows are the groups called
CG, the columns across them those called LG. What a group costs depends on where its ranks are: a
row of consecutive ranks fills nodes, a column takes one rank of each of many.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isochrone.base.arrays import Ints


@dataclass(frozen=True)
class Place:
    """Where the ranks of a group are.

    Attributes
    ----------
    nodes
        How many it touches.
    ppn
        Ranks of it on a node, the most.
    sharing
        Groups with a member on the same node, the most; 1 where one group works alone.
    stride
        From one rank of it to the next, 1 for ranks that follow each other.
    """

    nodes: int
    ppn: int
    sharing: int
    stride: int

    def filled(self, ranks: int) -> tuple[int, int]:
        """Return nodes and ranks on each as a model takes them, which knows filled nodes only.

        Where the ranks are uneven, the fullest node decides: it is the last to be done.
        """
        return -(-ranks // self.ppn), self.ppn


def ranks_on_nodes(ranks: int, nodes: int, per_node: int, *, cyclic: bool = False) -> Ints:
    """Return the node of each rank, shape (ranks): node after node, or one rank on each in turn."""
    rank = np.arange(ranks, dtype=np.int64)
    return rank % nodes if cyclic else rank // per_node


def arranged(grid: str, length: int, node_of: ArrayLike) -> tuple[Ints, Ints]:
    """Return the row of each rank and its place in that row, both of shape (ranks).

    Parameters
    ----------
    grid
        The grid as it is typed; of ``nodes`` each node is a row, else rows are consecutive ranks.
    length
        Ranks of a row; of no meaning to ``nodes``.
    node_of
        Node of each rank, shape (ranks).
    """
    nodes = np.unique(np.asarray(node_of), return_inverse=True)[1].ravel().astype(np.int64)
    rank = np.arange(len(nodes), dtype=np.int64)
    if grid != "nodes":
        return rank // length, rank % length
    order = np.argsort(nodes, kind="stable")
    first = np.searchsorted(nodes[order], nodes[order])
    column = np.empty_like(rank)
    column[order] = rank - first
    return nodes, column


def place_of(members: Sequence[int] | Ints, groups: ArrayLike, node_of: ArrayLike) -> Place:
    """Return where a group is, and how many others share a node with each other.

    Parameters
    ----------
    members
        Ranks of the group.
    groups
        Number of the group of each rank that works in this phase, -1 of the others.
    node_of
        Node of each rank, of the same shape.
    """
    groups, node_of = np.asarray(groups), np.asarray(node_of)
    per_node = np.unique(node_of[members], return_counts=True)[1]
    at_work = np.unique(np.column_stack([node_of, groups])[groups >= 0], axis=0)
    sharing = np.unique(at_work[:, 0], return_counts=True)[1]
    stride = int(members[1] - members[0]) if len(members) > 1 else 1
    return Place(len(per_node), int(per_node.max()), int(sharing.max(initial=1)), stride)
