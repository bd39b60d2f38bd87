"""Workloads: who sends what to whom. ONE FILE = ONE PATTERN or one rule.

An access pattern (`tile_io`, `block_array`, `rows`, `columns`, `table`) says which ranks touch
which bytes of a file; `file_domains` cuts the file into the parts that aggregators serve;
`aggregators` says which ranks those are; `traffic` puts them together into messages.

A pattern has

``ranks``
    How many ranks take part.
``extent``
    First byte, and byte after the last, that the call touches.
``interleaved``
    Whether the accesses of the ranks lie between each other. ROMIO exchanges data only then,
    unless ``romio_cb_write`` or ``romio_cb_read`` is ``enable`` (MPICH, ``ad_write_coll.c``).
``touches(starts, ends) -> Runs``
    Which ranks touch the windows ``[start, end)`` of the file, which do not overlap.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ints", "Pattern", "Runs"]

Ints = NDArray[np.int64]


class Runs(NamedTuple):
    """Ranks that touch windows, as runs ``first`` … ``last - 1`` of neighbouring ranks.

    Runs of the same window do not overlap.
    """

    window: Ints
    first: Ints
    last: Ints


class Pattern(Protocol):
    """What every access pattern has."""

    @property
    def ranks(self) -> int:
        """Number of ranks."""

    @property
    def extent(self) -> tuple[int, int]:
        """First byte, and byte after the last."""

    @property
    def interleaved(self) -> bool:
        """Whether the accesses of the ranks lie between each other."""

    def touches(self, starts: Ints, ends: Ints) -> Runs:
        """Say which ranks touch each window of the file."""
