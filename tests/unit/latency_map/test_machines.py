"""What is slow, on machines nobody has seen: named exactly, and hardly ever anything else.

Machines are drawn at random and one thing of each is slowed (`made_up.machines`). The rates are of
few machines, so that the test is quick; they were counted on hundreds, see the docs of maps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from isochrone.latency_map.topology import Topology, analyse
from made_up.latency_maps import blank, map_of
from made_up.machines import SLOWED, Truth, map_with, random_machine

MACHINES = 8


def drawn(slowed: str, share: float, noise: float) -> Iterator[tuple[Topology, Truth]]:
    """Read maps of machines of at most 32 nodes that have such a thing to slow."""
    seeds = itertools.count(77_000)
    for _ in range(MACHINES):
        made = None
        while made is None:
            random = np.random.default_rng([next(seeds), SLOWED.index(slowed)])
            made = map_with(random_machine(random, 32), slowed, share, noise, random)
        yield analyse(made[0]), made[1]


def named(found: Topology) -> frozenset[tuple[str, frozenset[str]]]:
    return frozenset((part.kind, frozenset(part.hosts)) for part in found.slow)


def rates(slowed: str, share: float, noise: float) -> tuple[int, int, int]:
    """Count machines: exactly what was slowed is named, anything else is, the levels are right."""
    right = false = levels = 0
    for found, truth in drawn(slowed, share, noise):
        right += named(found) == truth.named
        false += bool(named(found) - truth.named)
        groups = [frozenset(map(frozenset, level.groups)) for level in found.levels]
        levels += tuple(groups) == truth.levels
    print(f"{slowed} at {noise:.0%}: {right} right, {false} false, levels {levels} of {MACHINES}")
    return right, false, levels


def test_the_machine_that_a_person_can_check_by_hand() -> None:
    """Switches of three nodes and of two; the link of a2 takes 25 µs instead of 5."""
    hosts = ["a0", "a1", "a2", "b0", "b1"]
    link = {"a2": 25}
    times = np.full((10, 10), 2.0)
    for x, y in itertools.permutations(range(10), 2):
        a, b = hosts[x // 2], hosts[y // 2]
        if a != b:
            way = 40 if a[0] != b[0] else 0
            times[x, y] = 2 * (link.get(a, 5) + link.get(b, 5) + way)
    found = analyse(map_of(blank(times), [host for host in hosts for _ in range(2)]))
    assert [len(level.groups) for level in found.levels] == [5, 2, 1]
    assert [level.median for level in found.levels] == pytest.approx([2e-6, 20e-6, 100e-6])
    (slow,) = found.slow
    assert (slow.kind, slow.who) == ("node", "a2")
    assert slow.added == pytest.approx(40e-6)
    assert "(3.0x as long); on level 2: 1.4x as long" in slow.evidence
    # whether the only way between two switches is slow is not in the data, and that is said
    assert "two-groups" in {warning["code"] for warning in found.warnings}


def test_what_is_too_small_to_act_on_is_noted_and_no_verdict() -> None:
    times = np.full((8, 8), 10.0)
    times[2, :] = times[:, 2] = 10.6
    run = map_of(blank(times), [f"n{k}" for k in range(8)])
    found = analyse(run)
    assert found.slow == []
    assert [part.who for part in found.minor] == ["n2"]
    assert [part.who for part in analyse(run, threshold=0.05).slow] == ["n2"]


def test_a_node_alone_behind_its_switch_may_be_its_link() -> None:
    """Two switches of four nodes and one node by itself, which is slow, or its link is."""
    switch = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2])
    times = np.where(switch[:, None] == switch, 10.0, 20.0)
    times[8, :] = times[:, 8] = 50.0
    (slow,) = analyse(map_of(blank(times), [f"n{k}" for k in range(9)])).slow
    assert (slow.kind, slow.who) == ("node", "n8")
    assert slow.instead


def test_a_map_that_nothing_explains_is_said_to_be_so() -> None:
    """A third of the pairs takes any time at all: nothing is slow would be wrong."""
    random = np.random.default_rng(5)
    times = np.where(random.random((24, 24)) < 0.15, random.uniform(10, 60, (24, 24)), 10.0)
    times = np.triu(times, 1) + np.triu(times, 1).T
    found = analyse(map_of(blank(times), [f"n{k}" for k in range(24)]))
    assert found.slow or found.not_understood[0]
