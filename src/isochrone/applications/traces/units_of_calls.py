"""Calls of one rank that belong together, and whether those of several ranks meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from isochrone.applications.traces.gaps import Spent
from isochrone.applications.traces.trace import Call

__all__ = [
    "MESSAGES", "SENDS", "Unit", "answers", "are_next", "blocking_with", "both_ways",
    "closed_among", "opened", "receive_first", "send_first",
]  # fmt: skip

SENDS: Final = ("send", "isend")
MESSAGES: Final = ("send", "isend", "recv", "irecv", "wait")


@dataclass
class Unit:
    """Calls of one rank that belong together; `pivot` is the place of the first send of them."""

    calls: list[Call]
    pivot: int = 0

    def peers(self, *, sends: bool) -> Counter[int]:
        """Return whom it sends to, or receives from, and how often."""
        return Counter(
            c.peer for c in self.calls if c.op != "wait" and (c.op in SENDS) == sends
        )  # fmt: skip

    def gaps(self, begin: int, end: int) -> Spent:
        """Return the computation before some of its calls."""
        return Spent.of([call.gap for call in self.calls[begin:end]])


def opened(calls: list[Call]) -> Unit | None:
    """Return what is begun and waited for next, blocking calls in between included."""
    if not calls or calls[0].op not in ("isend", "irecv"):
        return None
    for place, call in enumerate(calls):
        if call.op == "wait":
            return Unit(calls[: place + 1])
        if call.op not in MESSAGES:
            return None
    return None


def blocking_with(calls: list[Call], units: dict[int, Unit]) -> Unit:
    """Return the blocking calls, of one kind, that are the other side of what others have begun."""
    if not calls or calls[0].op not in ("send", "recv"):
        return Unit([])
    found = _distinct(calls, calls[0].op)
    met = [place for place, call in enumerate(found) if call.peer not in units]
    return Unit(found[: met[0]] if met else found)


def both_ways(units: dict[int, Unit]) -> dict[int, Unit]:
    """Leave out those that no one is connected with who sends and receives at once.

    Who begins and waits for one message alone need not have begun it, and counts as such, too.
    """
    reached = [
        rank for rank, unit in units.items()
        if unit.calls[-1].op == "wait"
        and (len(unit.calls) == 2 or (unit.peers(sends=True) and unit.peers(sends=False)))
    ]  # fmt: skip
    kept = set(reached)
    while reached:
        near = {c.peer for c in units[reached.pop()].calls if c.op != "wait"} - kept
        kept |= near
        reached += near
    return {rank: unit for rank, unit in units.items() if rank in kept}


def _distinct(calls: Iterable[Call], op: str) -> list[Call]:
    """Return the calls of this kind that come next, at most one with each peer."""
    peers: set[int] = set()
    found = []
    for call in calls:
        if call.op != op or call.peer in peers:
            break
        peers.add(call.peer)
        found.append(call)
    return found


def _one_way(calls: list[Call], blocking: str, begun: str) -> list[Call]:
    """Return what is only received, or only sent, next, at most one message with each peer."""
    found: list[Call] = []
    peers: set[int] = set()
    while True:
        more = _distinct(calls[len(found) :], blocking)[:1]
        if not more:
            more = _distinct(calls[len(found) :], begun)
            end = len(found) + len(more)
            if not more or end >= len(calls) or calls[end].op != "wait":
                return found
            more = calls[len(found) : end + 1]
        met = {call.peer for call in more if call.op != "wait"}
        if met & peers:
            return found
        peers |= met
        found += more


def receive_first(calls: list[Call]) -> Unit:
    """Return what is received next, and what is sent then; one of them may be nothing."""
    received = _one_way(calls, "recv", "irecv")
    sent = _one_way(calls[len(received) :], "send", "isend")
    return Unit(received + sent, len(received))


def send_first(calls: list[Call]) -> Unit | None:
    """Return what is sent next, and what is received then, if both are something."""
    sent = _distinct(calls, "send")
    received = _distinct(calls[len(sent) :], "recv")
    return Unit(sent + received) if sent and received else None


def answers(calls: list[Call]) -> Unit:
    """Return questions and the answers to them, one of each rank."""
    peers: set[int] = set()
    for question, answer in zip(calls[::2], calls[1::2], strict=False):
        same = question.peer == answer.peer and question.peer not in peers
        if (question.op, answer.op) != ("recv", "send") or not same:
            break
        peers.add(question.peer)
    return Unit(calls[: 2 * len(peers)])


def are_next(calls: list[Call], *expected: tuple[str, int | None]) -> bool:
    """Whether the next calls are these, with these ranks (None: any)."""
    return len(calls) >= len(expected) and all(
        call.op == op and peer in (None, call.peer)
        for call, (op, peer) in zip(calls, expected, strict=False)
    )


def closed_among(units: dict[int, Unit], *, shorten: bool = False) -> dict[int, Unit]:
    """Return the units whose messages are all sent and received among them.

    With `shorten`, a unit ends before its first call that is not; else it is left out.
    """
    units = {rank: unit for rank, unit in units.items() if unit.calls}
    changed = True
    while changed:
        changed = False
        sends = {rank: unit.peers(sends=True) for rank, unit in units.items()}
        receives = {rank: unit.peers(sends=False) for rank, unit in units.items()}
        for rank in list(units):
            unit = units[rank]
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
            changed = True
            while good and unit.calls[good - 1].op in ("isend", "irecv"):
                good -= 1
            if shorten and good:
                units[rank] = Unit(unit.calls[:good], min(unit.pivot, good))
            else:
                del units[rank]
            break
    return units
