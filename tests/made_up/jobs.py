"""Ready-made jobs and models for tests of collective I/O."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from beds.mpis import ROOT
from isochrone import models
from isochrone.collective_io.orders.positions import Positions
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.traffic import Layout, layout_of

TACHYON = ROOT / "examples/models/tachyon-i.json"
UNEVEN = (4, 4, 2, 2, 1, 1, 1, 1)

TABLE_II = {
    "T16-01": UNEVEN,
    "T16-02": (1, 1, 1, 1, 2, 4, 4, 2),
    "T16-03": (1, 1, 2, 2, 1, 1, 4, 4),
    "T16-04": (1, 1, 1, 4, 4, 2, 2, 1),
}
"""Node sets of cFireworks: ranks of each node, in the order of the nodes."""


def shuffled(how_many: int) -> dict[str, tuple[int, ...]]:
    """Return the same nodes in random orders, which are the same ones each time."""
    dice = range(how_many)
    return {f"random-{k}": tuple(random.Random(k).sample(UNEVEN, len(UNEVEN))) for k in dice}


def tachyon(order: str = "intra-first") -> NodeCost:
    """The published model of Tachyon I."""
    return NodeCost(models.read(TACHYON), {"order": order})


def directional(busy: float = 0.0841, other: float = 0.0098) -> NodeCost:
    """A full-duplex network: the busier direction counts."""
    terms = ["pa", "max(in,out)", "min(in,out)", "1"]
    segment = models.Segment("hotspot-directional", terms, [0.0012, busy, other, 0.0101])
    return NodeCost(models.Model([segment]))


def positions(
    cores: Sequence[int], x: int, y: int, model: NodeCost | None = None, **call: object
) -> Positions:
    """What nodes cost where, for tiles x by y."""
    wanted = Call(tile_io(x, y), **call)  # type: ignore[arg-type]
    return Positions(wanted.round_kinds(len(cores)), np.array(cores), model or tachyon())


def random_job(nodes: int, most: int, across: int, seed: int = 3) -> tuple[list[int], int, int]:
    """Nodes with 1 to ``most`` cores, so many that tiles ``across`` fit."""
    cores = np.random.default_rng(seed).integers(1, most + 1, nodes)
    lacking = -int(cores.sum()) % across
    for k in np.flatnonzero(cores < most)[:lacking]:
        cores[k] += 1
    return cores.tolist(), across, int(cores.sum()) // across


def block_layout(cores: Sequence[int]) -> Layout:
    """Fill nodes with so many ranks each, one after the other."""
    return layout_of([f"n{k}" for k, count in enumerate(cores) for _ in range(count)])
