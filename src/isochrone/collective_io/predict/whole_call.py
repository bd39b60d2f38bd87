"""Time of a whole collective call: exchange by a model, other phases by measured calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, inf, isfinite

import numpy as np
from msgspec.structs import replace

from isochrone.base.record import Record
from isochrone.collective_io.predict.call_parts import (
    INDEPENDENT,
    LATE,
    PARTS,
    Estimate,
    Observation,
    PartTimes,
    Quantities,
    fit,
)
from isochrone.collective_io.predict.node_cost import CallCost, NodeCost, predict
from isochrone.collective_io.workload import Floats, Ints, Runs
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.traffic import Layout, RoundKind, count, layout_of

MAX_CALL_FACTOR = 2.0
"""Warn when a quantity is outside the measured calls by this factor."""

WATCHED = {
    "rounds": "rounds",
    "bytes": "bytes",
    "ranks": "ranks",
    "pieces": "pieces of a rank",
    "aggregators": "aggregators",
    "own_accesses": "accesses of a rank",
}
"""Quantities that are warned of, and what they are called."""


class WholeCost(Record):
    """Predicted time of a collective call.

    Attributes
    ----------
    parts
        Seconds by phase; None where unknown.
    seconds
        Of the call: the sum of the known phases.
    low, high
        Its 95 % interval; ``high`` is infinite if phases are unknown.
    rounds
        Rounds of the exchange; 0 if every rank accesses the file on its own.
    warnings
        Warnings about it.
    """

    parts: dict[str, float | None]
    seconds: float
    low: float
    high: float
    rounds: int
    warnings: list[str]

    @property
    def known(self) -> bool:
        """Whether all that takes long was measured."""
        return isfinite(self.high)


class WholeCall(Record):
    """Predicts whole calls.

    Attributes
    ----------
    model
        Node cost model. None: the exchange is proportional to the bytes of the hot spot.
    times
        Laws of the phases, fitted to measured calls.
    """

    model: NodeCost | None
    times: PartTimes = PartTimes()

    @classmethod
    def calibrated(cls, model: NodeCost | None, measured: Iterable[MeasuredCall]) -> WholeCall:
        """Fit the parts to measured calls; several of one setting count as their median."""
        return cls(model, fit(observation(call, model) for call in measured))

    def predict(self, call: Call, by_rank: Sequence[str], aggregators: Sequence[int]) -> WholeCost:
        """Predict a call with collective buffering.

        Parameters
        ----------
        call
            Who accesses which bytes, the driver, and the size of the buffer.
        by_rank
            Host of each rank.
        aggregators
            Ranks that serve file domains 0, 1, … .
        """
        return self.of(call.reading, collective_features(call, by_rank, aggregators, self.model))

    def of(self, reading: bool, features: CallFeatures) -> WholeCost:
        """Predict a call from its quantities."""
        values = features.values
        estimates = {
            part_name: self.times.ask(reading, part_name, values) for part_name in (*PARTS, LATE)
        }
        cost, complete = features.exchange, self.times.knows(reading, "rest")
        warnings = list(cost.warnings) if cost else []
        if not complete:
            op = "read" if reading else "write"
            warnings.append(f"no {op} was measured: only the exchange is known")
        elif not self.times.knows(reading, "exchange"):
            warnings.append(
                "phases of the call were not recorded: its time is predicted as a whole"
            )
        elif missing := [part_name for part_name in PARTS if estimates[part_name] is None]:
            warnings.append(f"not recorded separately: {', '.join(missing)}")
        if cost and estimates["exchange"] is None and not complete:
            estimates["exchange"] = Estimate(cost.seconds, max(0.0, cost.low), cost.high)
        warnings += _beyond(values, self.times.ranges.get(reading, {}))
        return _summed(estimates, int(values["rounds"]), warnings, complete)

    def independent(self, call: Call) -> WholeCost | None:
        """Predict the call with independent accesses.

        None if no such call was measured (``romio_cb_write`` or ``romio_cb_read`` = ``disable``):
        many small accesses cannot be extrapolated from a few large ones.
        """
        if not self.times.knows(call.reading, INDEPENDENT):
            return None
        values = independent_features(call)
        estimate = self.times.ask(call.reading, INDEPENDENT, values)
        warnings = _beyond(values, self.times.ranges.get(call.reading, {}))
        return _summed({"file": estimate}, 0, warnings, True)


def _summed(
    by_part: Mapping[str, Estimate | None], rounds: int, warnings: list[str], complete: bool
) -> WholeCost:
    """Add up parts, and how far they may be off: what disturbs a launch disturbs all of them."""
    estimates = [estimate for estimate in by_part.values() if estimate]
    seconds = sum(estimate.seconds for estimate in estimates)
    below = sum(estimate.seconds - estimate.low for estimate in estimates)
    above = sum(estimate.high - estimate.seconds for estimate in estimates) if estimates else inf
    times = {name: estimate.seconds if (estimate := by_part.get(name)) else None for name in PARTS}
    if late := by_part.get(LATE):
        times["rest"] = (times["rest"] or 0.0) + late.seconds
    high = seconds + above if complete else inf
    return WholeCost(times, seconds, max(0.0, seconds - below), high, rounds, warnings)


def _beyond(values: Quantities, ranges: Mapping[str, tuple[float, float]]) -> list[str]:
    """Warn of quantities far from all measured calls."""
    warnings = []
    for name, description in WATCHED.items():
        if name in values and name in ranges:
            lowest, highest = ranges[name]
            if not lowest / MAX_CALL_FACTOR <= values[name] <= highest * MAX_CALL_FACTOR:
                span = f"{lowest:g}" if lowest == highest else f"{lowest:g} to {highest:g}"
                warnings.append(f"{values[name]:g} {description}; measured calls have {span}")
    return warnings


# --- measured calls -------------------------------------------------------------------------------


class MeasuredCall(Record):
    """A call, or the median of several equal ones.

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
        Seconds of the recorded phases by name, and ``late``: waiting for the last rank. The
        remainder is ``rest``.
    scatter
        Standard deviation of the logarithm of the times of equal calls, by phase.
    """

    call: Call
    by_rank: Sequence[str]
    aggregators: Sequence[int]
    seconds: float
    parts: Quantities
    scatter: Mapping[str, float] = {}

    @property
    def collective(self) -> bool:
        """Whether data went through aggregators."""
        return bool(self.aggregators)


def scatter_of(times: Sequence[float]) -> float:
    """Return the standard deviation of the logarithm of times; 0 if there are too few."""
    positive = np.array([time for time in times if time > 0])
    return float(np.log(positive).std(ddof=1)) if len(positive) > 2 else 0.0


def observation(measured: MeasuredCall, model: NodeCost | None) -> Observation:
    """Return a measured call as the laws of its parts see it."""
    call, total = measured.call, measured.seconds
    if not measured.collective:
        values = independent_features(call)
        return Observation(values, {INDEPENDENT: total}, total, call.reading, measured.scatter)
    features = collective_features(call, measured.by_rank, measured.aggregators, model)
    seconds = {
        part_name: measured.parts[part_name]
        for part_name in (*PARTS, LATE)
        if part_name in measured.parts
    }
    others = sum(seconds[part_name] for part_name in seconds if part_name not in ("rest", LATE))
    remainder = max(total - others, 0.0)
    if LATE in seconds:
        seconds[LATE] = min(seconds[LATE], remainder)
    seconds["rest"] = remainder - seconds.get(LATE, 0.0)
    return Observation(features.values, seconds, total, call.reading, measured.scatter)


# --- quantities of calls --------------------------------------------------------------------------

# Quantities of the laws: rounds, pieces, bytes and hot spots.


SIEVE = {False: 512 * 1024, True: 4 * 1024**2}
"""ROMIO's ``ind_wr_buffer_size`` and ``ind_rd_buffer_size``, by whether it is a read."""

