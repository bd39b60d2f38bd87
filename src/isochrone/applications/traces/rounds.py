"""What the ranks do together, round by round: a collective, or messages.

Each rank's calls are in order; those of different ranks are put together where they meet. Next
comes whatever is closed: a collective at which all its members are, or messages whose senders and
receivers are all there. Ranks that are not part of a round are not held up by it, as in a
description.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from isochrone.applications.traces.gaps import Spent
from isochrone.applications.traces.trace import MESSAGES, RECEIVES, SENDS, Calls, Event

Message = tuple[int, int, float]
"""Sender, receiver and bytes."""

ANY = -1
"""Peer of a receive from any source."""

MIN_LOOKAHEAD_CALLS = 512
"""Calls of a rank that are looked at for the next round, at least."""


class Unknown(Exception):
    """Something that a description cannot say, and why."""


@dataclass
class Unit:
    """Calls of one rank that belong together; `pivot` is the place of the first send of them."""

    calls: Calls
    pivot: int = 0

    def peers(self, *, sends: bool) -> Counter[int]:
        """Return whom it sends to, or receives from, and how often."""
        return Counter(
            c.peer for c in self.calls if c.op != "wait" and (c.op in SENDS) == sends
        )  # fmt: skip

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


def with_senders(units: Units) -> Units:
    """Name the senders of what is received from any source, where exactly so many send.

    That is a fixed set, whatever the order in which its messages come.
    """
    sent: dict[int, Counter[int]] = {}
    for rank, unit in units.items():
        for peer, count in unit.peers(sends=True).items():
            sent.setdefault(peer, Counter())[rank] += count
    named_units = dict(units)
    for rank, unit in units.items():
        named = unit.peers(sends=False)
        any_source = named.pop(ANY, 0)
        left = sent.get(rank, Counter()) - named
        if any_source and left.total() == any_source:
            senders = iter(sorted(left.elements()))
            calls = [
                call._replace(peer=next(senders))
                if call.op in RECEIVES and call.peer == ANY else call
                for call in unit.calls
            ]  # fmt: skip
            named_units[rank] = Unit(calls, unit.pivot)
    return named_units


def both_ways(units: Units) -> Units:
    """Leave out those that no one is connected with who sends and receives at once.

    Who begins and waits for one message alone need not have begun it, and counts as such, too.
    """
    reached = [
        rank for rank, unit in units.items()
        if unit.calls[-1].op == "wait"
        and (len(unit.calls) == 2 or (unit.peers(sends=True) and unit.peers(sends=False)))
    ]  # fmt: skip
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


def _in_order(messages: list[Message], units: dict[int, Unit]) -> list[Message]:
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

    def next(self) -> Round:
        """Take the next round."""
        for find in (
            self._collective, self._exchange, self._requests, self._token, self._shift,
            self._stream,
        ):  # fmt: skip
            round_ = find()
            if round_ is not None:
                return round_
        rank = next(r for r in self.ranks if self.left(r))
        raise Unknown(
            f"rank {rank} makes a call ({self.left(rank)[0].op}, number {self.at[rank] + 1}) that "
            "never meets its other side"
        )

    def _collective(self) -> Round | None:
        for rank in self.ranks:
            call = self.head(rank)
            if call is None or call.op in MESSAGES:
                continue
            members = list(self.groups[call.members])
            heads = [self.head(member) for member in members]
            if all(h is not None and (h.op, h.root, h.members) == (call.op, call.root, call.members)
                   for h in heads):  # fmt: skip
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
        offers = self._offers(opened)
        partners = {call.peer for unit in offers.values() for call in unit.calls if call.peer >= 0}
        for rank in partners - offers.keys():
            unit = blocking_with(self.left(rank), offers)
            if unit.calls:
                offers[rank] = unit
        closed = both_ways(closed_among(with_senders(offers)))
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
        """Take messages of ranks that all send before they receive: as good as begun."""
        closed = closed_among(self._offers(send_first))
        if not closed:
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
        round_.messages = _in_order(round_.messages, closed)
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
