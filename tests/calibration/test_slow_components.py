"""What is slow, on random machines: named exactly, and hardly ever anything else.

One thing of each machine is slowed (`made_up.machines`), each kind in turn.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from beds import rates
from isochrone.results.latency_map.topology import Topology, analyse
from made_up.machines import SLOWED, Truth, map_with, random_machine


def machines(
    kinds: Sequence[str], count: int, share: float, noise: float
) -> Iterator[tuple[str, Topology, Truth]]:
    """Read maps of machines of at most 32 nodes that have such a thing to slow."""
    seeds = itertools.count(77_000)
    for slowed, _ in zip(itertools.cycle(kinds), range(count), strict=False):
        made = None
        while made is None:
            random = np.random.default_rng([next(seeds), SLOWED.index(slowed)])
            made = map_with(random_machine(random, 32), slowed, share, noise, random)
        yield slowed, analyse(made[0]), made[1]


def named(found: Topology) -> frozenset[tuple[str, frozenset[str]]]:
    return frozenset((part.kind, frozenset(part.hosts)) for part in found.slow)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("kinds", "share", "noise"),
    [
        (SLOWED, 0.5, 0),
        (SLOWED, 0.5, 0.05),
        (("nodes", "half rack", "uplink"), 5.0, 0.05),  # what is six-fold hides no level
    ],
)
def test_exactly_what_was_slowed_is_named(
    kinds: Sequence[str], share: float, noise: float, trials: int
) -> None:
    wrong, false, levels = [], [], []
    for kind, found, truth in machines(kinds, trials, share, noise):
        groups = [frozenset(map(frozenset, level.groups)) for level in found.levels]
        wrong += [kind] * (named(found) != truth.named)
        false += [kind] * bool(named(found) - truth.named)
        levels += [kind] * (tuple(groups) != truth.levels)
    print(f"wrong: {wrong}; false: {false}; levels: {levels}")
    rates.at_most(len(wrong), trials, 0.06)
    rates.at_most(len(false), trials, 0.03)
    rates.at_most(len(levels), trials, 0.10)
