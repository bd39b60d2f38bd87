"""Any access at all: a file with lines ``rank,offset,length``, in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from isochrone.base.errors import InputError
from isochrone.workloads import Ints
from isochrone.workloads.access_pattern import Runs
from isochrone.workloads.pattern import Option, Options, Pattern

__all__ = ["PATTERN", "Accesses", "read"]

MAX_RANKS: Final = 2**24
MAX_OFFSET: Final = 2**62


@dataclass(frozen=True)
class Accesses:
    """Pieces of a file and the ranks that touch them, in any order."""

    rank: Ints
    offset: Ints
    length: Ints

    @property
    def ranks(self) -> int:
        """Number of ranks: one more than the highest in the table."""
        return int(self.rank.max()) + 1

    @property
    def extent(self) -> tuple[int, int]:
        """First byte, and byte after the last."""
        return int(self.offset.min()), int((self.offset + self.length).max())

    @property
    def interleaved(self) -> bool:
        """Whether a rank begins before the last byte of the rank before it, as ROMIO asks."""
        start = np.full(self.ranks, MAX_OFFSET)
        end = np.zeros(self.ranks, np.int64)
        np.minimum.at(start, self.rank, self.offset)
        np.maximum.at(end, self.rank, self.offset + self.length)
        present = end > 0
        return bool(np.any(start[present][1:] < end[present][:-1] - 1))

    def touches(self, starts: Ints, ends: Ints) -> Runs:
        """Say which ranks touch each window; windows do not overlap."""
        order = np.argsort(starts, kind="stable")
        low = np.searchsorted(ends[order], self.offset, side="right")
        high = np.searchsorted(starts[order], self.offset + self.length, side="left")
        each = np.maximum(high - low, 0)
        pick = np.repeat(np.arange(len(self.rank)), each)
        place = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each) + low[pick]
        window, rank = order[place], self.rank[pick]
        start = np.maximum(self.offset[pick], starts[window])
        end = np.minimum((self.offset + self.length)[pick], ends[window])
        return Runs(window, rank, rank + 1, end - start, np.ones_like(rank))


def read(path: Path) -> Accesses:
    """Read a table: three whole numbers a line, with commas or blanks; ``#`` and a heading may be.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not an access.
    """
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", where=str(path)) from error
    accesses: list[tuple[int, int, int]] = []
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        if words and not (not accesses and words == ["rank", "offset", "length"]):
            accesses.append(_access(words, f"{path}:{number}"))
    accesses = [access for access in accesses if access[2]]
    if not accesses:
        raise InputError("it holds no access", where=str(path), hint="write rank,offset,length")
    rank, offset, length = np.array(accesses, dtype=np.int64).T
    return Accesses(rank, offset, length)


def _access(words: Sequence[str], where: str) -> tuple[int, int, int]:
    if len(words) != 3 or not all(w.isascii() and w.isdigit() and len(w) < 20 for w in words):
        raise InputError("not a line of rank, offset and length", where=where)
    rank, offset, length = map(int, words)
    if rank >= MAX_RANKS or offset + length > MAX_OFFSET:
        raise InputError("a rank or an offset beyond all bounds", where=where)
    return rank, offset, length


def _make(options: Options, ranks: int) -> Accesses:
    return read(options["table"])


PATTERN: Final = Pattern(
    option=Option("--table", "lines of rank,offset,length, in bytes", "FILE", Path),
    make=_make,
    position=50,
)
