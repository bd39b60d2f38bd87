"""Collective operations whose members are farther from each other than those that were measured.

An operation is measured on the first ranks of a job. Other members, such as every 16th rank, may be
behind other switches. Which messages a library sends is not known, but algorithms are of three
kinds: all messages are sent at once; the distance between partners doubles from round to round
(trees, recursive doubling); or each other member is the partner of one round (pairwise exchanges).
R. Thakur, R. Rabenseifner and W. Gropp, Optimization of collective communication operations in
MPICH (IJHPCA 19, 2005), describe them.

A round takes as long as its farthest pair. The part of the time that no byte adds to is as many
latencies as there are rounds, and becomes longer as they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from isochrone.applications.predict.levels import Levels
from isochrone.applications.predict.message_times import Side
from isochrone.applications.thresholds import MAX_ROUND_LATENCIES
from isochrone.base.arrays import Floats, Ints
from isochrone.base.operations import like

BY_TURNS = ("alltoall", "allgather", "reduce_scatter_block")
"""Operations whose data need as many messages as there are members; others need a tree of them."""


MOST_TURNS = 64
"""Rounds of a pairwise exchange that are looked at, evenly spread over all."""

Pairs = tuple[Ints, Ints]


def _doubling(members: int) -> Iterator[Pairs]:
    """Yield the pairs of each round if distances double."""
    ranks = np.arange(members)
    apart = 1
    while apart < members:
        partners = ranks ^ apart
        yield ranks[partners < members], partners[partners < members]
        apart *= 2


def _turns(members: int) -> Iterator[Pairs]:
    """Yield the pairs of each round if everyone has each other member as a partner in turn."""
    ranks = np.arange(members)
    chosen = np.linspace(1, members - 1, min(members - 1, MOST_TURNS)).astype(np.int64)
    for apart in chosen.tolist():
        yield ranks, (ranks + apart) % members


def _at_once(members: int) -> Iterator[Pairs]:
    """Yield all pairs as one round."""
    ranks, partners = zip(*_turns(members), strict=True)
    yield np.concatenate(ranks), np.concatenate(partners)


def slowdown(
    op: str,
    nodes: Sequence[int],
    reference: Sequence[int],
    measured: int,
    levels: Levels,
    seconds: float,
    latency: float,
    side: Side,
) -> float:
    """Return by what factor an operation is slower on some nodes than on those of the measurement.

    Parameters
    ----------
    op
        Operation.
    nodes
        Node of each member.
    reference
        Nodes of as many ranks as the measurement would have had.
    measured
        Ranks on which it was measured at most. A formula for more says what operations take whose
        further members are as far away as the farthest of these.
    seconds, latency
        What the measurement says that it takes, and the part of that to which no byte adds.
    side
        Of all kinds of algorithms the fastest or the slowest, or what is likely for the operation.
    """
    factors: dict[Callable[[int], Iterator[Pairs]], float] = {}
    latencies = levels.latencies(side)
    for kind in (_at_once, _doubling, _turns):
        means = []
        for times in (latencies, levels.per_byte):
            rounds = list(kind(len(nodes)))
            actual = _farthest(rounds, np.array(nodes), levels, times)
            plain = _measured(rounds, np.array(reference), measured, levels, times)
            means.append(actual.mean() / plain.mean() if plain.any() else 1.0)
        factors[kind] = float((latency * means[0] + (seconds - latency) * means[1]) / seconds)
    if side != "seconds":
        return min(factors.values()) if side == "low" else max(factors.values())
    if latency < MAX_ROUND_LATENCIES * latencies[0]:
        return factors[_at_once]
    return factors[_turns if like(op) in BY_TURNS else _doubling]


def _farthest(rounds: Sequence[Pairs], nodes: Ints, levels: Levels, times: Floats) -> Floats:
    """Return the time of the farthest pair of each round; 0 within nodes."""
    seconds = []
    for ranks, partners in rounds:
        a, b = nodes[ranks], nodes[partners]
        seconds.append(times[levels.between(a[a != b], b[a != b])].max(initial=0.0))
    return np.array(seconds)


def _measured(
    rounds: Sequence[Pairs], nodes: Ints, measured: int, levels: Levels, times: Floats
) -> Floats:
    """Return that of the ranks that were measured, and of further ones that are like them."""
    measured_ranks = min(measured, len(nodes))
    inside = [
        (ranks[mask], partners[mask])
        for ranks, partners in rounds
        for mask in [(ranks < measured_ranks) & (partners < measured_ranks)]
    ]
    seconds = _farthest(inside, nodes, levels, times)
    beyond = np.array(
        [len(subset[0]) < len(pairs[0]) for subset, pairs in zip(inside, rounds, strict=True)]
    )
    if measured_ranks < 2 or not beyond.any():
        return seconds
    farthest = _farthest(list(_at_once(measured_ranks)), nodes, levels, times)[0]
    return np.where(beyond, farthest, seconds)
