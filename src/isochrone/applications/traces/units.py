"""Calls of one rank that belong together, and those of others that they meet."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from isochrone.applications.traces.gaps import Spent
from isochrone.applications.traces.trace import MESSAGES, RECEIVES, SENDS, Calls, Event

Message = tuple[int, int, float]
"""Sender, receiver and bytes."""


@dataclass
class Unit:
    """Calls of one rank that belong together; `pivot` is the place of the first send of them."""

    calls: Calls
    pivot: int = 0

    def peers(self, *, sends: bool) -> Counter[int]:
        """Return whom it sends to, or receives from, and how often."""
        return Counter(c.peer for c in self.calls if c.op != "wait" and (c.op in SENDS) == sends)

    def gaps(self, begin: int = 0, end: int | None = None) -> Spent:
        """Return the computation before some of its calls."""
        return Spent.of(self.calls[begin:end])


Units = dict[int, Unit]
"""By rank."""


def opened(calls: Calls) -> Unit | None:
    """Return what is begun and waited for next, blocking calls in between included."""
    if not calls or calls[0].op not in ("isend", "irecv"):
        return None
    for index, call in enumerate(calls):
        if call.op == "wait":
            return Unit(calls[: index + 1])
        if call.op not in MESSAGES:
            return None
    return None


def blocking_with(calls: Calls, units: Units) -> Unit:
    """Return the blocking calls, of one kind, that are the other side of what others have begun."""
    if not calls or calls[0].op not in ("send", "recv"):
        return Unit([])
    distinct = _distinct(calls, calls[0].op)
    return Unit(list(takewhile(lambda call: call.peer in units, distinct)))


def both_ways(units: Units) -> Units:
    """Leave out those that no one is connected with who sends and receives at once.

    Who begins and waits for one message alone need not have begun it, and counts as such, too.
    """
    reached = [
        rank
        for rank, unit in units.items()
        if unit.calls[-1].op == "wait"
        and (len(unit.calls) == 2 or (unit.peers(sends=True) and unit.peers(sends=False)))
    ]
    connected = set(reached)
    while reached:
        neighbours = {c.peer for c in units[reached.pop()].calls if c.op != "wait"} - connected
        connected |= neighbours
        reached += neighbours
    return {rank: unit for rank, unit in units.items() if rank in connected}


def _distinct(calls: Iterable[Event], op: str) -> Calls:
    """Return the calls of this kind that come next, at most one with each peer."""
    peers = set()
    distinct = []
    for call in calls:
        if call.op != op or call.peer in peers:
            break
        peers.add(call.peer)
        distinct.append(call)
    return distinct


def _one_way(calls: Calls, blocking: str, begun: str) -> Calls:
    """Return what is only received, or only sent, next, at most one message with each peer."""
    one_way: Calls = []
    peers: set[int] = set()
    while True:
        left = calls[len(one_way) :]
        next_calls = _distinct(left, blocking)[:1]
        if not next_calls:
            count = len(_distinct(left, begun))
            next_calls = left[: count + 1]
            if not count or next_calls[-1].op != "wait":
                return one_way
        met = {call.peer for call in next_calls if call.op != "wait"}
        if met & peers:
            return one_way
        peers |= met
        one_way += next_calls


def receive_first(calls: Calls) -> Unit:
    """Return what is received next, and what is sent then; one of them may be nothing."""
    received = _one_way(calls, "recv", "irecv")
    sent = _one_way(calls[len(received) :], "send", "isend")
    return Unit(received + sent, len(received))


def send_first(calls: Calls) -> Unit | None:
    """Return what is sent next, and what is received then, if both are something."""
    sent = _distinct(calls, "send")
    received = _distinct(calls[len(sent) :], "recv")
    return Unit(sent + received) if sent and received else None


def are_next(calls: Calls, *expected: tuple[str, int | None]) -> bool:
    """Whether the next calls are these, with these ranks (None: any)."""
    return len(calls) >= len(expected) and all(
        call.op == op and peer in (None, call.peer)
        for call, (op, peer) in zip(calls, expected, strict=False)
    )


def closed_among(units: Units, *, shorten: bool = False) -> Units:
    """Return the units whose messages are all sent and received among them.

    With `shorten`, a unit ends before its first call that is not; else it is left out.
    """
    while True:
        units = {rank: unit for rank, unit in units.items() if unit.calls}
        sends = {rank: unit.peers(sends=True) for rank, unit in units.items()}
        receives = {rank: unit.peers(sends=False) for rank, unit in units.items()}
        for rank, unit in units.items():
            good = 0
            for call in unit.calls:
                if call.op != "wait":
                    mine, theirs = (sends, receives) if call.op in SENDS else (receives, sends)
                    met = call.peer in theirs and theirs[call.peer][rank] == mine[rank][call.peer]
                    if not met:
                        break
                good += 1
            if good == len(unit.calls):
                continue
            while good and unit.calls[good - 1].op in ("isend", "irecv"):
                good -= 1
            units[rank] = Unit(unit.calls[:good] if shorten else [], min(unit.pivot, good))
            break
        else:
            return units


def in_order(messages: list[Message], units: dict[int, Unit]) -> list[Message]:
    """Return messages in an order that is that of the sends, and of the receives, of each rank."""
    received = {
        rank: [c.peer for c in unit.calls if c.op in RECEIVES] for rank, unit in units.items()
    }
    ordered: list[Message] = []
    left = messages
    while left:
        waiting: list[Message] = []
        blocked: set[int] = set()
        for message in left:
            source, target, _ = message
            if source in blocked or received[target][0] != source:
                blocked.add(source)
                waiting.append(message)
            else:
                ordered.append(message)
                received[target].pop(0)
        if len(waiting) == len(left):
            return ordered + left
        left = waiting
    return ordered
