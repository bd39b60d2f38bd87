"""What is slow, on random machines: named exactly, and hardly ever anything else.

One thing of each machine is slowed (`made_up.machines`), each kind in turn.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from beds import rates
from isochrone.latency_map.topology import Topology, analyse
from made_up.latency_maps import Matrix, blank, confirmed, leaving, map_of, noisy
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


def on_switches(
    groups: Sequence[int],
    near: Sequence[float],
    far: float,
    slow: Sequence[int],
    dice: np.random.Generator,
) -> Topology:
    """Read a map of nodes on switches, some of the nodes slow by half."""
    ranks = int(dice.integers(1, 3))
    node, switch = np.arange(sum(groups)).repeat(ranks), np.arange(len(groups)).repeat(groups)
    own = switch[node]
    times = np.where(own[:, None] == own, np.array(near)[own], far)
    times = times + 0.5 * far * leaving(np.isin(node, slow), node)
    times = blank(np.where(node[:, None] == node, 1.0, times))
    noise = dice.choice([0, 0.01, 0.05])

    def again() -> Matrix:
        return noisy(times, noise, int(dice.integers(1 << 30)))

    return analyse(confirmed(map_of(again(), [f"n{k}" for k in node]), again))


@pytest.mark.parametrize("shape", ["two small switches", "two fast nodes"])
def test_healthy_nodes_behind_a_way_that_they_share_are_not_called_slow(
    shape: str, trials: int
) -> None:
    """Four or five nodes on two switches; two nodes that reach each other faster than others do."""
    small, false, missed = shape == "two small switches", 0, 0
    for seed in range(trials):
        dice = np.random.default_rng([88_000, seed])
        factor = dice.uniform(1.15, 3)
        groups = ((2, 2), (2, 3), (3, 2))[seed % 3] if small else ((2, 18), (18, 2))[seed % 2]
        near = (3.0, 3.0) if small else tuple(3.0 * (factor if n > 2 else 1) for n in groups)
        far = 3.0 * factor * (1.0 if small else dice.uniform(1.15, 1.5))
        false += bool(on_switches(groups, near, far, (), dice).slow)
        if not small:  # two nodes that are slow, on switches of their own or on one
            slow = sorted(dice.choice(20, 2, replace=False).tolist())
            found = on_switches((10, 10), (3.0, 3.0), 4.0, slow, dice)
            missed += named(found) != {("node", frozenset({f"n{k}"})) for k in slow}
    rates.at_most(false, trials, 0.01)
    rates.at_most(missed, trials, 0.05)
