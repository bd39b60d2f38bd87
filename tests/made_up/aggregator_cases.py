"""Random small collective calls, and the best order of their aggregators found by trying all."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from isochrone import models
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import NodeCost, predict
from isochrone.collective_io.workload import AccessPattern
from isochrone.collective_io.workload.accesses import Accesses
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.collective_io.workload.traffic import layout_of
from made_up.arrays import block_array
from made_up.jobs import directional, tachyon

__all__ = ["Case", "brute_force", "cost_of", "random_case"]


@dataclass(frozen=True)
class Case:
    """A call, the host of each rank, what messages cost, and ``cb_nodes``."""

    call: Call
    by_rank: list[str]
    model: NodeCost
    nodes: int | None


def random_case(seed: int, most: int = 5) -> Case:
    """Draw a call of at most ``most`` hosts: pattern, driver, rounds, ranks, model, direction."""
    dice = np.random.default_rng(seed)
    hosts = int(dice.integers(2, most + 1))
    cores = dice.integers(1, 5, hosts)
    by_rank = [f"n{k}" for k, count in enumerate(cores) for _ in range(count)]
    if dice.random() < 0.3:
        by_rank = dice.permutation(by_rank).tolist()
    pattern = _pattern(len(by_rank), dice)
    size = pattern.extent[1] - pattern.extent[0]
    buffer = None if dice.random() < 0.25 else max(1, size // int(dice.integers(2, 12)))
    driver = "lustre" if dice.random() < 0.3 else "even"
    stripe = max(1, size // int(dice.integers(2, 16)))
    targets = int(dice.integers(1, hosts + 1)) if dice.random() < 0.5 else None
    call = Call(
        pattern,
        driver,
        bool(dice.random() < 0.4),
        buffer,
        stripe=stripe,
        targets=targets,
        unit=int(dice.integers(0, 3)) * 8,
    )
    nodes = int(dice.integers(1, hosts + 1)) if dice.random() < 0.5 else None
    return Case(call, by_rank, _model(dice), nodes)


def _pattern(ranks: int, dice: np.random.Generator) -> AccessPattern:
    across = int(dice.choice([x for x in range(1, ranks + 1) if ranks % x == 0]))
    kind = dice.integers(0, 3)
    if kind == 0:
        tile = int(dice.integers(2, 9)), int(dice.integers(2, 9))
        return tile_io(across, ranks // across, tile=tile, element=int(dice.integers(1, 4)))
    if kind == 1:
        return block_array((1, ranks // across, across), (3, 4, 5), 2)
    pieces = int(dice.integers(1, 5)) * ranks
    length = dice.integers(1, 60, pieces)
    offset = np.cumsum(length) - length + np.cumsum(dice.integers(0, 9, pieces))
    rank = dice.permutation(np.arange(pieces) % ranks)
    once = np.ones_like(rank)
    return Accesses(rank, offset, length, once, length, ranks)


def _model(dice: np.random.Generator) -> NodeCost:
    kind = dice.integers(0, 5)
    if kind == 0:
        return tachyon()
    if kind == 1:
        return directional()
    terms = ["pa", "pe", "ba", "max(bi,bo)", "min(bi,bo)", "1"]
    if kind == 3:
        terms += ["b*pe"]
    if kind == 4:
        terms += ["busy*busy*max(bi,bo)"]
    segment = models.Segment("hotspot-bytes", terms, (dice.random(len(terms)) + 0.01).tolist())
    return NodeCost(models.Model([segment]))


def cost_of(case: Case, config: str) -> float:
    """Return what a round costs if ROMIO reads this list."""
    layout = layout_of(case.by_rank)
    ranks = aggregators(case.by_rank, config, case.nodes)
    kinds = case.call.round_kinds(len(ranks))
    return predict(kinds, layout, ranks, case.model).cost


def brute_force(case: Case) -> float:
    """Return the least cost of all orders of the hosts."""
    layout = layout_of(case.by_rank)
    kinds = case.call.round_kinds(min(case.nodes or layout.nodes, layout.nodes))
    costs = []
    for order in permutations(layout.hosts):
        ranks = aggregators(case.by_rank, ",".join(order), case.nodes)
        costs.append(predict(kinds, layout, ranks, case.model).cost)
    return min(costs)
