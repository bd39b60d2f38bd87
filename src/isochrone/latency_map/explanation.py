"""The explanation of a map: a time for each level, and what the slow parts add.

t_ij = base[level(i, j)] + the sum over the parts of x_k · w_k(i, j)

Of slow units at both ends the latencies add; of bandwidths the slower decides. What a unit adds has
a share of latency: 1, 0, or between these where a message has a bit of both.
"""

from operator import attrgetter

import numpy as np
from msgspec import field

from isochrone.base.arrays import Floats, Ints
from isochrone.base.record import Record
from isochrone.base.stats import INTERVAL_HALF, median_of
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import Partition, level_of

LEAVING, INSIDE, TOUCHING, ENDS = "leaving", "inside", "touching", "ends"
PATTERNS = (TOUCHING, LEAVING, INSIDE, ENDS)
LATENCY, BANDWIDTH = 1.0, 0.0
"""Share of latency in what a unit adds: of two slow ends both add, or the slower decides."""


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
    shares
        Share of latency in what each part adds; 1 of groups.
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
    shares: Floats
    errors: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def share(self) -> float:
        """The usual share of latency of the parts that are of units; 1 without any."""
        of_units = [component.of_units for component in self.parts]
        return median_of(self.shares[of_units]) if any(of_units) else LATENCY

    def is_group(self, component: Part) -> bool:
        """Whether a part is of a group, and not of units by themselves."""
        members = list(component.members)
        return len(members) > 1 and any(
            np.array_equal(np.flatnonzero(p == p[members[0]]), members) for p in self.chain
        )

    def base_of(self, times: Times) -> Floats:
        """Return the time of the level of each pair, in seconds."""
        return self.base[level_of(self.chain, times.i, times.j)]

    def added(self, component: Part, seconds: float, times: Times) -> Floats:
        """Return what a part adds to each pair by itself, in seconds."""
        often = component.weight(times)
        if component in self.parts and component.of_units:
            often = np.where(often > 1, 1 + self.shares[self.parts.index(component)], often)
        weight = seconds * often
        if component.scaled:
            weight *= self.scale[level_of(self.chain, times.i, times.j)]
        return weight

    def extra(self, times: Times, seconds: Floats) -> Floats:
        """Return what all parts add to each pair, in seconds, if each adds so much."""
        extra, slower = np.zeros((2, len(times.i)))
        for component, component_seconds, share in zip(
            self.parts, seconds, self.shares, strict=True
        ):
            added = self.added(component, component_seconds, times)
            if component.of_units:
                bandwidth = (1 - share) * np.minimum(added, component_seconds)
                np.maximum(slower, bandwidth, out=slower)
                added -= bandwidth
            extra += added
        return np.asarray(extra + slower)

    def healthy(self, times: Times) -> Floats:
        """Return the times of the pairs without what the parts add, in seconds."""
        floor = np.minimum(times.seconds, 0.3 * self.base_of(times))
        return np.maximum(times.seconds - self.extra(times, self.seconds), floor)


class Estimator(Record):
    """Estimates the times of pairs by the explanation of a map.

    Attributes
    ----------
    node
        Node of each rank.
    cost
        What each rank adds by itself, in seconds.
    outer, inner
        The explanations between nodes and within them; None where nothing was measured.
    spread
        Relative standard deviation of the pairs of ranks of two nodes.
    """

    node: Partition
    cost: Floats
    outer: Explanation | None
    inner: Explanation | None
    spread: float

    def of(self, i: Ints, j: Ints) -> tuple[Floats, Floats]:
        """Return the round trips of pairs of ranks, and half of their 95 % intervals, in seconds.

        NaN where no pair of the same level was measured. The interval holds the times of pairs that
        nothing single slows: a slow pair is seen only if it is measured.
        """
        seconds, half = np.full((2, len(i)), np.nan)
        a, b = self.node[i], self.node[j]
        outer = a != b
        if self.outer is not None:
            estimate = _estimate(self.outer, self.spread, a[outer], b[outer])
            seconds[outer], half[outer] = estimate
            seconds[outer] += self.cost[i[outer]] + self.cost[j[outer]]
        if self.inner is not None:
            seconds[~outer], half[~outer] = _estimate(self.inner, 0.0, i[~outer], j[~outer])
        return seconds, half


def _estimate(fit: Explanation, spread: float, i: Ints, j: Ints) -> tuple[Floats, Floats]:
    """Return the times of pairs of units by an explanation, and half of their intervals."""
    none = np.zeros(len(i))
    times = Times(len(fit.chain[-1]), i, j, none, none, fit.chain[-1])
    seconds, variance = fit.base_of(times) + fit.extra(times, fit.seconds), none
    for component, error in zip(fit.parts, fit.errors, strict=True):
        variance = variance + fit.added(component, error, times) ** 2
    scatter = seconds * np.hypot(fit.spread, spread)
    return seconds, INTERVAL_HALF * np.sqrt(variance + scatter**2)


length_of = attrgetter("length")
"""Of several explanations the shortest is wanted."""