MAX_SIEVES = 1_000_000
"""Maximum number of buffers of a file that are distinguished."""


class CallFeatures(Record):
    """Quantities of the laws of phases, and the modelled exchange.

    Attributes
    ----------
    values
        By the names of `isochrone.collective_io.predict.call_parts.LAWS`.
    exchange
        Predicted by the model of a hot spot; None without one.
    """

    values: dict[str, float]
    exchange: CallCost | None = None


def collective_features(
    call: Call, by_rank: Sequence[str], aggregators: Sequence[int], model: NodeCost | None
) -> CallFeatures:
    """Return what the parts of a call with collective buffering depend on."""
    layout = layout_of(by_rank)
    kinds = call.round_kinds(len(aggregators))
    rounds = sum(kind.rounds for kind in kinds)
    cost = predict(kinds, layout, aggregators, model) if model else None
    values = {
        "ranks": float(call.pattern.ranks),
        "rounds": float(rounds),
        "calls": rounds + 1.0,
        "aggregators": float(len(aggregators)),
        **_amounts(kinds, layout, aggregators),
    }
    # Bytes accessed for each byte of data: ROMIO reads all between the first and the last byte of a
    # buffer and, where there are holes between pieces, also before it writes
    # (ADIOI_R_Exchange_data, ADIOI_W_Exchange_data).
    first, last = call.pattern.extent
    access_ratio = max((last - first) / max(values["bytes"], 1.0), 1.0)
    touched = access_ratio if call.reading or access_ratio == 1.0 else 2 * access_ratio
    values["busiest_file"] = values["busiest"] * touched
    values["bytes_file"] = values["bytes"] * touched
    if cost:
        values["exchange"] = cost.seconds
    return CallFeatures(values, cost)


