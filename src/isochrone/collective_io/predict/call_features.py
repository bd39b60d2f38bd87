"""What the parts of a collective call depend on: its rounds, pieces, bytes and hot spots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.collective_io.predict.collective_io import CallCost, predict
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.workload import Ints
from isochrone.collective_io.workload.access_pattern import Runs
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.node_messages import Layout, count, layout_of
from isochrone.collective_io.workload.traffic import RoundKind

__all__ = ["CallFeatures", "collective_features", "independent_features"]

Floats = NDArray[np.float64]

SIEVE: Final = {False: 512 * 1024, True: 4 * 1024**2}
"""ROMIO's ``ind_wr_buffer_size`` and ``ind_rd_buffer_size``, by whether it is a read."""

MAX_SIEVES: Final = 1_000_000
"""More buffers of a file are not told apart."""


@dataclass(frozen=True)
class CallFeatures:
    """The quantities that laws of parts are made of, and the exchange as modelled.

    Attributes
    ----------
    values
        By the names of `isochrone.collective_io.predict.call_parts.LAWS`.
    rounds
        Rounds of the exchange.
    exchange
        Predicted by the model of a hot spot; None without one.
    """

    values: dict[str, float]
    rounds: int
    exchange: CallCost | None = None


def collective_features(
    call: Call, by_rank: Sequence[str], aggregators: Sequence[int], model: NodeCost | None
) -> CallFeatures:
    """Return what the parts of a call with collective buffering depend on."""
    layout, hosts = layout_of(by_rank)
    kinds = call.round_kinds(len(aggregators))
    rounds = sum(kind.rounds for kind in kinds)
    cost = (
        predict(kinds, layout, aggregators, hosts, model, reading=call.reading) if model else None
    )
    values = {
        "ranks": float(call.pattern.ranks),
        "rounds": float(rounds),
        "calls": rounds + 1.0,
        "aggregators": float(len(aggregators)),
        **_amounts(kinds, layout, aggregators),
    }
    # Bytes accessed for each byte of data: ROMIO reads what is between the first and the last byte
    # of a buffer, and, where there are holes between pieces, also before it writes
    # (ADIOI_R_Exchange_data, ADIOI_W_Exchange_data).
    first, last = call.pattern.extent
    whole = max((last - first) / max(values["bytes"], 1.0), 1.0)
    touched = whole if call.reading or whole == 1.0 else 2 * whole
    values["busiest_file"] = values["busiest"] * touched
    values["bytes_file"] = values["bytes"] * touched
    if cost:
        values["exchange"] = cost.seconds
    return CallFeatures(values, rounds, cost)


def _amounts(
    kinds: Sequence[RoundKind], layout: Layout, aggregators: Sequence[int]
) -> dict[str, float]:
    """Sum up bytes, pieces and messages of those who have most of them, round by round."""
    found = dict.fromkeys(("bytes", "busiest", "hot_bytes", "hot_messages"), 0.0)
    lists = np.zeros((2, layout.nodes))
    pieces = np.zeros(kinds[0].traffic.ranks)
    for kind in kinds:
        traffic, times = kind.traffic, kind.times
        nodes = count(traffic, layout, aggregators)
        # what is counted are the pieces in place of the bytes
        told = count(replace(traffic, bytes=traffic.pieces), layout, aggregators)
        lists += times * np.array([told.into_bytes, told.out_bytes])
        pieces += times * np.diff(traffic.pieces.sent)
        found["bytes"] += times * float(traffic.bytes.sent[-1])
        found["busiest"] += times * float(traffic.bytes.received.max())
        found["hot_bytes"] += times * float(np.maximum(nodes.into_bytes, nodes.out_bytes).max())
        found["hot_messages"] += times * float(np.maximum(nodes.into, nodes.out).max())
    return {**found, "pieces": float(pieces.max()), "list_pieces": float(lists.max())}


def _by_rank(runs: Runs, each: Ints, ranks: int) -> Floats:
    """Sum up what each rank has in all runs it is in; shape (ranks,)."""
    change = np.zeros(ranks + 1)
    np.add.at(change, runs.first, each)
    np.subtract.at(change, runs.last, each)
    return np.cumsum(change[:-1])


def independent_features(call: Call) -> dict[str, float]:
    """Return what the same call depends on if every rank accesses the file on its own.

    A rank whose data is one piece writes it at once. Several pieces go through a buffer by *data
    sieving* (``ADIOI_GEN_WriteStrided``): each part of the file as long as the buffer that holds
    some of them is read and, in a write, locked, changed and written back.
    """
    pattern, reading = call.pattern, call.reading
    first, last = pattern.extent
    length = max(SIEVE[reading], math.ceil((last - first) / MAX_SIEVES))
    starts = np.arange(first, last, length, dtype=np.int64)
    runs = pattern.touches(starts, np.minimum(starts + length, last))
    whole = pattern.touches(np.array([first]), np.array([last]))
    data, pieces = (_by_rank(whole, each, pattern.ranks) for each in (whole.bytes, whole.pieces))
    ones = np.ones_like(runs.bytes)
    single = pieces <= 1
    ways = 1 if reading else 2
    sieved = _by_rank(runs, ones, pattern.ranks)
    accesses = np.where(single, 1.0, ways * np.minimum(sieved, pieces))
    moved = np.where(single, data, np.maximum(ways * np.minimum(sieved * length, last), data))
    return {
        "ranks": float(pattern.ranks), "bytes": float(data.sum()), "pieces": float(pieces.max()),
        "own_accesses": float(accesses.max()), "own_bytes": float(moved.max()),
        "moved": float(moved.sum()),
    }  # fmt: skip
