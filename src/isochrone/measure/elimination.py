"""Elimination of proposals, then a paired confirmation of the winner.

The two steps share no measurements. *Heats* choose: all proposals are started in turn, and those
that are significantly slower drop out until one is left. The *duel* confirms: the winner and the
given settings are started in pairs, and only these pairs enter the intervals. This removes the
selection bias of the heats.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from isochrone.base.inference import FALSE_CHANGE_RATE, FLOAT_ROUNDING, Speedup, speedup, verdict
from isochrone.base.verdicts import FASTER, NOT_KNOWN, SAME, SLOWER, Change

GIVEN = "given"

PROGRAM_MARGIN = 0.02
"""The whole program is not to become slower by more than this part."""

FAILED = "it failed"

MIN_DUEL_GAIN = 1.05
"""Expected gain above which an inconclusive duel is extended. No duel if it is excluded."""

EQUAL = 0.05
"""Times that differ by less than this part are equal."""

ARRIVES = 0.5
"""Part of the time saved in the calls that the whole program may have saved, at least: calls of the
slowest ranks overlap, but if hardly any arrives, ranks only wait elsewhere."""

ROUNDS = (1, 2, 4)
"""A duel has so many times the wanted number of pairs at most."""


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

    def compared(self, names: Sequence[str]) -> tuple[list[float], float]:
        """Return the mean log-time of each, and the least significant difference.

        All have the same noise (pooled variance); of the heats that all took part in, at least two.
        The test is Student's, one-sided at 95 %.
        """
        from scipy.special import stdtrit  # SciPy takes long to import

        heats = min(len(self.times[name]) for name in names)
        logs = np.log([[timed.calls for timed in self.times[name][:heats]] for name in names])
        freedom = logs.size - len(names)
        error = math.sqrt(2 * np.sum(np.var(logs, axis=1)) / freedom)
        noise = float(stdtrit(freedom, 1 - FALSE_CHANGE_RATE)) * error + FLOAT_ROUNDING
        return np.mean(logs, axis=1).tolist(), noise

    def gain(self, name: str) -> Speedup | None:
        """Return the gain by the heats; None if it was started less than twice."""
        proposed = [timed.calls for timed in self.times.get(name, [])]
        baseline = [timed.calls for timed in self.times[GIVEN][: len(proposed)]]
        return speedup(baseline, proposed) if len(proposed) > 1 else None

    def fastest(self, names: Iterable[str]) -> str | None:
        """Return the fastest of some proposals; None if a gain worth a duel is excluded."""
        timed = [name for name in names if self.dropped.get(name) != FAILED]
        if not timed:
            return None
        (baseline, *means), noise = self.compared([GIVEN, *timed])
        shortest = min(means)
        return (
            timed[means.index(shortest)]
            if baseline - shortest + noise > math.log(MIN_DUEL_GAIN)
            else None
        )

    def reduced(self, left: Sequence[str]) -> list[str]:
        """Return the proposals without those that are significantly slower than another."""
        names = [GIVEN, *left]
        means, noise = self.compared(names)
        best = names[means.index(min(means))]
        for name, mean in zip(left, means[1:], strict=True):
            if mean > min(means) + noise:
                times = math.exp(mean - min(means))
                self.dropped[name] = f"slower: {times:.2f} times the time of {best}"
        return [name for name in left if name not in self.dropped]


def heats(start: Start, ways: Sequence[str], max_heats: int) -> Heats:
    """Start all proposals, then repeatedly those that may be the fastest, until one is left.

    ``max_heats`` is the largest number of heats, at least 2.
    """
    outcome = Heats()
    left = list(ways)
    for heat in range(1, max_heats + 1):
        for name in [GIVEN, *left] if heat % 2 else [*reversed(left), GIVEN]:
            timed = start(name)
            if timed is not None:
                outcome.times.setdefault(name, []).append(timed)
            elif name != GIVEN:
                outcome.dropped[name] = FAILED
        left = [name for name in left if name not in outcome.dropped]
        if heat > 1 and left:
            left = outcome.reduced(left)
        if not left or (heat > 1 and (len(left) == 1 or not outcome.fastest(left))):
            break
    outcome.winner = outcome.fastest(left)
    for name in left:
        if outcome.winner is None:
            outcome.dropped[name] = "not faster than the given settings"
        elif name != outcome.winner:
            outcome.dropped[name] = f"not known whether it is faster than {outcome.winner}"
    return outcome


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
    def verdict(self) -> Change:
        """On the calls; if they are faster, on what this means for the whole program."""
        calls, program = self.calls, self.whole
        if calls.low > 1:
            if program.low > 1 - PROGRAM_MARGIN:
                return FASTER if self.arrives else SAME
            return SLOWER if program.high < 1 - PROGRAM_MARGIN else NOT_KNOWN
        return verdict(1 / calls.ratio, 1 / calls.high, 1 / calls.low, margin=EQUAL)

    @property
    def arrives(self) -> bool:
        """Whether the whole program is faster, or may have saved what the calls saved."""
        saved = (self.calls.given - self.calls.proposed) / self.whole.given
        return self.whole.low > 1 + PROGRAM_MARGIN or 1 - 1 / self.whole.high >= ARRIVES * saved

    @property
    def why_not(self) -> str:
        """Reason to reject the proposal; empty to accept it."""
        if self.verdict == FASTER:
            return ""
        subject = "the whole program" if self.calls.low > 1 else "the collective calls"
        if self.calls.low > 1 and self.verdict == SAME:
            return f"{subject}: as long as before, as ranks wait elsewhere for the last one to come"
        launches = max(20, 2 * len(self.given))
        return {
            SLOWER: f"{subject}: slower",
            SAME: f"{subject}: equal within {100 * EQUAL:.0f} %",
            NOT_KNOWN: f"{subject}: not known, the machine is too noisy: try --launches {launches}",
        }[self.verdict]

    @property
    def likely(self) -> bool:
        """Whether more pairs may confirm a sufficient gain."""
        return self.calls.ratio > MIN_DUEL_GAIN and self.whole.high > 1 - PROGRAM_MARGIN


def duel(start: Start, name: str, launches: int, max_pairs: int) -> Duel | None:
    """Start the given settings and a proposal in pairs; None if it fails.

    The order alternates between pairs, which cancels drift. The verdict follows after ``launches``
    pairs; if it is inconclusive and a gain is likely, again after twice and four times as many, up
    to ``max_pairs`` pairs.
    """
    baseline: list[Timed] = []
    proposed = []
    for pairs in dict.fromkeys(max(launches, min(max_pairs, k * launches)) for k in ROUNDS):
        for index in range(len(baseline), pairs):
            pair = (GIVEN, name) if index % 2 == 0 else (name, GIVEN)
            times = {way: start(way) for way in pair}
            ours, theirs = times[GIVEN], times[name]
            if ours is None or theirs is None:
                return None
            baseline.append(ours)
            proposed.append(theirs)
        calls, program = (
            speedup(
                [getattr(timed, attribute) for timed in baseline],
                [getattr(timed, attribute) for timed in proposed],
            )
            for attribute in ("calls", "whole")
        )
        outcome = Duel(baseline, proposed, calls, program)
        if not (outcome.why_not and outcome.likely):
            break
    return outcome
