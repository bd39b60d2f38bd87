"""What the ranks do together, round by round: a collective, or messages.

Each rank's calls are in order; those of different ranks are put together where they meet. Next
comes whatever is closed: a collective at which all its members are, or messages whose senders and
receivers are all there. Ranks that are not part of a round are not held up by it, as in a
description.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from isochrone.applications.traces.gaps import Spent
from isochrone.applications.traces.trace import MESSAGES, SENDS, Calls, Event
from isochrone.applications.traces.units import (
    Message,
    Unit,
    Units,
    are_next,
    blocking_with,
    both_ways,
    closed_among,
    in_order,
    opened,
    receive_first,
    send_first,
)

MIN_LOOKAHEAD_CALLS = 512
"""Calls of a rank that are looked at for the next round, at least."""


class Unknown(Exception):
    """Something that a description cannot say, and why."""


Kind = Literal["collective", "exchange", "stream", "token", "request", "end"]


@dataclass
class Round:
    """Ranks that meet.

    Attributes
    ----------
    kind
        A collective, or the flow of messages; "end": computation alone.
    ranks
        That take part.
    messages
        In the order of the senders' calls; of a stream, of the receivers', too.
    before, within
        Computation before a rank takes part; and within: between what it receives and what it
        sends, or, of an exchange, between the begin of messages and the wait for them.
    starter
        Of a token: who sends first; of requests: the server.
    answers
        Of requests: how many; `within` is for each of them.
    one_by_one
        Of a stream: some rank waits for one message before it begins to receive the next.
    call, among
        Of a collective, its root a position; and the ranks of each communicator that does it.
    family, apart
        What it has in common with rounds of ranks that are farther apart, and how far they are: see
        `steps`; None: nothing.
    sites
        Seconds in the calls, of all ranks and visits together, by where they are in the program's
        code: indices, -1 where that is not known.
    """

    kind: Kind
    ranks: list[int]
    messages: list[Message] = field(default_factory=list)
    before: dict[int, Spent] = field(default_factory=dict)
    within: dict[int, Spent] = field(default_factory=dict)
    starter: int = -1
    answers: int = 1
    one_by_one: bool = False
    call: Event | None = None
    among: list[list[int]] = field(default_factory=list)
    family: Hashable = None
    apart: int = 1
    sites: Counter[int] = field(default_factory=Counter)

    def note(self, calls: Iterable[Event]) -> None:
        """Add the time of calls."""
        for call in calls:
            self.sites[call.site] += call.seconds  # type: ignore[assignment]

    @property
    def flow(self) -> str:
        """As it is written."""
        return "sweep" if self.one_by_one else self.kind


def rounds(bodies: list[Calls], groups: list[tuple[int, ...]]) -> list[Round]:
    """Return what happens, in an order in which it can.

    Parameters
    ----------
    bodies
        Calls of each rank.
    groups
        Ranks of communicators, by number.

    Raises
    ------
    Unknown
        If calls are left that never meet.
    """
    meeting = _Meeting([_collectives_first(body) for body in bodies], groups)
    sequence = []
    while any(map(meeting.head, meeting.ranks)):
        sequence.append(meeting.next())
    return sequence


def _collectives_first(body: Calls) -> Calls:
    """Let messages that are open across a collective begin after it: phases follow each other."""
    ordered = []
    open_: Calls = []
    for call in body:
        if call.op in ("isend", "irecv") or (open_ and call.op in ("send", "recv")):
            open_.append(call)
        elif call.op == "wait":
            ordered += [*open_, call]
            open_ = []
        elif open_:
            first = open_[0]
            ordered.append(call._replace(gap=first.gap, seen=first.seen))
            open_[0] = first._replace(gap=call.gap, seen=call.seen)
        else:
            ordered.append(call)
    return ordered + open_


def _sent_where_begun(calls: Calls) -> Calls:
    """Take messages that are begun, and waited for after something is received, as sent at once."""
    sent: Calls = []
    gap, at = 0.0, 0
    while at < len(calls):
        unit = opened(calls[at : at + MIN_LOOKAHEAD_CALLS])
        taken, waited = calls[at : at + 1], 0.0
        at += 1
        if unit and {call.op for call in unit.calls} == {"isend", "recv", "wait"}:
            taken = [call._replace(op=call.op.removeprefix("i")) for call in unit.calls[:-1]]
            waited = unit.calls[-1].gap
            at += len(taken)
        sent += [taken[0]._replace(gap=taken[0].gap + gap), *taken[1:]]
        gap = waited
    return sent


class _Meeting:
    """How far each rank is in its iteration."""

    def __init__(self, bodies: list[Calls], groups: list[tuple[int, ...]]) -> None:
        self.bodies = bodies
        self.ranks = range(len(bodies))
        self.groups = groups
        self.at = [0] * len(bodies)
        self.ahead = max(MIN_LOOKAHEAD_CALLS, 8 * len(bodies))

    def left(self, rank: int) -> Calls:
        return self.bodies[rank][self.at[rank] : self.at[rank] + self.ahead]

    def head(self, rank: int) -> Event | None:
        at = self.at[rank]
        return self.bodies[rank][at] if at < len(self.bodies[rank]) else None

    def _offers(self, find: Callable[[Calls], Unit | None]) -> Units:
        """Return what ranks do next, of those of which something is found."""
        return {rank: unit for rank in self.ranks if (unit := find(self.left(rank)))}

    def _with_partners(self, offers: Units) -> Units:
        """Return what ranks do next together with the blocking calls that are its other side."""
        partners = {call.peer for unit in offers.values() for call in unit.calls if call.peer >= 0}
        others = {rank: blocking_with(self.left(rank), offers) for rank in partners - offers.keys()}
        return offers | {rank: unit for rank, unit in others.items() if unit.calls}

    def next(self) -> Round:
        """Take the next round."""
        for find in (
            self._collective,
            self._exchange,
            self._requests,
            self._token,
            self._shift,
            self._stream,
        ):
            round_ = find()
            if round_ is not None:
                return round_
        if self._sends_without_receives():
            return self.next()
        rank = next(r for r in self.ranks if self.left(r))
        raise Unknown(
            f"rank {rank} makes a call ({self.left(rank)[0].op}, number {self.at[rank] + 1}) that "
            "never meets its other side"
        )

    def _sends_without_receives(self) -> bool:
        """Take all messages that are begun before their answer is awaited as sent there, if any."""
        changed = False
        for rank in self.ranks:
            later = self.bodies[rank][self.at[rank] :]
            sent = _sent_where_begun(later)
            self.bodies[rank][self.at[rank] :] = sent
            changed |= len(sent) < len(later)
        return changed

    def _collective(self) -> Round | None:
        for rank in self.ranks:
            call = self.head(rank)
            if call is None or call.op in MESSAGES:
                continue
            members = list(self.groups[call.members])
            heads = [self.head(member) for member in members]
            if all(
                h is not None and (h.op, h.root, h.members) == (call.op, call.root, call.members)
                for h in heads
            ):
                largest = max(h.bytes for h in heads if h)
                root = members.index(call.root) if call.root in members else call.root
                together = Event(call.op, -1, largest, root, call.members)
                before = {m: Spent.of([h]) for m, h in zip(members, heads, strict=True) if h}
                for member in members:
                    self.at[member] += 1
                round_ = Round("collective", members, before=before, call=together)
                round_.note(h for h in heads if h)
                return round_
        return None

    def _exchange(self) -> Round | None:
        """Take messages that are begun, some sent and some received, and waited for."""
        closed = both_ways(closed_among(self._with_partners(self._offers(opened))))
        if not closed:
            return None
        round_ = self._take("exchange", closed)
        for rank, unit in closed.items():
            round_.before[rank], round_.within[rank] = unit.gaps(0, -1), unit.gaps(-1)
        return round_

    def _requests(self) -> Round | None:
        """Take questions of several ranks that one answers."""
        for server in self.ranks:
            calls = self.left(server)
            clients: list[int] = []
            for question, answer in zip(calls[::2], calls[1::2], strict=False):
                client = question.peer
                if (
                    (question.op, answer.op, answer.peer) != ("recv", "send", client)
                    or client in clients
                    or not are_next(self.left(client), ("send", server), ("recv", server))
                ):
                    break
                clients.append(client)
            if len(clients) > 1 or (clients and clients[0] > server):
                closed = {c: Unit(self.left(c)[:2]) for c in clients}
                requests = calls[: 2 * len(clients)]
                closed[server] = Unit(requests)
                round_ = self._take("request", closed, server)
                round_.before = {c: closed[c].gaps() for c in clients}
                round_.before[server] = Unit(requests[::2]).gaps()
                round_.within[server] = Spent.pooled([Spent.of([call]) for call in requests[1::2]])
                round_.answers = len(clients)
                return round_
        return None

    def _token(self) -> Round | None:
        """Take a message that goes round, from whoever sends it first."""
        for starter in self.ranks:
            calls = self.left(starter)
            if len(calls) < 2 or (calls[0].op, calls[1].op) != ("send", "recv"):
                continue
            path, rank = [starter], calls[0].peer
            while rank not in path and are_next(
                self.left(rank), ("recv", path[-1]), ("send", None)
            ):
                path.append(rank)
                rank = self.left(rank)[1].peer
            if rank == starter and calls[1].peer == path[-1] and len(path) > 1:
                closed = {r: Unit(self.left(r)[:2]) for r in path}
                round_ = self._take("token", closed, starter)
                round_.within[starter] = closed.pop(starter).gaps()
                for rank, unit in closed.items():
                    round_.before[rank], round_.within[rank] = unit.gaps(0, 1), unit.gaps(1)
                return round_
        return None

    def _shift(self) -> Round | None:
        """Take messages of ranks that all send before they receive: as good as begun.

        Those at the ends of a row only send, or only receive.
        """
        offers = self._with_partners(self._offers(send_first))
        closed = closed_among(offers, shorten=True)
        if not any(u.peers(sends=True) and u.peers(sends=False) for u in closed.values()):
            return None
        round_ = self._take("exchange", closed)
        round_.before = {r: u.gaps() for r, u in closed.items()}
        return round_

    def _stream(self) -> Round | None:
        """Take messages that are received and sent on."""
        closed = closed_among(self._offers(receive_first), shorten=True)
        if not closed:
            return None
        round_ = self._take("stream", closed)
        round_.messages = in_order(round_.messages, closed)
        for rank, unit in closed.items():
            received = [call.op for call in unit.calls[: unit.pivot]]
            round_.one_by_one |= received.count("recv") > 1
            if unit.pivot < len(unit.calls):
                round_.within[rank] = unit.gaps(unit.pivot)
            if unit.pivot > 0:
                round_.before[rank] = unit.gaps(0, unit.pivot)
        return round_

    def _take(self, kind: Kind, closed: Units, starter: int = -1) -> Round:
        ranks = sorted(closed)
        messages = []
        for rank in ranks:
            self.at[rank] += len(closed[rank].calls)
            messages += [(rank, c.peer, c.bytes) for c in closed[rank].calls if c.op in SENDS]
        round_ = Round(kind, ranks, messages, starter=starter)
        round_.note(call for unit in closed.values() for call in unit.calls)
        return round_
