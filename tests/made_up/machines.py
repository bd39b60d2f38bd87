"""Machines made up at random, with one thing slowed: the truth that a reading of a map is held to.

A machine is nodes with ranks, in none, one or two levels of switches, regular or not. Something is
slowed by an *added* time, given as a share of the typical time between nodes, and every pair of
ranks has noise of its own. Two slow ends of a pair *add* in latency; in bandwidth the slower end
alone decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from isochrone.runfile.run import Run
from made_up.latency_maps import map_of

__all__ = [
    "LAWS",
    "SLOWED",
    "Law",
    "Machine",
    "Truth",
    "map_with",
    "random_machine",
    "random_slow_nodes",
    "slow_nodes",
]

SLOWED = ("nothing", "node", "nodes", "half rack", "pair", "inside", "switch", "uplink")
"""What can be slowed; ``inside`` is the pairs within a switch, ``switch`` also those leaving it."""

Law = Literal["sum", "max", "both"]
LAWS: tuple[Law, ...] = ("sum", "max", "both")
"""How two slow ends of a pair combine: both count (latency), the slower one decides (bandwidth), or
a part of the time of each kind."""

PART_NAMED = 3
"""At most one of so many nodes can be called slow: beyond that there are two kinds of nodes."""

Groups = NDArray[np.int64]


@dataclass(frozen=True)
class Machine:
    """The structure of a machine.

    Attributes
    ----------
    node
        Node of each rank.
    chain
        Group of each *node* on each level of switches, the closest first; nested.
    times
        Round trip within a node, then on each level, in µs.
    """

    node: Groups
    chain: tuple[Groups, ...]
    times: tuple[float, ...]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.node.max()) + 1

    @property
    def hosts(self) -> list[str]:
        """Host name of each rank."""
        return [f"n{k:02d}" for k in self.node]

    def between_nodes(self) -> NDArray[np.float64]:
        """Return the healthy round trips between nodes in µs, shape (nodes, nodes)."""
        level = np.zeros((self.nodes, self.nodes), dtype=int)
        for groups in self.chain:
            level += groups[:, None] != groups
        return np.array(self.times[1:])[level]


@dataclass(frozen=True)
class Truth:
    """What a perfect reading says.

    Attributes
    ----------
    named
        Kind and hosts of each slow part.
    levels
        Groups of *ranks* on each level, as sets of sets.
    """

    named: frozenset[tuple[str, frozenset[str]]]
    levels: tuple[frozenset[frozenset[int]], ...]


def random_machine(random: np.random.Generator, most: int = 64) -> Machine:
    """Draw a machine of 4 to ``most`` nodes, 1 to 8 ranks each, on 1 to 3 levels between nodes."""
    levels = int(random.integers(1, 4))
    least = (4, 6, 12)[levels - 1]
    nodes = int(np.exp(random.uniform(np.log(least), np.log(most + 0.999))))
    chain: list[Groups] = []
    units = np.arange(nodes)
    for _ in range(levels - 1):
        count = int(units.max()) + 1
        if count < 4:
            break
        group = _dealt(random, count)[units]
        chain.append(group)
        units = group
    times = [random.uniform(0.4, 1.5)]
    for ratio in np.exp(random.uniform(np.log(1.3), np.log(4), len(chain) + 1)):
        times.append(times[-1] * ratio)
    return Machine(_ranks(random, nodes), tuple(chain), tuple(times))


def _dealt(random: np.random.Generator, count: int) -> Groups:
    """Deal units into two groups or more of two units or more; half of the time of equal size."""
    while True:
        size = int(random.integers(2, max(3, count // 2 + 1)))
        if random.random() < 0.5:
            groups = np.arange(count) // size
        else:
            cuts = np.cumsum(random.integers(2, size + 2, count))
            groups = np.searchsorted(cuts, np.arange(count), side="right")
        groups = np.minimum(groups, max(count // 2 - 1, 1))
        if groups.max() and np.bincount(groups).min() > 1:
            return groups.astype(np.int64)


def _ranks(random: np.random.Generator, nodes: int) -> Groups:
    """Place ranks on nodes: the same number on each or not, by block, in turn, or anyhow."""
    most = int(random.integers(1, 9))
    each = np.full(nodes, most) if random.random() < 0.7 else random.integers(1, most + 1, nodes)
    node = np.repeat(np.arange(nodes), each)
    how = random.random()
    if how < 0.25:
        node = node[np.argsort(np.concatenate([np.arange(k) for k in each]), kind="stable")]
    elif how < 0.5:
        node = random.permutation(node)
    return node.astype(np.int64)


def map_with(
    machine: Machine,
    slowed: str,
    share: float,
    noise: float,
    random: np.random.Generator,
    law: Law = "sum",
) -> tuple[Run, Truth] | None:
    """Slow one thing of a machine; None if the machine has no such thing.

    ``share`` is what is added to each round trip, over the typical time between nodes; ``law`` says
    how often it counts for two slow nodes.
    """
    found = _slow(machine, slowed, random, law)
    if found is None:
        return None
    pattern, named = found
    between = machine.between_nodes() + share * _typical(machine) * pattern
    return _measured(machine, between, noise, random), Truth(named, _levels(machine))


def slow_nodes(
    random: np.random.Generator,
    *,
    nodes: int,
    slow: int,
    factors: Sequence[float],
    law: Law,
    noise: float,
    ranks_per_node: int = 1,
    switches: int = 1,
) -> tuple[Run, Truth]:
    """Slow some nodes of a machine, scattered anywhere; the pairs within a node are as usual.

    Never are all nodes of a switch slow: that cannot be told from a slow uplink.

    Parameters
    ----------
    random
        What is drawn: the places of the slow nodes, times and noise.
    nodes, slow
        Number of nodes, and of those that are slow.
    factors
        How many times the typical time between nodes a pair with one slow end takes, of each slow
        node; a single one is that of all.
    law
        How the effects of two slow ends combine.
    noise
        Standard deviation of the logarithm of each round trip.
    ranks_per_node
        Number of ranks on each node.
    switches
        Number of switches; with more than one, nodes of different switches are farther apart.
    """
    switch = np.sort(np.arange(nodes) % switches)
    chain = () if switches == 1 else (switch,)
    times = np.cumprod([random.uniform(0.4, 1.5), *random.uniform(1.5, 4.0, len(chain) + 1)])
    node = np.repeat(np.arange(nodes), ranks_per_node)
    machine = Machine(node, chain, tuple(times.tolist()))
    while True:
        members = random.choice(nodes, slow, replace=False)
        left = np.delete(switch, members)
        if len(np.unique(left)) == switches:
            break
    effect = np.zeros(nodes)
    effect[members] = _typical(machine) * (np.broadcast_to(factors, slow) - 1)
    between = machine.between_nodes() + _combined(effect, law, random)
    named = frozenset(("node", _hosts([k])) for k in members.tolist())
    return _measured(machine, between, noise, random), Truth(named, _levels(machine))


def random_slow_nodes(
    random: np.random.Generator, noise: float, law: Law = "sum", least: int = 4, most: int = 64
) -> tuple[Run, Truth]:
    """Slow one to a third of 4 to 64 nodes, equally or unequally, by factors of 1.25 to 10."""
    nodes = int(np.exp(random.uniform(np.log(least), np.log(most + 0.999))))
    slow = int(random.integers(1, max(1, nodes // PART_NAMED) + 1))
    equal = random.random() < 0.5
    factors = np.exp(random.uniform(np.log(1.25), np.log(10), 1 if equal else slow))
    two_levels = nodes >= 6 and random.random() < 0.5
    switches = int(random.integers(2, nodes // 3 + 1)) if two_levels else 1
    return slow_nodes(
        random,
        nodes=nodes,
        slow=slow,
        factors=factors.tolist(),
        law=law,
        noise=noise,
        ranks_per_node=int(random.integers(1, 5)),
        switches=switches,
    )


def _typical(machine: Machine) -> float:
    """Return the median round trip between healthy nodes in µs."""
    return float(np.median(machine.between_nodes()[np.triu_indices(machine.nodes, 1)]))


def _combined(
    effect: NDArray[np.float64], law: Law, random: np.random.Generator
) -> NDArray[np.float64]:
    """Return what the effects of nodes add to each pair of nodes.

    By ``both`` laws, a part of each node's effect is latency, and the rest is bandwidth.
    """
    part = {"sum": 1.0, "max": 0.0}
    latency = effect * (part[law] if law in part else random.uniform(0.2, 0.8, len(effect)))
    bandwidth = effect - latency
    added: NDArray[np.float64] = np.add.outer(latency, latency)
    return added + np.maximum.outer(bandwidth, bandwidth)


def _measured(
    machine: Machine,
    between: NDArray[np.float64],
    noise: float,
    random: np.random.Generator,
) -> Run:
    """Return a map with these round trips between nodes in µs, and noise."""
    node = machine.node
    times = between[node[:, None], node]
    times = np.where(node[:, None] == node, machine.times[0], times)
    factor = np.exp(noise * random.standard_normal(times.shape))
    factor = np.triu(factor, 1)
    times = times * (factor + factor.T + np.eye(len(node)))
    np.fill_diagonal(times, np.nan)
    return map_of(times, machine.hosts)


def _levels(machine: Machine) -> tuple[frozenset[frozenset[int]], ...]:
    node = machine.node
    chain = [groups[node] for groups in machine.chain] + [np.zeros_like(node)]
    if np.bincount(node).max() > 1:
        chain.insert(0, node)
    return tuple(
        frozenset(frozenset(np.flatnonzero(groups == k).tolist()) for k in np.unique(groups))
        for groups in chain
    )


def _slow(
    machine: Machine, slowed: str, random: np.random.Generator, law: Law = "sum"
) -> tuple[NDArray[np.float64], frozenset[tuple[str, frozenset[str]]]] | None:
    """Draw what is slow: how often the extra counts for each pair of nodes, and what is named."""
    nodes = machine.nodes
    count = np.zeros(nodes)
    if slowed == "nothing":
        return np.zeros((nodes, nodes)), frozenset()
    if slowed in ("node", "nodes", "half rack"):
        members = _members(machine, slowed, random)
        if members is None:
            return None
        count[members] = 1
        names = frozenset(("node", _hosts([k])) for k in members)
        return _combined(count, law, random), names
    if slowed == "pair":
        a, b = random.choice(nodes, 2, replace=False)
        pattern = np.zeros((nodes, nodes))
        pattern[a, b] = pattern[b, a] = 1
        return pattern, frozenset({("pair", _hosts([a, b]))})
    group = _switch(machine, random, three=slowed == "uplink")
    if group is None:
        return None
    count[group] = 1
    ends = count[:, None] + count
    wanted = {"inside": (2,), "switch": (1, 2), "uplink": (1,)}[slowed]
    kind = "uplink" if slowed == "uplink" else "switch"
    return np.isin(ends, wanted).astype(float), frozenset({(kind, _hosts(group.tolist()))})


def _members(machine: Machine, slowed: str, random: np.random.Generator) -> Sequence[int] | None:
    if slowed == "node":
        return [int(random.integers(machine.nodes))]
    if slowed == "nodes":
        if machine.nodes < 6:
            return None
        most = min(4, machine.nodes // 3)
        return random.choice(machine.nodes, int(random.integers(2, most + 1)), False).tolist()
    rack = _switch(machine, random, three=False, least=4)
    return None if rack is None else random.permutation(rack)[: len(rack) // 2].tolist()


def _switch(
    machine: Machine, random: np.random.Generator, *, three: bool, least: int = 3
) -> Groups | None:
    """Draw a switch: of three nodes or more, and one of three where its uplink is slowed."""
    found = []
    for groups in machine.chain:
        for k in range(int(groups.max()) + 1):
            members = np.flatnonzero(groups == k)
            if len(members) >= least and (not three or groups.max() > 1):
                found.append(members)
    return found[int(random.integers(len(found)))] if found else None


def _hosts(nodes: Sequence[int]) -> frozenset[str]:
    return frozenset(f"n{k:02d}" for k in nodes)
