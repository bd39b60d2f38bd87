"""Collective calls as they were measured: who accessed what, in which setting, how long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from isochrone.collective_io.predict.call_features import collective_features, independent_features
from isochrone.collective_io.predict.call_parts import INDEPENDENT, LATE, PARTS, Observation
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.workload.call import Call

__all__ = ["MeasuredCall", "observation", "scatter_of"]


@dataclass(frozen=True)
class MeasuredCall:
    """A call, or the median of several alike ones.

    Attributes
    ----------
    call
        Pattern, driver, direction and buffer.
    by_rank
        Host of each rank.
    aggregators
        Ranks that served the file domains; empty if every rank accessed the file on its own.
    seconds
        Of the whole call: those of the slowest rank.
    parts
        Seconds of the parts that were seen, by name, and ``late``: waiting for the last rank.
        What is left is the rest.
    scatter
        Standard deviation of the logarithm of the times of alike calls, by part.
    """

    call: Call
    by_rank: Sequence[str]
    aggregators: Sequence[int]
    seconds: float
    parts: Mapping[str, float]
    scatter: Mapping[str, float] = field(default_factory=dict)

    @property
    def collective(self) -> bool:
        """Whether data went through aggregators."""
        return bool(self.aggregators)


def scatter_of(times: Sequence[float]) -> float:
    """Return the standard deviation of the logarithm of times; 0 if there are too few."""
    known = np.array([time for time in times if time > 0])
    return float(np.log(known).std(ddof=1)) if len(known) > 2 else 0.0


def observation(measured: MeasuredCall, model: NodeCost | None) -> Observation:
    """Return a measured call as the laws of its parts see it."""
    call, whole = measured.call, measured.seconds
    if not measured.collective:
        values = independent_features(call)
        return Observation(values, {INDEPENDENT: whole}, whole, call.reading, measured.scatter)
    found = collective_features(call, measured.by_rank, measured.aggregators, model)
    seconds = {part: measured.parts[part] for part in (*PARTS, LATE) if part in measured.parts}
    others = sum(seconds[part] for part in seconds if part not in ("rest", LATE))
    rest = max(whole - others, 0.0)
    if LATE in seconds:
        seconds[LATE] = min(seconds[LATE], rest)
    seconds["rest"] = rest - seconds.get(LATE, 0.0)
    return Observation(found.values, seconds, whole, call.reading, measured.scatter)
