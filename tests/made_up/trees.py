"""Collective operations on healthy machines: when each rank is done, by the algorithm alone.

Every message takes one unit of time and keeps its sender as long; nobody is slow.
"""

from __future__ import annotations

from collections.abc import Callable

Parents = Callable[[int], list[int]]
"""Makes a tree of ranks with root 0: the parent of each rank but the first, in order."""


def binomial(ranks: int) -> list[int]:
    """Clear the lowest bit of a rank for its parent."""
    return [rank & (rank - 1) for rank in range(1, ranks)]


def chain(ranks: int) -> list[int]:
    """Each rank sends to the next."""
    return list(range(ranks - 1))


def flat(ranks: int) -> list[int]:
    """The root sends to everyone."""
    return [0] * (ranks - 1)


def k_nomial(ranks: int, k: int = 4) -> list[int]:
    """Clear the lowest digit to the base ``k`` that is not zero."""
    parents = []
    for rank in range(1, ranks):
        digit = 1
        while rank // digit % k == 0:
            digit *= k
        parents.append(rank - rank // digit % k * digit)
    return parents


TREES: dict[str, Parents] = {
    "binomial": binomial,
    "chain": chain,
    "flat": flat,
    "k-nomial": k_nomial,
}


def bcast(parents: list[int], start: float = 0.0) -> list[float]:
    """Return when each rank is done; a parent sends to its farthest-reaching child first."""
    done = [0.0] * (len(parents) + 1)
    received = [0.0] * (len(parents) + 1)
    received[0] = done[0] = start
    children: dict[int, list[int]] = {}
    for child, parent in enumerate(parents, start=1):
        children.setdefault(parent, []).append(child)
    weight = [1] * len(done)
    for child in range(len(parents), 0, -1):
        weight[parents[child - 1]] += weight[child]
    waiting = [0]
    while waiting:
        rank = waiting.pop()
        now = received[rank]
        for child in sorted(children.get(rank, []), key=lambda c: -weight[c]):
            now += 1.0
            received[child] = done[child] = now
            waiting.append(child)
        done[rank] = max(now, 1.0)
    return done


def reduce(parents: list[int]) -> list[float]:
    """Return when each rank is done: a leaf when it has sent, the root when it has everything."""
    done = [1.0] * (len(parents) + 1)
    for child in range(len(parents), 0, -1):
        parent = parents[child - 1]
        done[parent] = max(done[parent], done[child]) + 1.0
    done[0] -= 1.0  # it sends to nobody
    return done


def allreduce(parents: list[int]) -> list[float]:
    """Return when each rank is done with a reduction to rank 0 and a broadcast from it."""
    return bcast(parents, start=reduce(parents)[0])


def recursive_doubling(ranks: int) -> list[float]:
    """Return when each rank is done; those beyond a power of two wait for one more message."""
    whole = 1 << (ranks.bit_length() - 1)
    rest, steps = ranks - whole, float(whole.bit_length() - 1)
    if not rest:
        return [steps] * ranks
    return [steps + 2 if rank < 2 * rest and rank % 2 == 0 else steps + 1 for rank in range(ranks)]
