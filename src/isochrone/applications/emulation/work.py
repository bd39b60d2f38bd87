"""What emulated applications did: communication and computation by rank, time by phase."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import fsum, nan
from typing import Any

import numpy as np

from isochrone.applications.emulation.recorded import App, Launched, PhaseSeconds, RankTime
from isochrone.applications.emulation.timing import Whose, by_set
from isochrone.base.inference import Estimate, estimate
from isochrone.base.stats import median_of

PREEMPTED = 20.0
"""Involuntary context switches of a rank in a second from which on it shares its processor with
something: a rank of its own sees a few, one that takes turns with another 100 and more."""


class Shares(Whose):
    """Communication and computation of an application, over its ranks.

    Attributes
    ----------
    least, mean, most
        Over the ranks, of the part of the wall time in communication; a rank counts with its
        median over the repetitions.
    delivered
        Computation delivered, by that asked for; NaN where none was asked for.
    switches
        Involuntary context switches of a rank in a second, the rank with most of them.
    """

    least: float
    mean: float
    most: float
    delivered: float
    switches: float


class Phase(Whose):
    """Time of a phase, in seconds an iteration, waiting included.

    Attributes
    ----------
    name
        Which it is.
    mean
        Over the ranks.
    max
        Of the slowest rank, the median over the repetitions.
    """

    name: str
    mean: Estimate
    max: float


def shares(found: Sequence[Launched], times: Sequence[RankTime]) -> list[Shares]:
    """Return the shares of each application, alone and beside others, in the order of launches."""
    made = []
    for whose, by_rank in _by_set(found, [one for one in times if one.seconds > 0], "rank"):
        ranks = by_rank.values()
        if not ranks:
            continue
        parts = [median_of([one.communication / one.seconds for one in own]) for own in ranks]
        asked = fsum(one.asked for own in ranks for one in own)
        delivered = fsum(one.delivered for own in ranks for one in own)
        rates = [
            fsum(one.switches for one in own) / fsum(one.seconds for one in own) for own in ranks
        ]
        made.append(Shares(
            *whose, float(min(parts)), float(np.mean(parts)), float(max(parts)),
            delivered / asked if asked else nan, max(rates),
        ))  # fmt: skip
    return made


def phases(
    apps: Sequence[App], found: Sequence[Launched], times: Sequence[PhaseSeconds]
) -> list[Phase]:
    """Return the time of each phase, alone and beside others."""
    made = []
    for whose, by_phase in _by_set(found, times, "phase"):
        names = apps[whose[0]].phases
        for phase, own in sorted(by_phase.items()):
            name = names[phase] if phase < len(names) else str(phase)
            mean = estimate(one.mean for one in own)
            made.append(Phase(*whose, name, mean, median_of([one.max for one in own])))
    return made


def _by_set(
    found: Sequence[Launched], times: Iterable[Any], key: str
) -> Iterator[tuple[tuple[int, tuple[int, ...]], dict[int, list[Any]]]]:
    """Yield each application, with those beside it, and its times by rank or phase."""
    of_launch = defaultdict(list)
    for time in times:
        of_launch[time.launch, time.app].append(time)
    for whose, members in by_set(found).items():
        own = defaultdict(list)
        for one in members:
            for time in of_launch[one.launch, one.app]:
                own[getattr(time, key)].append(time)
        yield whose, own
