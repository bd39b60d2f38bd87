"""Successive halving over proposals, then a paired confirmation of the winner.

The two steps share no measurements. *Heats* choose: all proposals are started in turn, and losers
drop out until one is left. The *duel* confirms: the winner and the given settings are started in
pairs, and only these pairs enter the intervals. This removes the selection bias of the heats.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from isochrone.base.inference import Speedup, speedup

GIVEN = "given"

MARGIN = 0.02
"""The whole program is not to become slower by more than this part."""

CLEAR = 1.25
"""A proposal slower than the fastest of a heat by this factor always drops out."""

HOPELESS = 1.05
"""No duel if the fastest is slower than the given settings by this factor."""

FAILED = "it failed"

LIKELY = 1.05
"""Expected gain above which an inconclusive duel is extended."""


@dataclass(frozen=True)
class Timed:
    """One start of the program.

    Attributes
    ----------
    calls
        Seconds within collective reads and writes: the sum over the calls of the maximum over
        the ranks.
    whole
        Seconds from the start of the command to its end.
    """

    calls: float
    whole: float


Start = Callable[[str], Timed | None]
"""Starts the program with the proposal of this name; None: it failed."""


@dataclass
class Heats:
    """Result of the heats.

    Attributes
    ----------
    times
        All starts of each proposal.
    dropped
        Why a proposal dropped out, by name.
    winner
        The fastest; None: none qualifies for a duel.
    """

    times: dict[str, list[Timed]] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    winner: str | None = None

    def best(self, name: str) -> float:
        """Return the least seconds of a proposal: disturbances only slow a start down."""
        return min(one.calls for one in self.times[name])

    def fastest(self, names: Iterable[str]) -> str | None:
        """Return the fastest of some proposals; None if none qualifies for a duel."""
        timed = [one for one in names if one in self.times and self.dropped.get(one) != FAILED]
        name = min(timed, key=self.best, default=None)
        if name is None or GIVEN not in self.times:
            return None
        return name if self.best(name) <= HOPELESS * self.best(GIVEN) else None


def heats(start: Start, ways: Sequence[str]) -> Heats:
    """Start all proposals, then repeatedly the better half, until one is left."""
    found = Heats()
    left = list(ways)
    number = 0
    while left and (number == 0 or len(left) > 1):
        number += 1
        for name in [GIVEN, *left] if number % 2 else [*reversed(left), GIVEN]:
            timed = start(name)
            if timed is not None:
                found.times.setdefault(name, []).append(timed)
            elif name != GIVEN:
                found.dropped[name] = FAILED
        left = sorted((w for w in left if w not in found.dropped), key=found.best)
        for name in left[1:]:
            place = left.index(name)
            if found.best(name) > CLEAR * found.best(left[0]) or place >= (len(left) + 1) // 2:
                found.dropped[name] = f"slower in heat {number}"
        left = [name for name in left if name not in found.dropped]
    found.winner = found.fastest(left)
    if left and found.winner is None:
        found.dropped[left[0]] = "not faster than the given settings"
    return found


@dataclass(frozen=True)
class Duel:
    """Pairs of starts: as given, and as proposed.

    Attributes
    ----------
    given, proposed
        The starts; those of a pair have followed each other.
    calls, whole
        What was gained: of the collective calls, and of the whole program.
    """

    given: list[Timed]
    proposed: list[Timed]
    calls: Speedup
    whole: Speedup

    @property
    def why_not(self) -> str:
        """Reason to reject the proposal; empty to accept it."""
        if self.calls.low <= 1:
            return "the collective calls are not significantly faster"
        if self.whole.low <= 1 - MARGIN:
            return f"the whole program may be slower by more than {100 * MARGIN:.0f} % of its time"
        return ""

    @property
    def likely(self) -> bool:
        """Whether more pairs may confirm a sufficient gain."""
        return self.calls.ratio > LIKELY and self.whole.high > 1 - MARGIN


def duel(start: Start, name: str, launches: int, most: int) -> Duel | None:
    """Start the given settings and a proposal in pairs; None if it fails.

    The order alternates between pairs, which cancels drift. The verdict follows after ``launches``
    pairs; if it is inconclusive and a gain is likely, again after twice and four times as many, up
    to ``most`` pairs.
    """
    given: list[Timed] = []
    proposed = []
    for pairs in dict.fromkeys(max(launches, min(most, k * launches)) for k in (1, 2, 4)):
        for number in range(len(given), pairs):
            pair = (GIVEN, name) if number % 2 == 0 else (name, GIVEN)
            times = {way: start(way) for way in pair}
            ours, theirs = times[GIVEN], times[name]
            if ours is None or theirs is None:
                return None
            given.append(ours)
            proposed.append(theirs)
        calls, whole = (
            speedup([getattr(one, what) for one in given], [getattr(one, what) for one in proposed])
            for what in ("calls", "whole")
        )
        found = Duel(given, proposed, calls, whole)
        if not (found.why_not and found.likely):
            break
    return found


def most_starts(ways: int, pairs: int) -> int:
    """Return how often the program is started in heats and duels, without the extra time."""
    heat, left = 0, ways
    while left and (heat == 0 or left > 1):
        heat += left + 1
        left = (left + 1) // 2
    return heat + 2 * pairs
