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

Operations with a count for each block, such as gatherv, are those with equal blocks.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, takewhile

from isochrone.applications.description.actions import Action
from isochrone.base.operations import like

Messages = Iterator[tuple[str, int, float]]
"""Kind, place of the other in the communicator, bytes."""


def as_messages(action: Action, rank: int) -> Iterator[Action]:
    """Yield a collective operation as messages of one of its ranks; others as they are."""
    operation = _OPERATIONS.get(like(action.op))
    if operation is None:
        yield action
        return
    members = action.members
    root = members.index(action.root) if action.root in members else 0
    position = (members.index(rank) - root) % len(members)  # the root is at 0
    for kind, peer, size in operation(position, len(members), action.amount):
        if kind == "wait":
            yield Action("wait")
        else:
            yield Action(kind, members[(peer + root) % len(members)], size)


def _shifts(reaches: Iterable[int], r: int, p: int, size: float) -> Messages:
    """Send to the rank so far above, and receive from the one as far below, at once."""
    for reach in reaches:
        yield "irecv", (r - reach) % p, size
        yield "isend", (r + reach) % p, size
        yield "wait", -1, 0.0


def _doubling(p: int) -> Iterator[int]:
    reach = 1
    while reach < p:
        yield reach
        reach *= 2


def _down(r: int, p: int, size: float, blocks: bool = False) -> Messages:
    """Pass data from the root on: the same to all, or `blocks` of whole branches."""
    below = takewhile(lambda bit: not r & bit, _doubling(p))  # of a binomial tree
    children, above = [r + bit for bit in below if r + bit < p], r & (r - 1)
    if r:
        yield "recv", above, size * (min(r - above, p - r) if blocks else 1)
    for child in reversed(children):
        yield "send", child, size * (min(child - r, p - child) if blocks else 1)


def _up(r: int, p: int, size: float, blocks: bool = False) -> Messages:
    """Do the opposite."""
    for kind, peer, length in reversed([*_down(r, p, size, blocks)]):
        yield "recv" if kind == "send" else "send", peer, length


def _scan(r: int, p: int, size: float) -> Messages:
    for reach in _doubling(p):
        if r + reach < p:
            yield "isend", r + reach, size
        if r >= reach:
            yield "irecv", r - reach, size
        yield "wait", -1, 0.0


def _alltoall(r: int, p: int, size: float) -> Messages:
    return _shifts(range(1, p), r, p, size)


_OPERATIONS: dict[str, Callable[[int, int, float], Messages]] = {
    "barrier": lambda r, p, _: _shifts(_doubling(p), r, p, 0.0),
    "bcast": _down,
    "reduce": _up,
    "allreduce": lambda r, p, size: chain(_up(r, p, size), _down(r, p, size)),
    "gather": partial(_up, blocks=True),
    "scatter": partial(_down, blocks=True),
    "allgather": lambda r, p, size: _shifts([1] * (p - 1), r, p, size),
    "alltoall": _alltoall,
    "reduce_scatter_block": _alltoall,
    "scan": _scan,
}
