"""Receives from any source whose senders are always the same are messages like others."""

from __future__ import annotations

import pytest

from isochrone.applications.traces.deriving import describe
from isochrone.applications.traces.trace import Calls, Event, Trace
from isochrone.base.errors import InputError

NEIGHBOURS = {0: [1, 2], 1: [2, 2], 2: [3], 3: [0, 3], 4: [0]}
"""Whom each rank sends to; rank 3 to itself, too, and nobody to rank 4."""


def traced(rounds: int = 20, more: int = 0) -> Trace:
    ranks: list[Calls] = []
    for rank, targets in NEIGHBOURS.items():
        senders = sum(list(of).count(rank) for of in NEIGHBOURS.values())
        ranks.append([])
        for _ in range(rounds):
            ranks[-1] += [Event("irecv", -1, 4096, any=True)] * (senders + (more if rank else 0))
            ranks[-1] += [Event("isend", to, 4096, gap=1e-5) for to in targets]
            ranks[-1] += [Event("wait", seconds=1e-5), Event("barrier")]
    return Trace(ranks, [tuple(range(5))])


def test_a_fixed_set_of_senders_is_an_exchange() -> None:
    document, _ = describe(traced())
    (app,) = document["apps"]
    assert app["iterations"] == 20
    (exchange,) = [one["exchange"] for one in app["phases"] if "exchange" in one]
    found = exchange["topology"]["edges"]
    edges = found["list"] if isinstance(found, dict) else found
    pairs = [
        (edge["from"], edge["to"], edge.get("count", 1)) if isinstance(edge, dict) else (*edge, 1)
        for edge in edges
    ]
    assert sorted(pairs) == [(0, 1, 1), (0, 2, 1), (1, 2, 2), (2, 3, 1), (3, 0, 1), (4, 0, 1)]


def test_receives_that_nobody_answers_are_refused() -> None:
    with pytest.raises(InputError, match="irecv"):
        describe(traced(more=1))
