"""When the members of a collective operation leave it, as parts of the time of the operation.

A formula is of the member that is done last. In a broadcast the root may go on at once, who sends
to a root does not wait for all others, and an allreduce may end in a tree: a program that repeats
an operation, or does something after it, gets back part of its time. What was measured of it is
kept beside formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from isochrone.runfile.columns import MAX_SECONDS

__all__ = ["MOST", "Leaving", "leaving", "nearest"]

_TOGETHER: Final = 0.98
"""Members that leave no earlier than this part of the time leave together."""

MOST: Final = 64
"""Members that are kept of an operation; of more, this many that are spread evenly."""

_DIGITS: Final = 4


class Leaving(msgspec.Struct, frozen=True):
    """One operation of so many ranks and bytes.

    Attributes
    ----------
    op, ranks, bytes
        What was measured; ``bytes`` is the block of one rank.
    parts
        When each member was done, counted from the root, as a part of the time of the operation;
        of more than `MOST` members, of those that are spread evenly.
    group
        Of grids: ``CG``, a row or all ranks, or ``LG``, a column; empty where that is not told.
    """

    op: str
    ranks: int
    bytes: int
    parts: list[float]
    group: str = ""

    def of(self, member: int, ranks: int) -> float:
        """Return the part of a member of an operation of so many ranks."""
        return self.parts[min(member * len(self.parts) // ranks, len(self.parts) - 1)]


def leaving(columns: Mapping[str, NDArray[Any]]) -> list[Leaving]:
    """Return what samples say of operations that not all leave together: medians.

    Parameters
    ----------
    columns
        Of the samples that count: ``op``, ``p``, ``bytes``, ``times`` of the members, ``root``
        (of the first member, where there is no such column), and ``group``, of runs with grids.
        Without ``times`` nothing is said.
    """
    if not {"op", "p", "bytes", "times"} <= set(columns):
        return []
    found: dict[tuple[str, int, int, str], list[NDArray[np.float64]]] = {}
    samples = len(columns["op"])
    roots = columns.get("root", np.zeros(samples, dtype=np.int64))
    groups = columns.get("group", np.full(samples, ""))
    for op, ranks, size, times, root, group in zip(
        *(columns[name].tolist() for name in ("op", "p", "bytes", "times")), roots.tolist(),
        groups.tolist(), strict=True,
    ):  # fmt: skip
        whole = all(type(n) in (int, float) and abs(n) < 2**53 for n in (ranks, size, root))
        if not whole or not _usable(times, int(ranks)):
            continue
        from_root = np.roll(np.array(times, dtype=np.float64), -int(root))
        key = str(op), len(times), int(size), str(group)
        found.setdefault(key, []).append(from_root / from_root.max())
    typical = {key: np.median(rows, axis=0) for key, rows in found.items()}
    return [
        Leaving(op, ranks, size, _spread(parts), group)
        for (op, ranks, size, group), parts in typical.items()
        if parts.min() < _TOGETHER
    ]


def nearest(
    known: Iterable[Leaving], op: str, ranks: int, size: int, group: str = "CG"
) -> Leaving | None:
    """Return what is nearest to an operation that is asked for; None if there is nothing."""

    def away(one: Leaving) -> tuple[float, float]:
        apart = abs(math.log2(max(one.bytes, 1)) - math.log2(max(size, 1)))
        return abs(math.log2(one.ranks) - math.log2(max(ranks, 1))), apart

    fitting = (one for one in known if one.op == op and one.group in ("", group))
    return min(fitting, key=away, default=None)


def _usable(times: object, ranks: int) -> bool:
    """Whether there is a possible time of each rank."""
    return (
        isinstance(times, list) and len(times) == ranks > 1
        and all(type(t) in (int, float) and 0 <= t <= MAX_SECONDS for t in times) and max(times) > 0
    )  # fmt: skip


def _spread(parts: NDArray[np.float64]) -> list[float]:
    keep = np.arange(min(len(parts), MOST)) * len(parts) // min(len(parts), MOST)
    return [float(part) for part in np.round(parts[keep], _DIGITS)]
