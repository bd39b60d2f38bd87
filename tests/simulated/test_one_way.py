"""Both directions against truths: simulated machines whose links have a lane in each direction.

Nodes with links of different latencies are on two switches. In half of the machines a link from
one node to another, or all messages that a node sends or receives, are slow in that direction, in
latency and in bandwidth.
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
WAYS = [
    ("--one-way", 64, 1),
    ("--one-way --sample 80%", 64, 1),
    ("--mode put", 64, 1),
    ("--mode get", 64, 1),
    ("--mode bandwidth", 1 << 20, 64),
]
"""Options, the bytes of a message, and how many messages are in flight."""

MACHINES = [f"{kind}-{k}" for kind in ("slow", "symmetric") for k in range(20)]


class Machine(NamedTuple):
    """Latency and bytes per second from each node to each other; what is slow: kind and nodes."""

    latency: np.ndarray
    bandwidth: np.ndarray
    slow: tuple[str, tuple[int, ...]] | None

    def message(self, nbytes: int, in_flight: int = 1) -> np.ndarray:
        """Return the seconds of a message; of several the last is answered."""
        answered = self.latency + self.latency.T * (in_flight > 1)
        return answered / in_flight + (nbytes + MPI_HEADER) / self.bandwidth

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
            f'<link id="{a}-{b}" bandwidth="{self.bandwidth[a, b]:.12g}Bps" '
            f'latency="{self.latency[a, b]:.12g}s"/>'
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
    bandwidth = np.full_like(latency, BANDWIDTH)
    if condition == "symmetric":
        return Machine(latency, bandwidth, None)
    kind, factor = KINDS[int(number) % len(KINDS)], dice.uniform(1.5, 4)
    a, b = dice.sample(range(nodes), 2)
    where = {"direction": (a, b), "sender": (a, slice(None)), "receiver": (slice(None), a)}[kind]
    latency[where] *= factor
    bandwidth[where] /= factor
    return Machine(latency, bandwidth, (kind, (a, b) if kind == "direction" else (a,)))


@pytest.fixture(scope="module")
def measured(simulation: Simulation) -> Callable[..., Run]:
    """Each machine is measured once for this file with the same options."""

    def measure(name: str, *options: str) -> Run:
        drawn = machine(name)
        hosts = "".join(f"n{k}\n" for k in range(len(drawn.latency)))
        return simulation.measure_file("latency-map", drawn.xml(), hosts, *options)

    return functools.cache(measure)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize(("options", "nbytes", "in_flight"), WAYS)
def test_both_directions_take_the_time_known_on_paper(
    measured: Callable[..., Run], name: str, options: str, nbytes: int, in_flight: int
) -> None:
    """Each within 1 %, and together twice the time of the pair; a round trip is both."""
    truth = machine(name).message(nbytes, in_flight)
    run = measured(name, *options.split())
    pairs = run.pairs()
    i, j = pairs["i"], pairs["j"]
    assert set(pairs["bytes"]) == {nbytes}
    assert np.abs(pairs["forward"] / truth[i, j] - 1).max() < 0.01
    assert np.abs(pairs["reverse"] / truth[j, i] - 1).max() < 0.01
    both = pairs["median"] * (1 if run.pair_quantity == "round trip" else 2)
    np.testing.assert_allclose(pairs["forward"] + pairs["reverse"], both, rtol=1e-5)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("options", [options for options, *_ in WAYS])
def test_a_slow_direction_is_named_and_none_of_a_symmetric_machine(
    measured: Callable[..., Run], name: str, options: str
) -> None:
    """Nodes whose links are slower in both directions may be named: drawn links differ.

    Where only some pairs are measured, a slow one of others does not show.
    """
    slow, run = machine(name).slow, measured(name, *options.split())
    pairs = run.pairs()
    met = {*zip(pairs["i"].tolist(), pairs["j"].tolist(), strict=True)}
    seen = slow and (slow[0] != "direction" or tuple(sorted(slow[1])) in met)
    named = [(part.kind, part.ranks) for part in analyse(run).slow if part.of.directed]
    assert named == ([slow] if seen else [])
