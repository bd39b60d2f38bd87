"""Latency maps with their truth, and how they are read: what tests and `bench/map_rates.py` count.

A reading is right if exactly the slow components are named and, where nothing is slow, every level
that the times show is found with its groups, and none is invented.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isochrone.latency_map.topology import Slow, Topology, analyse
from isochrone.runfile.run import Run
from made_up.processors import (
    DEFECTS,
    FAMILIES,
    Defect,
    Grouping,
    map_with_defect,
    random_processor,
)

CLEAR = 3.0
"""Defects of more standard deviations of their peers are to be named."""

Name = tuple[str, frozenset[str]] | frozenset[int]


@dataclass(frozen=True)
class Case:
    """A map with its truth.

    Attributes
    ----------
    name
        Seed, or name of a map: what `--only` takes.
    rows
        The rows of the table that it counts in.
    run
        The map.
    slow
        What is slow: kind and hosts, or ranks.
    must, may
        Groupings that are to be found, and that may be.
    of
        What is compared of each slow component that is found.
    with_levels
        Whether an exact reading has the right levels, too.
    deviations
        How many standard deviations of its healthy peers the defect adds; infinite without one.
    """

    name: str
    rows: tuple[str, ...]
    run: Run
    slow: frozenset[Name]
    must: frozenset[Grouping]
    may: frozenset[Grouping]
    of: Callable[[Slow], Name]
    with_levels: bool = False
    deviations: float = math.inf

    @property
    def clear(self) -> bool:
        """Whether a perfect reading names the defect."""
        return self.deviations > CLEAR


@dataclass(frozen=True)
class Outcome:
    """How a map was read.

    Attributes
    ----------
    exact
        Exactly what is slow is named, and on healthy processors the levels are right, too.
    false
        Something else is named.
    levels
        Every visible level is found with its groups, and none is invented.
    nothing
        Nothing is said of what is slow: neither its name nor a doubt.
    named, slow
        How many slow components are named, of how many.
    seconds
        Processor time.
    said
        What was found, for a person.
    late
        Whether nothing was found, for it took too long.
    """

    exact: bool
    false: bool
    levels: bool
    nothing: bool
    named: int
    slow: int
    seconds: float
    said: str
    late: bool = False


# ---- processors ----------------------------------------------------------------------------------


def processor_case(seed: int) -> Case:
    """Make up a processor, healthy or with a defect: families and defects in turn."""
    defect = DEFECTS[seed % len(DEFECTS)]
    family = list(FAMILIES)[seed // len(DEFECTS) % len(FAMILIES)]
    return processor_of(family, defect, seed)


def processor_of(family: str, defect: Defect, seed: int) -> Case:
    """Make up a processor of a family, healthy or with a defect."""
    random = np.random.default_rng([47, seed])
    processor = random_processor(random, family)
    run, truth = map_with_defect(processor, random, defect, shuffled=bool(random.random() < 0.3))
    tails = "heavy tails" if math.isfinite(processor.freedom) else "normal tails"
    rows = [defect_row(defect, truth.deviations), family, f"{family}, {defect}", tails]
    rows += [cores_row(run.size)]
    slow = frozenset({truth.defect}) if truth.defect else frozenset()
    return Case(
        str(seed),
        ("all", *rows),
        run,
        slow,
        truth.visible,
        truth.may,
        lambda part: frozenset(part.ranks),
        with_levels=defect == "nothing",
        deviations=truth.deviations,
    )


def defect_row(defect: str, deviations: float) -> str:
    """Return the row of a table that a defect counts in."""
    if defect == "nothing":
        return "defect nothing"
    clear = "over" if deviations > CLEAR else "within"
    return f"defect {defect}, {clear} {CLEAR:g} deviations"


def cores_row(size: int) -> str:
    """Return the row of a table that a number of cores counts in."""
    bounds = ((8, "4-8 cores"), (32, "9-32 cores"), (128, "33-128 cores"), (math.inf, "over 128"))
    return next(words for most, words in bounds if size <= most)


# ---- reading -------------------------------------------------------------------------------------


def read(case: Case) -> Outcome:
    """Analyse a map, and judge what is found."""
    start = time.process_time()
    found = analyse(case.run)
    return outcome_of(case, found, time.process_time() - start)


def outcome_of(case: Case, found: Topology, seconds: float) -> Outcome:
    """Compare what is found with the truth."""
    named = frozenset(case.of(part) for part in found.slow)
    size = case.run.size
    groupings = several(tuple(grouping_of(level.groups) for level in found.levels), size)
    levels = case.must <= groupings <= case.must | case.may
    doubt = bool(found.not_understood.pairs or found.blind)
    false = len([part for part in found.slow if case.of(part) not in case.slow])
    right = named == case.slow and not false and (levels or not case.with_levels)
    wanted, got = (sorted(len(groups) for groups in of) for of in (case.must, groupings))
    said = (
        f"slow {_listed(case.slow)}, found {_listed(named)}; groups {wanted}, found {got}; "
        f"{found.not_understood.pairs} pairs unexplained; {'; '.join(found.blind) or 'not blind'}"
    )
    return Outcome(
        right,
        bool(false),
        levels,
        bool(case.slow) and not found.slow and not doubt,
        len(named & case.slow),
        len(case.slow),
        seconds,
        said,
    )


def _listed(names: frozenset[Name]) -> str:
    words = []
    for name in names:
        kind, members = name if isinstance(name, tuple) else ("ranks", name)
        words.append(f"{kind} {'+'.join(str(one) for one in sorted(members))}")
    most = 8
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(sorted(words)[:most]) + more or "nothing"


def grouping_of(groups: list[list[int]]) -> Grouping:
    """Return groups without an order."""
    return frozenset(frozenset(group) for group in groups)


def several(levels: tuple[Grouping, ...], ranks: int) -> frozenset[Grouping]:
    """Leave out levels of single ranks, and of all of them."""
    return frozenset(groups for groups in levels if 1 < len(groups) < ranks)
