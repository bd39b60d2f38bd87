"""Predicted exchange of collective I/O: messages and cost of every node, and the hot spot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isochrone.collective_io.predict.node_cost import TIE, NodeCost, refuse_no_time
from isochrone.collective_io.workload import Floats, Ints
from isochrone.collective_io.workload.node_messages import Counts, Layout, count
from isochrone.collective_io.workload.traffic import RoundKind


@dataclass(frozen=True)
class CallCost:
    """Predicted cost of the exchange of a collective call.

    Attributes
    ----------
    hosts
        Names of the nodes.
    counts
        Messages and bytes of each node in the whole call.
    rounds
        Rounds of the exchange.
    seconds, low, high
        Of the whole call: sum of the hot spots of all rounds, with its interval.
    node_costs
        Seconds of each node in an average round.
    origin
        Origin of the times the model was fitted to; empty if unknown.
    warnings
        Warnings about the prediction.
    """

    hosts: Sequence[str]
    counts: Counts
    rounds: int
    seconds: float
    low: float
    high: float
    node_costs: Floats
    origin: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def cost(self) -> float:
        """Seconds of an average round: those of its hottest node."""
        return self.seconds / self.rounds

    @property
    def hot_nodes(self) -> list[int]:
        """Nodes with the highest cost; several if tied."""
        most = float(self.node_costs.max())
        return [int(k) for k in np.flatnonzero(self.node_costs >= most * (1 - TIE))]

    def document(self) -> dict[str, Any]:
        """Return it for a document."""
        intra, into, out = self.counts.intra, self.counts.into, self.counts.out
        return {
            "cost": self.cost,
            "low": self.low / self.rounds,
            "high": self.high / self.rounds,
            "hot_nodes": self.hot_nodes,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "message_size": self.counts.message_size,
            "nodes": [
                {
                    "node": k, "host": host, "intra": int(intra[k]), "in": int(into[k]),
                    "out": int(out[k]), "intra_bytes": float(self.counts.intra_bytes[k]),
                    "in_bytes": float(self.counts.into_bytes[k]),
                    "out_bytes": float(self.counts.out_bytes[k]),
                    "pa": float(intra[k]) / 2 / self.rounds,
                    "pe": float(into[k] + out[k]) / 2 / self.rounds,
                    "cost": float(self.node_costs[k]),
                }
                for k, host in enumerate(self.hosts)
            ],
            "origin": self.origin or None,
            "warnings": self.warnings,
        }  # fmt: skip


def predict(
    kinds: Sequence[RoundKind],
    layout: Layout,
    aggregators: Sequence[int] | Ints,
    hosts: Sequence[str],
    model: NodeCost,
    *,
    reading: bool = False,
) -> CallCost:
    """Return the cost of a call whose domain k is served by rank ``aggregators[k]``."""
    rounds = sum(kind.rounds for kind in kinds)
    total = Counts.none(layout.nodes)
    times = np.zeros(3)
    nodes = np.zeros(layout.nodes)
    warnings: list[str] = []
    for kind in kinds:
        found = count(kind.traffic, layout, aggregators)
        found = found.reversed() if reading else found
        usual = kind.traffic.message_size
        costs, low, high, found_warnings = model.ask(found, kind.spread, found.busy, usual)
        warnings += [text for text in found_warnings if text not in warnings]
        hot = int(np.argmax(costs))
        refuse_no_time(float(costs[hot]))
        times += kind.rounds * np.array([costs[hot], low[hot], high[hot]])
        nodes += kind.rounds / rounds * np.maximum(costs, 0.0)  # a node without messages
        total = total.plus(found, kind.times)
    seconds, below, above = times.tolist()
    origin = model.model.origin
    return CallCost(hosts, total, rounds, seconds, below, above, nodes, origin, warnings)
