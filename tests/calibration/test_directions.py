"""How often a slow direction is named, and how often one is invented."""

from __future__ import annotations

import numpy as np
import pytest

from beds.rates import at_least, at_most
from isochrone.base.table import Table
from isochrone.formats.imported_map import both_ways
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Rank, Run
from made_up.latency_maps import Matrix, tree

NODES = 16


def map_of_messages(times: Matrix, node: np.ndarray) -> Run:
    """Make a map of the µs of a message from each rank to each other."""
    i, j = np.nonzero(~np.isnan(times))
    columns = {"i": i, "j": j, "bytes": np.full(len(i), 64), "median": 1e-6 * times[i, j]}
    ranks = [Rank(k, f"n{host:02d}", node=host) for k, host in enumerate(node.tolist())]
    header = {"experiment": "latency-map", "kind": "latency-map", "ranks": len(times)}
    pairs = Table(both_ways(columns, one_way=True))
    return Run(header, ranks, {"pair": pairs}, end={"complete": True})


def directed(kind: str, seed: int, siblings: int) -> tuple[list[tuple[str, tuple[str, ...]]], bool]:
    """Make a machine of four switches, with one defect; return what is named, and whether right."""
    chance = np.random.default_rng(seed)
    times = tree([siblings, 4, NODES // 4], [1, 3, 5]) if siblings > 1 else tree([4, 4], [3, 5])
    times = times * np.exp(0.03 * chance.standard_normal(times.shape))
    node = np.arange(len(times)) // siblings
    one, two = chance.choice(NODES, 2, replace=False)
    if kind == "direction":
        times[np.ix_(node == one, node == two)] *= 2
    elif kind == "sender":
        times[node == one] *= 2
    elif kind == "receiver":
        times[:, node == one] *= 2
    elif kind == "clocks":
        ahead = chance.normal(0, 0.1, NODES)[node]
        times += ahead[:, None] - ahead
    named = [(part.kind, part.hosts) for part in analyse(map_of_messages(times, node)).slow]
    hosts = (f"n{one:02d}", f"n{two:02d}") if kind == "direction" else (f"n{one:02d}",)
    return named, named == [(kind, hosts)]


@pytest.mark.parametrize("siblings", [1, 4])
@pytest.mark.parametrize("kind", ["direction", "sender", "receiver"])
def test_a_slow_direction_is_named(kind: str, siblings: int, trials: int) -> None:
    """A link at half speed one way, or a node that sends or receives slowly, and nothing else."""
    at_least(sum(directed(kind, seed, siblings)[1] for seed in range(trials)), trials, 0.99)


@pytest.mark.parametrize("siblings", [1, 4])
@pytest.mark.parametrize("kind", ["nothing", "clocks"])
def test_no_direction_of_a_symmetric_machine_is_slow(kind: str, siblings: int, trials: int) -> None:
    """Neither scatter nor clocks that disagree by 0.1 µs make a direction slow."""
    found = [directed(kind, seed, siblings)[0] for seed in range(trials)]
    ways = {"direction", "sender", "receiver"}
    at_most(sum(any(kind in ways for kind, _ in named) for named in found), trials, 0.02)
