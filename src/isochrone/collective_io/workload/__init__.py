"""Workloads: access patterns, file domains, aggregators and messages.

An access pattern (`pattern`, `patterns`) defines which ranks access which bytes of a file;
`call` cuts the file into the parts that aggregators serve, and selects these ranks; `traffic`
computes the messages by rank and by node.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

Floats = NDArray[np.float64]


Numbers = Sequence[int] | Ints
"""Ranks or hosts, by number."""


def in_portions(ask: Callable[..., Floats], limit: int, *columns: NDArray[Any]) -> Floats:
    """Evaluate many rows in portions of at most ``limit`` (or one), which fit into caches."""
    step = max(1, limit)
    starts = range(0, max(1, len(columns[0])), step)
    return np.concatenate([ask(*(column[k : k + step] for column in columns)) for k in starts])


def expanded(low: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return for numbers ``low`` … ``low + each - 1`` which row they are of, and the numbers."""
    row = np.repeat(np.arange(len(low)), counts)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts - low, counts)


class Runs(NamedTuple):
    """Ranks that touch windows, as runs ``first`` … ``last - 1`` of neighbouring ranks.

    A rank may be in several runs of the same window: what it touches there is their sum. ``bytes``
    and ``pieces`` are those of each single rank of a run; a piece is contiguous in the file.
    """

    window: Ints
    first: Ints
    last: Ints
    bytes: Ints
    pieces: Ints


class FileWindows(NamedTuple):
    """Parts ``[start, end)`` of the file; each belongs to one domain and is moved in one round."""

    domain: Ints
    round_index: Ints
    start: Ints
    end: Ints
    domains: int

    @property
    def rounds(self) -> int:
        """Rounds of the exchange."""
        return int(self.round_index.max(initial=0)) + 1


class AccessPattern(Protocol):
    """Which ranks touch which bytes of a file."""

    @property
    def ranks(self) -> int:
        """Number of ranks that take part."""

    @property
    def extent(self) -> tuple[int, int]:
        """First byte, and byte after the last, that the call touches."""

    @property
    def interleaved(self) -> bool:
        """Whether the accesses of the ranks interleave.

        ROMIO exchanges data only then, unless ``romio_cb_write`` or ``romio_cb_read`` is
        ``enable`` (MPICH, ``ad_write_coll.c``).
        """

    def touches(self, starts: Ints, ends: Ints) -> Runs:
        """Ranks that access each window ``[start, end)`` of the file; windows do not overlap."""

    def touched(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Return the first byte touched in each window, and the one after the last.

        They are equal for empty windows.
        """
