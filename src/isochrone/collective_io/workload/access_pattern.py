"""Interface of access patterns: which ranks access which bytes of a file."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from isochrone.collective_io.workload import Ints


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
