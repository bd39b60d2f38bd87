"""Time of a call with a setting: of the exchange, by a node model, or of the whole call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from isochrone.collective_io.aggregators.setting import BUFFER, Setting
from isochrone.collective_io.predict.collective_io import predict
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import WholeCall, WholeCost
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.cb_config_list import aggregators
from isochrone.collective_io.workload.node_messages import Layout, layout_of
from isochrone.collective_io.workload.traffic import RoundKind


@dataclass(frozen=True)
class SettingCost:
    """Predicted time of a call.

    Attributes
    ----------
    seconds
        Of the whole call, or of the exchange if the other phases are unknown.
    exchange
        Seconds of the exchange by the model of a node.
    aggregators
        Ranks that serve, in the order of the file domains; none without collective buffering.
    parts
        Of the whole call; None if only the exchange is known.
    """

    seconds: float
    exchange: float
    aggregators: list[int]
    parts: WholeCost | None

    def with_exchange(self, seconds: float) -> float:
        """Return what the call takes if the model gives the exchange another time."""
        if self.parts is None:
            return seconds
        share = self.parts.parts["exchange"]
        if not share or not self.exchange:
            return self.seconds
        return self.seconds + share * (seconds / self.exchange - 1)


@dataclass(frozen=True)
class SettingCosts:
    """Predicts the time of a call with any setting.

    Attributes
    ----------
    call
        The call with the given setting.
    by_rank
        Host of each rank.
    model
        What messages cost a node.
    whole
        Times of the other phases; None: only the exchange counts.
    """

    call: Call
    by_rank: Sequence[str]
    model: NodeCost
    whole: WholeCall | None = None

    @cached_property
    def placed(self) -> tuple[Layout, list[str]]:
        """Runs of ranks on a host, and the hosts."""
        return layout_of(self.by_rank)

    def kinds(self, setting: Setting, number: int) -> list[RoundKind]:
        """Return the rounds with so many aggregators."""
        return setting.of(self.call).round_kinds(number)

    def of(self, setting: Setting, ranks: list[int] | None = None) -> SettingCost | None:
        """Return the time of a setting; None if unknown.

        ``ranks`` are the aggregators, if not those that ROMIO takes.
        """
        if setting.collective is False:
            alone = self.whole.independent(self.call, self.by_rank) if self.whole else None
            return None if alone is None else SettingCost(alone.seconds, 0.0, [], alone)
        if ranks is None:
            ranks = aggregators(self.by_rank, setting.config, setting.nodes)
        layout, hosts = self.placed
        kinds, reading = self.kinds(setting, len(ranks)), self.call.reading
        exchange = predict(kinds, layout, ranks, hosts, self.model, reading=reading).seconds
        parts = None
        if self.whole is not None:
            parts = self.whole.predict(setting.of(self.call), self.by_rank, ranks)
        seconds = exchange if parts is None else parts.seconds
        return SettingCost(seconds, exchange, ranks, parts)

    def memory(self, setting: Setting, ranks: Sequence[int]) -> int:
        """Return the bytes of buffers on the host with most aggregators."""
        most = Counter(self.by_rank[rank] for rank in ranks)
        call = setting.of(self.call)
        buffer = call.stripe if call.cyclic else call.buffer or BUFFER
        return buffer * max(most.values(), default=0)
