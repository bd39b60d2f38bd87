"""What a program was seen to do: the calls of each rank, repetition folded.

A recording writes it, imports of traces make it, and a description is derived from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

SENDS: Final = ("send", "isend")
RECEIVES: Final = ("recv", "irecv")
MESSAGES: Final = (*SENDS, *RECEIVES, "wait")

CYCLE: Final = 12
"""Turns of an outermost loop whose gaps are kept apart: what a rank repeats may be a half, a third
or a quarter of what the program does."""


@dataclass
class Gap:
    """Computation before a call, at one place of the program, over all times it came there.

    Attributes
    ----------
    count
        How often.
    total, least, most
        Seconds.
    tenths
        Number of gaps by decade tenths: key k counts those of 10**(k/10) to 10**((k+1)/10) seconds.
    """

    count: int = 0
    total: float = 0.0
    least: float = float("inf")
    most: float = 0.0
    tenths: dict[int, int] = field(default_factory=dict)

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

    def add(self, other: Gap) -> None:
        """Add those of another place."""
        self.count += other.count
        self.total += other.total
        self.least = min(self.least, other.least)
        self.most = max(self.most, other.most)
        for tenth, count in other.tenths.items():
            self.tenths[tenth] = self.tenths.get(tenth, 0) + count


@dataclass
class Call:
    """One call of MPI, or many that are alike at one place.

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
        Computation since the call before it.
    seconds
        In the call, summed.
    turns
        The gap by turn of all loops around the call, in order, those of the outermost counted up to
        `CYCLE` and then from the first again; empty where they were not kept apart.
    """

    op: str
    peer: int = -1
    bytes: float = 0.0
    root: int = -1
    members: int = 0
    gap: Gap = field(default_factory=Gap)
    seconds: float = 0.0
    turns: list[Gap] = field(default_factory=list)


@dataclass
class Loop:
    """A part that was repeated `count` times in a row."""

    count: int
    body: list[Call | Loop]


@dataclass
class Trace:
    """All ranks of a program: `ranks[r]` is what rank r did from MPI_Init to MPI_Finalize.

    `groups[0]` are all ranks in order; others are those of further communicators. `tail` are the
    seconds of computation after the last call, by rank. `warnings` say what was left out.
    """

    ranks: list[list[Call | Loop]]
    groups: list[tuple[int, ...]]
    tail: list[float] = field(default_factory=list)
    name: str = "program"
    warnings: list[str] = field(default_factory=list)
