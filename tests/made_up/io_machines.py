"""Machines whose collective calls are known: what each part costs, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from isochrone import models
from isochrone.base.table import TableBuilder
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.call_parts import PARTS
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import (
    MeasuredCall,
    collective_features,
    independent_features,
)
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.runfile.run import Rank, Run
from made_up.jobs import UNEVEN

KIB, MIB = 1024, 1024**2

SETTINGS = list(product((1, 2, 4, 6, 8), (512 * KIB, MIB, 4 * MIB, 16 * MIB)))
"""``cb_nodes`` and ``cb_buffer_size``."""


def hosts(ranks: Sequence[int] = UNEVEN) -> list[str]:
    """Host of each rank."""
    return [f"n{k}" for k, number in enumerate(ranks, start=1) for _ in range(number)]


def model_of(wire: float, message: float) -> NodeCost:
    """A model of a hot spot: seconds of a byte, and of a message."""
    terms, costs = ["max(bi,bo)", "max(in,out)", "1"], [wire, message, message]
    return NodeCost(models.Model([models.Segment("hotspot-directional", terms, costs)]))


@dataclass(frozen=True)
class Machine:
    """What the parts of a call cost on one machine; seconds of one of each quantity."""

    costs: dict[str, dict[str, float]]
    model: NodeCost
    scatter: float
    draws: np.random.Generator = field(repr=False, default_factory=np.random.default_rng)

    def true_parts(
        self, call: Call, by_rank: Sequence[str], ranks: Sequence[int]
    ) -> dict[str, float]:
        """Seconds of each part without scatter."""
        values = collective_features(call, by_rank, ranks, self.model).values
        return {
            part: sum(cost * values.get(name, 1.0) for name, cost in self.costs[part].items())
            for part in PARTS
        }

    def true(self, call: Call, by_rank: Sequence[str], ranks: Sequence[int]) -> float:
        """Seconds of the whole call without scatter."""
        return sum(self.true_parts(call, by_rank, ranks).values())

    def alone(self, call: Call) -> float:
        """Seconds without collective buffering."""
        values = independent_features(call)
        return sum(cost * values.get(name, 1.0) for name, cost in self.costs["alone"].items())

    def measured(self, call: Call, by_rank: Sequence[str], ranks: Sequence[int]) -> MeasuredCall:
        """A call as it would be measured: every part scatters."""
        parts = self.true_parts(call, by_rank, ranks) if ranks else {"rest": self.alone(call)}
        seen = {
            part: time * np.exp(self.draws.normal(0, self.scatter)) for part, time in parts.items()
        }
        return MeasuredCall(call, by_rank, ranks, sum(seen.values()), seen if ranks else {})


def tile_run(measured: MeasuredCall, hints: dict[str, str], side: int = 512) -> Run:
    """A run of `measure tile-io` that holds a measured call of 4 x 4 tiles."""
    size = measured.call.pattern.ranks
    op = "read" if measured.call.reading else "write"
    sample: dict[str, object] = {
        "op": op,
        "phase": "file",
        "p": size,
        "bytes": 16 * side * side * 4,
        "repeat": 0,
        "seconds": float(measured.seconds),
    }
    sample |= {part: float(time) for part, time in measured.parts.items() if part != "rest"}
    names = list(dict.fromkeys(measured.by_rank))
    ranks = [Rank(k, host, names.index(host)) for k, host in enumerate(measured.by_rank)]
    records: dict[str, list[dict[str, object]]] = {
        "sample": [sample],
        "hint": [{"key": key, "value": value} for key, value in hints.items()],
        "aggregator": [
            {"domain": k, "rank": rank, "node": ranks[rank].node, "source": "library"}
            for k, rank in enumerate(measured.aggregators)
        ],
    }
    tables = {}
    for name, rows in records.items():
        builder = TableBuilder()
        builder.extend(rows)
        tables[name] = builder.build()
    header = {
        "record": "run",
        "format": 1,
        "experiment": "tile-io",
        "kind": "tile-io",
        "options": {"tiles": "4x4", "tile": f"{side}x{side}", "element": 4, "overlap": "0x0"},
        "mpi": {"library": "MPICH", "standard": "4.1"},
        "ranks": size,
        "clock": {"source": "MPI_Wtime", "granularity": 1e-9, "cost": 1e-8, "simulated": False},
        "seconds_are": "collective access",
    }
    return Run(header, ranks, tables, [], {"record": "end", "complete": True})


def random_machine(seed: int) -> Machine:
    """Draw a network, a file system and a memory, over two decades each."""
    draws = np.random.default_rng(seed)

    def some(low: float, high: float) -> float:
        return float(np.exp(draws.uniform(np.log(low), np.log(high))))

    wire = some(1e-10, 5e-8)
    own, shared = some(1e-10, 2e-8), some(1e-11, 2e-9)
    kind = draws.integers(3)  # each aggregator has its bandwidth, all have one together, or both
    costs = {
        "offsets": {"1": some(1e-5, 1e-3), "pieces": some(1e-8, 1e-6), "list_pieces": 16 * wire},
        "counts": {"calls": some(2e-5, 2e-2)},
        # the model of a hot spot is never quite right, and data are packed
        "exchange": {"exchange": float(np.exp(draws.normal(0, 0.1))), "busiest": some(1e-11, 1e-9)},
        "file": {
            "busiest_file": own if kind != 1 else 0.0,
            "bytes_file": shared if kind != 0 else 0.0,
            "rounds": some(1e-5, 1e-2),
        },
        "rest": {"bytes": some(1e-11, 1e-9), "1": some(1e-4, 1e-2)},
        "alone": {"own_accesses": some(1e-5, 1e-3), "moved": shared, "own_bytes": own},
    }
    return Machine(costs, model_of(wire, some(1e-6, 1e-4)), some(0.02, 0.12), draws)


def random_call(seed: int) -> Call:
    """Tiles of 64 KiB to 4 MiB each, four by four."""
    draws = np.random.default_rng(seed)
    side = int(draws.choice([128, 256, 512, 1024]))
    return Call(tile_io(4, 4, (side, side), 4), reading=bool(draws.integers(2)))


def served(by_rank: Sequence[str], number: int) -> list[int]:
    """The aggregators that ROMIO takes with ``cb_nodes``."""
    return aggregators(by_rank, nodes=number)
