"""One-way times against truths: simulated machines whose links have a lane in each direction.

Nodes with links of different latencies are on two switches. In half of the machines a link from
one node to another, or all messages that a node sends or receives, are slow in that direction.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import permutations
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from beds.simulation import Simulation
from isochrone.latency_map.topology import analyse
from isochrone.measure.platforms import MPI_HEADER
from isochrone.runfile.run import Run

BANDWIDTH = 1e9
KINDS = ("direction", "sender", "receiver")
MACHINES = [f"{kind}-{k}" for kind in ("slow", "symmetric") for k in range(20)]


class Machine(NamedTuple):
    """Seconds of a message from each node to each other, and what is slow: kind and nodes."""

    latency: np.ndarray
    slow: tuple[str, tuple[int, ...]] | None

    def xml(self) -> str:
        """Return the platform file, with a link for each direction of two nodes."""
        nodes = range(len(self.latency))
        lines = [
            "<?xml version='1.0'?>",
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
            '<platform version="4.1"><zone id="world" routing="Full">',
            *(f'<host id="n{n}" speed="1Gf"/>' for n in nodes),
        ]
        lines += [
            f'<link id="{a}-{b}" bandwidth="{BANDWIDTH}Bps" latency="{self.latency[a, b]:.12g}s"/>'
            for a, b in permutations(nodes, 2)
        ]
        lines += [
            f'<route src="n{a}" dst="n{b}" symmetrical="NO"><link_ctn id="{a}-{b}"/></route>'
            for a, b in permutations(nodes, 2)
        ]
        return "\n".join([*lines, "</zone></platform>\n"])


def machine(name: str) -> Machine:
    """Draw the machine of a name."""
    condition, _, number = name.partition("-")
    dice = Random(name)
    nodes = dice.randrange(6, 11)
    half = np.array([1e-6 * dice.uniform(2, 3) for _ in range(nodes)])
    switch = np.arange(nodes) % 2
    latency = half[:, None] + half + 1e-6 * dice.uniform(3, 8) * (switch[:, None] != switch)
    if condition == "symmetric":
        return Machine(latency, None)
    kind, factor = KINDS[int(number) % len(KINDS)], dice.uniform(1.5, 4)
    a, b = dice.sample(range(nodes), 2)
    where = {"direction": (a, b), "sender": (a, slice(None)), "receiver": (slice(None), a)}[kind]
    latency[where] *= factor
    return Machine(latency, (kind, (a, b) if kind == "direction" else (a,)))


@pytest.fixture(scope="module")
def measured(simulation: Simulation) -> Callable[[str], Run]:
    """Each machine is measured once for this file."""

    def measure(name: str) -> Run:
        drawn = machine(name)
        hosts = "".join(f"n{k}\n" for k in range(len(drawn.latency)))
        return simulation.measure_file("latency-map", drawn.xml(), hosts, "--one-way")

    return functools.cache(measure)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", MACHINES)
def test_both_directions_take_the_time_known_on_paper(
    measured: Callable[[str], Run], name: str
) -> None:
    """Each within 1 %, and together the round trip, which is measured as always."""
    truth = machine(name).latency + (64 + MPI_HEADER) / BANDWIDTH
    pairs = measured(name).pairs()
    i, j = pairs["i"], pairs["j"]
    assert np.abs(pairs["forward"] / truth[i, j] - 1).max() < 0.01
    assert np.abs(pairs["reverse"] / truth[j, i] - 1).max() < 0.01
    np.testing.assert_allclose(pairs["forward"] + pairs["reverse"], pairs["median"], rtol=1e-5)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", MACHINES)
def test_a_slow_direction_is_named_and_none_of_a_symmetric_machine(
    measured: Callable[[str], Run], name: str
) -> None:
    """Nodes whose links are slower in both directions may be named: drawn links differ."""
    slow = machine(name).slow
    named = [(part.kind, part.ranks) for part in analyse(measured(name)).slow if part.of.directed]
    assert named == ([slow] if slow else [])
