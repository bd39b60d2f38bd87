"""What emulated applications did: communication and computation by rank, time by phase."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, nan

import numpy as np

from isochrone.applications.emulation.recorded import App, Launched, PhaseSeconds, RankTime
from isochrone.applications.emulation.timing import others
from isochrone.base.inference import Estimate, estimate
from isochrone.base.stats import median_of

PREEMPTED = 20.0
"""Involuntary context switches of a rank in a second from which on it shares its processor with
something: a rank of its own sees a few, one that takes turns with another 100 and more."""


@dataclass(frozen=True)
class Shares:
    """Communication and computation of an application, over its ranks.

    Attributes
    ----------
    app, beside
        The application, and those that ran at the same time.
    least, mean, most
        Over the ranks, of the part of the wall time in communication; a rank counts with its
        median over the repetitions.
    delivered
        Computation delivered, by that asked for; NaN where none was asked for.
    switches
        Involuntary context switches of a rank in a second, the rank with most of them.
    """

    app: int
    beside: tuple[int, ...]
    least: float
    mean: float
    most: float
    delivered: float
    switches: float


@dataclass(frozen=True)
class Phase:
    """Time of a phase, in seconds an iteration, waiting included.

    Attributes
    ----------
    app, phase, name
        Whose it is, and which.
    beside
        Applications that ran at the same time.
    mean
        Over the ranks.
    max
        Of the slowest rank, the median over the repetitions.
    """

    app: int
    phase: int
    name: str
    beside: tuple[int, ...]
    mean: Estimate
    max: float


def shares(found: Sequence[Launched], times: Sequence[RankTime]) -> list[Shares]:
    """Return the shares of each application, alone and beside others, in the order of launches."""
    sets = _sets(found)
    groups: dict[tuple[int, tuple[int, ...]], dict[int, list[RankTime]]] = {}
    for one in times:
        key = sets.get((one.launch, one.app))
        if key is not None and one.seconds > 0:
            groups.setdefault(key, {}).setdefault(one.rank, []).append(one)
    made = []
    for app, together in sorted(groups, key=lambda key: (key[0], len(key[1]), key[1])):
        ranks = groups[app, together].values()
        parts = [median_of([one.communication / one.seconds for one in own]) for own in ranks]
        asked = fsum(one.asked for own in ranks for one in own)
        delivered = fsum(one.delivered for own in ranks for one in own)
        rates = [
            fsum(one.switches for one in own) / fsum(one.seconds for one in own) for own in ranks
        ]
        made.append(Shares(
            app, others(app, together), float(min(parts)), float(np.mean(parts)),
            float(max(parts)), delivered / asked if asked else nan, max(rates),
        ))  # fmt: skip
    return made


def phases(
    apps: Sequence[App], found: Sequence[Launched], times: Sequence[PhaseSeconds]
) -> list[Phase]:
    """Return the time of each phase, alone and beside others."""
    sets = _sets(found)
    groups: dict[tuple[int, tuple[int, ...], int], list[PhaseSeconds]] = {}
    for one in times:
        key = sets.get((one.launch, one.app))
        if key is not None:
            groups.setdefault((*key, one.phase), []).append(one)
    made = []
    for app, together, phase in sorted(groups, key=lambda key: (key[0], len(key[1]), *key[1:])):
        own = groups[app, together, phase]
        names = apps[app].phases
        name = names[phase] if phase < len(names) else str(phase)
        mean = estimate(one.mean for one in own)
        most = median_of([one.max for one in own])
        made.append(Phase(app, phase, name, others(app, together), mean, most))
    return made


def preempted(found: Sequence[Shares]) -> float:
    """Return the most switches of a rank in a second if that is too many, else 0."""
    most = max((one.switches for one in found), default=0.0)
    return most if most >= PREEMPTED else 0.0


def _sets(found: Sequence[Launched]) -> dict[tuple[int, int], tuple[int, tuple[int, ...]]]:
    return {(one.launch, one.app): (one.app, one.together) for one in found}
