"""What a program was seen to do: the calls of each rank in their order.

A recording and imports of traces make it, and a description is derived from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

SENDS = ("send", "isend")
RECEIVES = ("recv", "irecv")
MESSAGES = (*SENDS, *RECEIVES, "wait")


@dataclass
class Gap:
    """Computation before a call, at one place of the program, over all times it was reached.

    Attributes
    ----------
    count
        How often.
    total, least, most
        Seconds.
    tenths
        Number of gaps by decade tenths: key k counts those of 10**(k/10) to 10**((k+1)/10) seconds.
    """

    count: float = 0
    total: float = 0.0
    least: float = float("inf")
    most: float = 0.0
    tenths: dict[int, float] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Mean in seconds; 0 of none."""
        return self.total / self.count if self.count else 0.0

    def note(self, seconds: float) -> None:
        """Add one gap; less than a nanosecond is none, as clocks cannot tell."""
        seconds = seconds if seconds > 1e-9 else 0.0
        self.count += 1
        self.total += seconds
        self.least = min(self.least, seconds)
        self.most = max(self.most, seconds)
        tenth = math.floor(10 * math.log10(seconds or 1e-9))
        self.tenths[tenth] = self.tenths.get(tenth, 0) + 1

    def add(self, gap: Gap, share: float = 1.0) -> None:
        """Add a share of those of another place."""
        self.count += gap.count * share
        self.total += gap.total * share
        self.least = min(self.least, gap.least)
        self.most = max(self.most, gap.most)
        for tenth, count in gap.tenths.items():
            self.tenths[tenth] = self.tenths.get(tenth, 0) + count * share


class Event(NamedTuple):
    """One call of MPI.

    Attributes
    ----------
    op
        ``send recv isend irecv wait`` (all that is open) or a collective as in ``measure
        collective`` (``allreduce`` …, ``barrier``); v-operations under the name without v.
    peer
        Of a message: rank in the world; -1: any or none.
    bytes
        Of the message, or of the block of the collective; a mean where calls differ.
    root
        Of a rooted collective, in the world; else -1.
    members
        Index into `Trace.groups` of the communicator of a collective; 0: all ranks.
    gap
        Seconds of computation since the call before it.
    seconds
        In the call.
    seen
        If the gap is a mean: all those that it is the mean of.
    any
        Whether it is a receive from any source.
    site
        Index into `Trace.sites` of the place in the program's code; -1: not known.
    """

    op: str
    peer: int = -1
    bytes: float = 0.0
    root: int = -1
    members: int = 0
    gap: float = 0.0
    seconds: float = 0.0
    seen: Gap | None = None
    any: bool = False
    site: int = -1


Calls = list[Event]
"""Of one rank, in their order."""


Site = tuple[str, int]
"""A file of machine code, and the offset of an instruction in it, bytes."""


@dataclass
class Trace:
    """All ranks of a program: `ranks[r]` is what rank r did from MPI_Init to MPI_Finalize.

    Attributes
    ----------
    groups
        Ranks of communicators; those of number 0 are all, in order.
    tail
        Seconds of computation after the last call, by rank.
    name
        Of the program.
    warnings
        What was taken for something else.
    omitted
        Seconds of calls that have no place in a description, by what they are.
    whole
        Run time of the slowest rank, as it was recorded; 0: not known.
    sites
        Places in the program's code that calls were made from: a file, and an offset in it.
    """

    ranks: list[Calls]
    groups: list[tuple[int, ...]]
    tail: list[float] = field(default_factory=list)
    name: str = "program"
    warnings: list[str] = field(default_factory=list)
    omitted: dict[str, float] = field(default_factory=dict)
    whole: float = 0.0
    sites: list[Site] = field(default_factory=list)

    @property
    def longest(self) -> float:
        """Of the slowest rank, in calls and between them; without what is omitted."""
        return max(self._each())

    @property
    def run_time(self) -> float:
        """Of the slowest rank, all included."""
        return self.whole or self.longest

    @property
    def seconds(self) -> float:
        """Of all ranks, in calls and between them."""
        return sum(self._each()) + sum(self.omitted.values())

    def _each(self) -> Iterator[float]:
        tails = self.tail or [0.0] * len(self.ranks)
        for events, tail in zip(self.ranks, tails, strict=True):
            yield sum(event.gap + event.seconds for event in events) + tail
