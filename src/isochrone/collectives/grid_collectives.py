"""Collective operations as two operations of the library on a grid of ranks.

Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of Communication
Operations*, section 2. LG are the groups across rows, CG the rows, which work concurrently. The
table of phases is that of ``probe/grid/collectives.h``.
"""

from __future__ import annotations

import re
from typing import Literal

from isochrone.base.errors import InputError
from isochrone.base.operations import ROOTED
from isochrone.base.record import Record

LIBRARY = "library"
"""Name of the library's own algorithm in place of a grid."""

MAX_RANKS = 2**24

Group = Literal["LG", "CG"]
NAMES = {"LG": "columns", "CG": "rows"}
"""Groups as they are called in output."""

WORD = re.compile(r"(?:([1-9]\d{0,8})x([1-9]\d{0,8})|rows-of-([1-9]\d{0,8})|(nodes))")
"""A grid as it is typed."""

_PARTS: dict[str, tuple[tuple[Group, str, str], tuple[Group, str, str]]] = {
    "bcast": (("LG", "bcast", ""), ("CG", "bcast", "")),
    "scatter": (("LG", "scatter", "p2"), ("CG", "scatter", "")),
    "gather": (("CG", "gather", ""), ("LG", "gather", "p2")),
    "reduce": (("CG", "reduce", ""), ("LG", "reduce", "")),
    "allreduce": (("CG", "allreduce", ""), ("LG", "allreduce", "")),
    "allgather": (("CG", "allgather", ""), ("LG", "allgather", "p2")),
    "alltoall": (("CG", "alltoall", "p1"), ("LG", "alltoall", "p2")),
    "reduce_scatter_block": (
        ("CG", "reduce_scatter_block", "p1"),
        ("LG", "reduce_scatter_block", ""),
    ),
}

OPERATIONS = tuple(_PARTS)


class Grid(Record):
    """Ranks arranged in rows.

    Attributes
    ----------
    word
        As the user types it: ``4x8``, ``rows-of-5`` or ``nodes``.
    rows, length
        p1 and p2; 0 where the word leaves them open.
    """

    word: str
    rows: int = 0
    length: int = 0

    @classmethod
    def parse(cls, text: str) -> Grid:
        """Read what the user typed.

        Raises
        ------
        InputError
            If it is not a grid.
        """
        match = WORD.fullmatch(text)
        if match is None:
            raise InputError(f"'{text[:40]}' is not a grid", hint="try 4x8, rows-of-8 or nodes")
        rows, length, of, _ = match.groups()
        return cls(text, int(rows or 0), int(length or of or 0))

    def over(self, ranks: int, per_node: int | None = None) -> tuple[int, int]:
        """Return p1 and p2 for a number of ranks: rows, and ranks of the longest row.

        ``per_node`` are the ranks on a full node, which ``nodes`` needs.

        Raises
        ------
        InputError
            If the ranks do not fill it, or the ranks on a node are not known.
        """
        if self.rows:
            if self.rows * self.length != ranks:
                raise InputError(
                    f"grid {self.word} has {self.rows * self.length} ranks, not {ranks}"
                )
            return self.rows, self.length
        length = self.length or per_node
        if not length:
            raise InputError(
                "the grid 'nodes' needs the number of ranks on each node", hint="give --ppn"
            )
        length = min(length, ranks)
        return -(-ranks // length), length


class Phase(Record):
    """One phase: an operation of the library in one or several groups of ranks.

    Attributes
    ----------
    group
        ``LG`` or ``CG``.
    op
        Operation of the library.
    ranks
        Of one group (the largest).
    bytes
        Block of one rank.
    groups
        How many work at the same time.
    """

    group: Group
    op: str
    ranks: int
    bytes: int
    groups: int


def phases(op: str, rows: int, length: int, size: int) -> tuple[Phase, Phase]:
    """Return the phases of an operation on ``rows`` (p1) rows of ``length`` (p2) ranks.

    ``size`` is the block of one rank in bytes.

    Raises
    ------
    InputError
        If there is no such operation.
    """
    if op not in _PARTS:
        raise InputError(
            f"'{op[:40]}' has no two-phase algorithm", hint=f"one of {', '.join(_PARTS)}"
        )
    times = {"": 1, "p1": rows, "p2": length}
    first, second = (
        Phase(group, name, length, times[factor] * size, rows)
        if group == "CG"
        else Phase(group, name, rows, times[factor] * size, 1 if op in ROOTED else length)
        for group, name, factor in _PARTS[op]
    )
    return first, second


def all_grids(ranks: int) -> list[Grid]:
    """List the grids with two or more rows of two or more ranks that are filled; shortest first."""
    if not 1 <= ranks <= MAX_RANKS:
        raise InputError(f"{ranks} ranks are outside 1 to {MAX_RANKS}")
    lengths = [k for k in range(2, ranks // 2 + 1) if ranks % k == 0]
    return [Grid(f"{ranks // k}x{k}", ranks // k, k) for k in lengths]
