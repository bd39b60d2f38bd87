"""A proposal of `place aggregators`: what was asked, and what all proposals say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isochrone.collective_io.aggregators import ompio_choice, romio_hints
from isochrone.collective_io.aggregators.choice import Choice
from isochrone.collective_io.aggregators.setting import Setting
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import WholeCall
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.cb_config_list import aggregators, block_aggregators
from isochrone.collective_io.workload.node_messages import layout_of
from isochrone.measure.allocation import Allocation
from isochrone.pages.page import Block

__all__ = ["Asked", "Proposal", "order_of"]


@dataclass(frozen=True)
class Asked:
    """The call, the nodes, and what is known of times."""

    call: Call
    nodes: Allocation
    model: NodeCost
    whole: WholeCall | None
    given: Setting

    @property
    def alone_is_known(self) -> bool:
        """Whether it is known what the call takes if nothing is exchanged."""
        known = self.whole
        return known is not None and known.independent(self.call, self.nodes.by_rank) is not None

    def served(self) -> list[int]:
        """Return the aggregators as they are now."""
        if self.call.driver != "ompio":
            return aggregators(self.nodes.by_rank, self.given.config, self.given.nodes)
        number = self.given.nodes
        return self.call.rows() if number is None else block_aggregators(number, self.nodes.ranks)


class Proposal(ABC):
    """The best setting that was found."""

    asked: Asked
    best: Choice

    @abstractmethod
    def headline(self) -> str:
        """Say it in a sentence."""

    @abstractmethod
    def blocks(self) -> list[Block]:
        """Return what else there is to say."""

    @abstractmethod
    def document(self, output: Path | None) -> dict[str, Any]:
        """Return it as a JSON object, with the file that was written."""

    def hints(self) -> str:
        """Return the text of the hints file; empty where no hints are read."""
        if self.asked.call.driver == "ompio":
            return ""
        return romio_hints.lines(self.best.setting, reading=self.asked.call.reading)

    def commands(self) -> list[str]:
        """Return command lines to use beside the hints."""
        setting = self.best.setting
        if self.asked.call.driver == "ompio" and setting.nodes is not None:
            return [f"mpirun {ompio_choice.option(setting)} …"]
        if setting.stripes is not None:
            return [romio_hints.set_stripes(setting.stripes)]
        return []

    def advice(self) -> list[str]:
        """Say what to do with these."""
        if self.asked.call.driver == "ompio":
            return [
                f"{line}   (or cb_nodes by MPI_Info in the program)" for line in self.commands()
            ]
        return [f"Before the file is written: {line}" for line in self.commands()]

    def common(self, output: Path | None) -> dict[str, Any]:
        """Return the keys that all proposals have."""
        _, hosts = layout_of(self.asked.nodes.by_rank)
        config, romio = self.best.setting.config, self.asked.call.driver != "ompio"
        order = order_of(self.best.aggregators, self.asked.nodes.by_rank, hosts)
        return {
            "order": order,
            "hosts": [hosts[k] for k in order],
            "seconds": self.best.seconds,
            "given_seconds": self.best.given_seconds,
            "aggregators": self.best.aggregators,
            "memory": self.best.memory,
            "origin": self.asked.model.model.origin or None,
            "cb_config_list": config if romio else None,
            "hints": dict(romio_hints.pairs(self.best.setting)) if romio else {},
            "files": [str(output)] if output is not None else [],
            "environment": romio_hints.environment(output, config) if output is not None else [],
            "no_effect": list(romio_hints.NO_EFFECT) if romio else [],
            "commands": self.commands(),
        }


def order_of(served: Sequence[int], by_rank: Sequence[str], hosts: Sequence[str]) -> list[int]:
    """Return the hosts in the order in which they first serve, then those that do not."""
    index = {host: k for k, host in enumerate(hosts)}
    first = dict.fromkeys(index[by_rank[rank]] for rank in served)
    return [*first, *(k for k in range(len(hosts)) if k not in first)]
