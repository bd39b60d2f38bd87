"""Machines that are measured night after night: what is true of them, and how launches differ.

Times between nodes are of a shape; a launch has a factor of its own, every node and every pair of
nodes another one, and every pair of ranks its noise. One thing may be slow.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from isochrone.runfile.run import Run
from made_up.latency_maps import Matrix, blank, confirmed, dragonfly, flat, map_of, torus, tree

__all__ = [
    "NIGHT",
    "SHAPES",
    "Chance",
    "Cluster",
    "Machine",
    "Truth",
    "launch",
    "link_truth",
    "shape",
]

Dice = np.random.Generator


@dataclass(frozen=True)
class Machine:
    """Nodes and what is between them.

    Attributes
    ----------
    name
        Of its shape.
    between
        Healthy round trips between nodes in µs, shape (nodes, nodes).
    inside
        Within a node, in µs.
    node
        Node of each rank.
    """

    name: str
    between: Matrix
    inside: float
    node: NDArray[np.int64]

    @property
    def hosts(self) -> list[str]:
        """Host of each rank."""
        return [f"n{k:02d}" for k in self.node]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.between)


@dataclass(frozen=True)
class Chance:
    """Standard deviations of logarithms: of a launch, of a node and a pair of nodes in it, of a
    pair of ranks.
    """

    launch: float = 0.03
    node: float = 0.008
    pair: float = 0.012
    noise: float = 0.02


NIGHT = Chance()


@dataclass(frozen=True)
class Truth:
    """What is slow, and the hosts that a perfect verdict calls bad."""

    name: str
    factor: Matrix
    bad: frozenset[str] = frozenset()


def shape(name: str, dice: Dice) -> Machine:
    """Make a machine of one of `SHAPES`."""
    return SHAPES[name](dice)


def _of(name: str, between: Matrix, each: int | Sequence[int], inside: float = 1.0) -> Machine:
    count = len(between)
    return Machine(name, between, inside, np.repeat(np.arange(count), each))


SHAPES: dict[str, Callable[[Dice], Machine]] = {
    "flat": lambda dice: _of("flat", flat(16), 2),
    "one rank a node": lambda dice: _of("one rank a node", flat(24), 1),
    "few nodes": lambda dice: _of("few nodes", flat(6), 4),
    "switches": lambda dice: _of("switches", tree([4, 4], [3, 5]), 2),
    "two switches": lambda dice: _of("two switches", tree([8, 2], [3, 5]), 2),
    "three levels": lambda dice: _of("three levels", tree([4, 3, 3], [3, 5, 8]), 2),
    "torus": lambda dice: _of("torus", torus((4, 4)), 1),
    "torus of three": lambda dice: _of("torus of three", torus((3, 3, 3)), 2),
    "large torus": lambda dice: _of("large torus", torus((8, 8)), 1),
    "ring": lambda dice: _of("ring", torus((16,)), 1),
    "dragonfly": lambda dice: _of("dragonfly", dragonfly(4, 3, 2), 2),
    "uneven": lambda dice: _of("uneven", tree([4, 4], [3, 5]), dice.integers(1, 5, 16).tolist()),
}
"""Shapes of machines by name; ``uneven`` draws how many ranks a node has."""


def nothing(machine: Machine, dice: Dice, by: float = 1.0) -> Truth:
    """Nothing is slow, whatever it is asked for."""
    return Truth("nothing", np.ones((machine.nodes,) * 2))


def node(machine: Machine, dice: Dice, by: float) -> Truth:
    """All that leaves one node takes so many times as long."""
    bad = int(dice.integers(machine.nodes))
    factor = np.ones((machine.nodes,) * 2)
    factor[bad, :] = factor[:, bad] = by
    return Truth(f"node x{by:g}", factor, frozenset({f"n{bad:02d}"}))


def pair(machine: Machine, dice: Dice, by: float) -> Truth:
    """One pair of nodes takes so many times as long."""
    a, b = dice.choice(machine.nodes, 2, replace=False)
    factor = np.ones((machine.nodes,) * 2)
    factor[a, b] = factor[b, a] = by
    return Truth(f"pair x{by:g}", factor)


def level(machine: Machine, dice: Dice, by: float) -> Truth:
    """All pairs that are as far apart as the farthest take so many times as long."""
    far = np.nanmax(machine.between)
    return Truth(f"level x{by:g}", np.where(machine.between >= 0.999 * far, by, 1.0))


def link_truth(dimensions: Sequence[int], dice: Dice, by: float, base: float, step: float) -> Truth:
    """One link of a torus is slow; messages go dimension by dimension, the shorter way round."""
    places = list(itertools.product(*map(range, dimensions)))
    routes = {
        (i, j): _route(places[i], places[j], dimensions)
        for i, j in itertools.combinations(range(len(places)), 2)
    }
    links = sorted({link for route in routes.values() for link in route})
    slow = links[int(dice.integers(len(links)))]
    factor = np.ones((len(places),) * 2)
    for (i, j), route in routes.items():
        healthy = base + step * len(route)
        factor[i, j] = factor[j, i] = 1 + step * (by - 1) * (slow in route) / healthy
    return Truth(f"link x{by:g}", factor)


def _route(
    here: tuple[int, ...], there: tuple[int, ...], dimensions: Sequence[int]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """List the links between two places, each by its two ends."""
    links = []
    for axis, length in enumerate(dimensions):
        while here[axis] != there[axis]:
            forward = (there[axis] - here[axis]) % length <= (here[axis] - there[axis]) % length
            next_ = list(here)
            next_[axis] = (here[axis] + (1 if forward else -1)) % length
            a, b = sorted([here, tuple(next_)])
            links.append((a, b))
            here = tuple(next_)
    return links


def launch(machine: Machine, dice: Dice, truth: Truth | None = None, chance: Chance = NIGHT) -> Run:
    """Measure a map of a machine once, and what looks slow a second time."""
    nodes = machine.nodes
    own = chance.node * dice.standard_normal(nodes)
    log = own[:, None] + own + _symmetric(chance.pair, nodes, dice)
    between = machine.between * np.exp(log) * (1.0 if truth is None else truth.factor)
    node = machine.node
    same = node[:, None] == node
    times = np.where(same, machine.inside, np.nan_to_num(between)[node[:, None], node])
    times = times * np.exp(chance.launch * dice.standard_normal())

    def measured() -> Matrix:
        return blank(times * np.exp(_symmetric(chance.noise, len(node), dice)))

    return confirmed(map_of(measured(), machine.hosts), measured)


def _symmetric(sigma: float, count: int, dice: Dice, freedom: float = np.inf) -> Matrix:
    if np.isinf(freedom):
        upper = np.triu(sigma * dice.standard_normal((count, count)), 1)
    else:
        scale = sigma * np.sqrt(1 - 2 / freedom)
        upper = np.triu(scale * dice.standard_t(freedom, (count, count)), 1)
    return upper + upper.T


@dataclass(frozen=True)
class Cluster:
    """Many hosts behind switches, of which each job gets some.

    Attributes
    ----------
    names
        Of its hosts.
    switch
        Of each.
    lasting
        Logarithm of what each host adds to its round trips, every night.
    pairs
        Likewise of each pair of hosts.
    each
        Ranks on a host.
    siblings
        Whether the two hosts of an enclosure are closer to each other than to others.
    """

    names: list[str]
    switch: NDArray[np.int64]
    lasting: NDArray[np.float64]
    pairs: Matrix
    each: int
    siblings: bool = False

    @classmethod
    def drawn(cls, hosts: int, each: int, dice: Dice, lasting: float = 0.02) -> Cluster:
        """Draw hosts that differ for good: round trips by ``lasting`` for each end."""
        return cls(
            [f"c{k:03d}" for k in range(hosts)],
            np.arange(hosts) // 8,
            lasting * dice.standard_normal(hosts),
            _symmetric(0.006, hosts, dice),
            each,
        )

    def older(self, by: float, dice: Dice) -> Cluster:
        """Return the same hosts a night later: each has drifted, by this standard deviation."""
        drift = by * dice.standard_normal(len(self.names))
        return replace(self, lasting=self.lasting + drift)

    def job(self, hosts: int, dice: Dice) -> NDArray[np.int64]:
        """Draw the hosts of a job."""
        return np.sort(dice.choice(len(self.names), hosts, replace=False))

    def launch(
        self,
        job: NDArray[np.int64],
        dice: Dice,
        slow: Mapping[int, float] | None = None,
        chance: Chance = NIGHT,
        each: int | None = None,
        *,
        again: bool = False,
        tails: tuple[float, float] = (5, np.inf),
    ) -> Run:
        """Measure a map of some hosts.

        ``tails``: degrees of freedom of Student's distribution of pairs of hosts, and of noise.
        ``again``: what looks slow is measured a second time.
        """
        count, switch = len(job), self.switch[job]
        own = self.lasting[job] + chance.node * dice.standard_normal(count)
        own += np.log([(slow or {}).get(host, 1.0) for host in job.tolist()])
        log = own[:, None] + own + self.pairs[np.ix_(job, job)]
        log += _symmetric(chance.pair, count, dice, tails[0])
        log += np.log(np.where(switch[:, None] == switch, 3.0, 5.0))
        if self.siblings:
            log[job[:, None] // 2 == job // 2] += np.log(0.8)
        node = np.repeat(np.arange(count), each or self.each)
        times = np.where(node[:, None] == node, 1.0, np.exp(log)[node[:, None], node])
        times = times * np.exp(chance.launch * dice.standard_normal())

        def measured() -> Matrix:
            return blank(times * np.exp(_symmetric(chance.noise, len(node), dice, tails[1])))

        found = map_of(measured(), [self.names[job[k]] for k in node])
        return confirmed(found, measured) if again else found
