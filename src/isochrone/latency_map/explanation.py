"""The explanation of a map: a time for each level, and what the slow parts add.

t_ij = base[level(i, j)] + the sum over the parts of x_k · w_k(i, j)

Of slow units at both ends the latencies add; of bandwidths the slower decides. So of the lesser of
the two only a share counts: 1, 0, or between these where a message has a bit of both.
"""

from operator import attrgetter

import numpy as np
from msgspec import field

from isochrone.base.arrays import Floats
from isochrone.base.record import Record
from isochrone.latency_map.partitions import Partition, level_of
from isochrone.latency_map.times import Times

LEAVING, INSIDE, TOUCHING, ENDS = "leaving", "inside", "touching", "ends"
PATTERNS = (TOUCHING, LEAVING, INSIDE, ENDS)
LATENCY, BANDWIDTH = 1.0, 0.0
"""Shares of the lesser of two slow ends."""


class Part(Record):
    """Something that may be slow: a unit, or a group of units.

    Attributes
    ----------
    pattern
        Pairs that it slows: those that are ``leaving`` the group, ``inside`` it, ``touching`` it
        (either), or all its ``ends``: twice for a pair inside, as if each unit were slow.
    members
        Its units. Only ``ends`` may be of units that are no group: each is slow by the same time.
    scaled
        Whether it adds a part of the time of each level, and not the same time to all.
    """

    pattern: str
    members: tuple[int, ...]
    scaled: bool = False

    @property
    def of_units(self) -> bool:
        """Whether it is of units by themselves: one, or several that are slow alike."""
        return self.pattern == ENDS or len(self.members) == 1

    def weight(self, times: Times) -> Floats:
        """Return how often it slows each pair."""
        member = np.zeros(times.units, dtype=np.int64)
        member[list(self.members)] = 1
        ends = member[times.i] + member[times.j]
        often = {LEAVING: ends == 1, INSIDE: ends == 2, TOUCHING: ends > 0, ENDS: ends}
        return np.asarray(often[self.pattern], dtype=float)


class Explanation(Record):
    """One explanation.

    Attributes
    ----------
    chain
        Groups of each level, the closest first; the last is the root.
    base
        Time of each level in seconds; NaN where it has no pair.
    parts, seconds
        The slow parts, and what each adds to a pair that it slows once.
    expected
        What is expected of each pair, in seconds.
    spread
        Standard deviation of log(measured / expected) but for the pairs' own errors and strays.
    length
        Description length in nats; infinite where a part takes time off, or a level is not farther
        than the one before.
    scale
        Time of each level over that of the slowest, by which scaled parts add.
    share
        Part of the lesser of two slow ends that adds: 1 for latencies, 0 for bandwidths.
    errors
        Standard error of what each part adds, in seconds; empty until the search has ended.
    """

    chain: tuple[Partition, ...]
    base: Floats
    parts: tuple[Part, ...]
    seconds: Floats
    expected: Floats
    spread: float
    length: float
    scale: Floats
    errors: Floats = field(default_factory=lambda: np.zeros(0))
    share: float = LATENCY

    def is_group(self, part: Part) -> bool:
        """Whether a part is of a group, and not of units by themselves."""
        members = list(part.members)
        return len(members) > 1 and any(
            np.array_equal(np.flatnonzero(p == p[members[0]]), members) for p in self.chain
        )

    def base_of(self, times: Times) -> Floats:
        """Return the time of the level of each pair, in seconds."""
        return self.base[level_of(self.chain, times.i, times.j)]

    def added(self, part: Part, seconds: float, times: Times) -> Floats:
        """Return what a part adds to each pair, in seconds."""
        often = part.weight(times)
        if part.of_units:
            often = np.where(often > 1, 1 + self.share, often)
        weight = seconds * often
        if part.scaled:
            weight *= self.scale[level_of(self.chain, times.i, times.j)]
        return weight

    def extra(self, times: Times, seconds: Floats, *, units: bool = False) -> Floats:
        """Return what all parts add to each pair, in seconds, if each adds so much."""
        extra, both, slower = np.zeros((3, len(times.i)))
        for part, own in zip(self.parts, seconds, strict=True):
            if units and self.is_group(part):
                continue
            added = self.added(part, own, times)
            if part.of_units:
                both += added
                np.maximum(slower, added, out=slower)
            else:
                extra += added
        return np.asarray(extra + slower + self.share * (both - slower))

    def healthy(self, times: Times, *, units: bool = False) -> Floats:
        """Return the times of the pairs without what the parts add, in seconds.

        Parameters
        ----------
        times
            The map, or some pairs of it.
        units
            Take off only what units by themselves add, and not what groups do.
        """
        extra = self.extra(times, self.seconds, units=units)
        least = np.minimum(times.seconds, 0.3 * self.base_of(times))
        return np.maximum(times.seconds - extra, least)


length_of = attrgetter("length")
"""Of several explanations the shortest is wanted."""
