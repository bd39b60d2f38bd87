"""Collective operations as messages, for simulators that have none.

The algorithms are the plain ones of textbooks (Thakur, Rabenseifner, Gropp, "Optimization of
collective communication operations in MPICH", IJHPCA 19(1), 2005):

barrier
    Dissemination, ⌈log₂ p⌉ rounds.
bcast, reduce
    Binomial tree.
allreduce
    A reduce to the first rank and a bcast from it.
gather, scatter
    Binomial tree, blocks of a whole branch in one message.
allgather
    Ring, p - 1 rounds of one block.
alltoall, reduce_scatter_block
    p - 1 rounds, in each a block to the rank k above and one from the rank k below.
scan
    ⌈log₂ p⌉ rounds, in each all bytes to the rank 2^k above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from isochrone.applications.description.actions import Action

__all__ = ["as_messages"]

Messages = Iterator[tuple[str, int, float]]
"""Kind, place of the other in the communicator, bytes."""


def as_messages(action: Action, rank: int) -> Iterator[Action]:
    """Yield a collective operation as messages of one of its ranks; others as they are."""
    if action.op not in _OPERATIONS:
        yield action
        return
    members = action.members
    root = members.index(action.root) if action.root in members else 0
    place = (members.index(rank) - root) % len(members)  # the root is at 0
    for kind, other, size in _OPERATIONS[action.op](place, len(members), action.amount):
        if kind == "wait":
            yield Action("wait")
        else:
            yield Action(kind, members[(other + root) % len(members)], size)


def _shift(to: int, source: int, size: float) -> Messages:
    """Send and receive at once."""
    yield "irecv", source, size
    yield "isend", to, size
    yield "wait", -1, 0.0


def _barrier(r: int, p: int, _: float) -> Messages:
    reach = 1
    while reach < p:
        yield from _shift((r + reach) % p, (r - reach) % p, 0.0)
        reach *= 2


def _children(r: int, p: int) -> tuple[list[int], int]:
    """Return those below a rank in a binomial tree, smallest branch first, and who is above."""
    found, bit = [], 1
    while bit < p and not r & bit:
        if r + bit < p:
            found.append(r + bit)
        bit *= 2
    return found, r - bit if r else -1


def _branch(child: int, r: int, p: int) -> int:
    """Return how many ranks are in a branch."""
    return min(child - r, p - child)


def _bcast(r: int, p: int, size: float) -> Messages:
    children, above = _children(r, p)
    if above >= 0:
        yield "recv", above, size
    for child in reversed(children):
        yield "send", child, size


def _reduce(r: int, p: int, size: float) -> Messages:
    children, above = _children(r, p)
    for child in children:
        yield "recv", child, size
    if above >= 0:
        yield "send", above, size


def _allreduce(r: int, p: int, size: float) -> Messages:
    yield from _reduce(r, p, size)
    yield from _bcast(r, p, size)


def _gather(r: int, p: int, size: float) -> Messages:
    children, above = _children(r, p)
    for child in children:
        yield "recv", child, size * _branch(child, r, p)
    if above >= 0:
        yield "send", above, size * _branch(r, above, p)


def _scatter(r: int, p: int, size: float) -> Messages:
    children, above = _children(r, p)
    if above >= 0:
        yield "recv", above, size * _branch(r, above, p)
    for child in reversed(children):
        yield "send", child, size * _branch(child, r, p)


def _allgather(r: int, p: int, size: float) -> Messages:
    for _ in range(p - 1):
        yield from _shift((r + 1) % p, (r - 1) % p, size)


def _alltoall(r: int, p: int, size: float) -> Messages:
    for k in range(1, p):
        yield from _shift((r + k) % p, (r - k) % p, size)


def _scan(r: int, p: int, size: float) -> Messages:
    reach = 1
    while reach < p:
        if r + reach < p:
            yield "isend", r + reach, size
        if r >= reach:
            yield "irecv", r - reach, size
        yield "wait", -1, 0.0
        reach *= 2


_OPERATIONS: Final[dict[str, Callable[[int, int, float], Messages]]] = {
    "barrier": _barrier, "bcast": _bcast, "reduce": _reduce, "allreduce": _allreduce,
    "gather": _gather, "scatter": _scatter, "allgather": _allgather, "alltoall": _alltoall,
    "reduce_scatter_block": _alltoall, "scan": _scan,
}  # fmt: skip