def _amounts(
    kinds: Sequence[RoundKind], layout: Layout, aggregators: Sequence[int]
) -> dict[str, float]:
    """Sum up bytes, pieces and messages of those who have most of them, round by round."""
    amounts = dict.fromkeys(("bytes", "busiest", "hot_bytes", "hot_messages"), 0.0)
    lists = np.zeros((2, layout.nodes))
    pieces = np.zeros(kinds[0].traffic.ranks)
    for kind in kinds:
        traffic, times = kind.traffic, kind.times
        nodes = count(traffic, layout, aggregators)
        # pieces are counted in place of bytes
        lists_of = count(replace(traffic, bytes=traffic.pieces), layout, aggregators)
        lists += times * np.array([lists_of.into_bytes, lists_of.out_bytes])
        pieces += times * np.diff(traffic.pieces.sent)
        amounts["bytes"] += times * float(traffic.bytes.sent[-1])
        amounts["busiest"] += times * float(traffic.bytes.received.max())
        amounts["hot_bytes"] += times * float(np.maximum(nodes.into_bytes, nodes.out_bytes).max())
        amounts["hot_messages"] += times * float(np.maximum(nodes.into, nodes.out).max())
    return {**amounts, "pieces": float(pieces.max()), "list_pieces": float(lists.max())}


def _by_rank(runs: Runs, amounts: Ints, ranks: int) -> Floats:
    """Sum up what each rank has in all runs it is in; shape (ranks,)."""
    change = np.zeros(ranks + 1)
    np.add.at(change, runs.first, amounts)
    np.subtract.at(change, runs.last, amounts)
    return np.cumsum(change[:-1])


def independent_features(call: Call) -> dict[str, float]:
    """Return the quantities of the same call with independent accesses.

    A rank whose data is one piece writes it at once. Several pieces go through a buffer by *data
    sieving* (``ADIOI_GEN_WriteStrided``): each part of the file as long as the buffer that holds
    some of them is read and, in a write, locked, changed and written back.
    """
    pattern, reading = call.pattern, call.reading
    first, last = pattern.extent
    length = max(SIEVE[reading], ceil((last - first) / MAX_SIEVES))
    starts = np.arange(first, last, length, dtype=np.int64)
    runs = pattern.touches(starts, np.minimum(starts + length, last))
    all_runs = pattern.touches(np.array([first]), np.array([last]))
    data, pieces = (
        _by_rank(all_runs, amounts, pattern.ranks) for amounts in (all_runs.bytes, all_runs.pieces)
    )
    ones = np.ones_like(runs.bytes)
    single = pieces <= 1
    ways = 1 if reading else 2
    sieved = _by_rank(runs, ones, pattern.ranks)
    accesses = np.where(single, 1.0, ways * np.minimum(sieved, pieces))
    moved = np.where(single, data, np.maximum(ways * np.minimum(sieved * length, last), data))
    return {
        "ranks": float(pattern.ranks),
        "bytes": float(data.sum()),
        "pieces": float(pieces.max()),
        "own_accesses": float(accesses.max()),
        "own_bytes": float(moved.max()),
        "moved": float(moved.sum()),
    }
