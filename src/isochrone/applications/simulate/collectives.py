"""Collective operations: who has to wait for whom, and when each member may go on.

An operation that asks the same of all (allgather, barrier …) begins when the last member has come,
and all leave it together. In one with a root, members depend on each other in one direction only;
how far is seen in when each of them left it while it was measured (`Unfolding.parts`).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import inf

from isochrone.applications.description.program import Collective
from isochrone.applications.simulate.events import Clock, Request
from isochrone.base.operations import FROM_ROOT, TO_ROOT
from isochrone.base.record import Record

Members = tuple[int, ...]
"""Ranks that do an operation, or their places among them."""


class Unfolding(Record):
    """The time of an operation, and how it unfolds if all come at once.

    Attributes
    ----------
    seconds
        Until the last member is done.
    parts
        When each member leaves, counted from the root, as parts of ``seconds``; empty: all at its
        end, and after the last one has come.
    hop
        Seconds of the same operation of two members.
    parents, below
        Who a member gets the data from, or gives them to (-1 of the root), and those of whom it is
        the parent. Empty: not known.
    flat
        Whether the root exchanges data with every member itself.
    busy
        Seconds for which the root's port is taken by data that it sends.
    waits
        Whether who sends waits until that is received.
    """

    seconds: float
    parts: tuple[float, ...] = ()
    hop: float = 0.0
    parents: Members = ()
    below: tuple[Members, ...] = ()
    flat: bool = False
    busy: float = 0.0
    waits: bool = False


OperationTime = Callable[[Collective, Members, float], Unfolding]
"""Of an operation of some ranks with blocks of so many bytes."""


@dataclass
class _Port:
    """The port of a root: from when on it is free."""

    free: float = 0.0


class _Meeting:
    """One call of an operation that begins when all have come; unknown moments are infinite."""

    def __init__(self, clock: Clock, of: Unfolding, members: int, port: _Port) -> None:
        self.clock = clock
        self.of = of
        self.port = port
        self.came = [inf] * members
        self.done = [inf] * members
        self.requests = [Request() for _ in range(members)]
        self.missing = members

    def come(self, member: int) -> Request:
        """Note that a member is there; return what it waits for."""
        self.came[member] = self.clock.now
        self.missing -= 1
        self.look(member)
        return self.requests[member]

    def look(self, member: int) -> None:
        """Let those leave who can, now that a member has come."""
        if self.missing == 0:
            for index in range(len(self.requests)):
                self.leave(index, self.clock.now + self.after(index))

    def leave(self, member: int, moment: float) -> None:
        """Let a member go on at a moment."""
        request = self.requests[member]
        self.clock.at(max(moment, self.clock.now), lambda: self.clock.finish(request))

    def after(self, member: int) -> float:
        """Return the seconds after which a member leaves if all come at once."""
        return self.of.seconds * (self.of.parts[member] if self.of.parts else 1.0)


class _FromRoot(_Meeting):
    """A broadcast or scatter: a member has its data after the one it gets them from.

    ``done`` is when its data are there, and it could go on if its receivers are there, too.
    """

    def look(self, member: int) -> None:
        """Reckon whose data are there now; let those leave who need not wait for receivers."""
        parents = self.of.parents
        pending = [member]
        while pending:
            node = pending.pop()
            came, parent = self.came[node], parents[node]
            if came == inf or self.done[node] < inf:
                continue
            if parent < 0:
                begin = max(came, self.port.free)  # after the data that the root sent before
                self.port.free = begin + self.of.busy
                self.done[node] = begin + self.after(node)
            else:
                passed = self.done[parent] + self.after(node) - self.after(parent)
                self.done[node] = max(came + self.of.hop, passed)
            if self.done[node] < inf:
                pending += self.of.below[node]
                self._try_to_leave(node)
        if self.of.waits and parents[member] >= 0:
            self._try_to_leave(parents[member])

    def _try_to_leave(self, member: int) -> None:
        moment = self.done[member]
        if self.of.waits:
            receivers = [self.came[k] + self.of.hop for k in self.of.below[member]]
            moment = max([moment, *receivers])
        elif self.of.parents[member] < 0:
            moment = self.came[member] + self.after(member)  # its data wait in a buffer
        if moment < inf:
            self.leave(member, moment)


class _ToRoot(_Meeting):
    """A reduce or gather along a tree: a member has to wait for those below it only."""

    def look(self, member: int) -> None:
        """Let the member leave if all below it are done, and then those above it."""
        node = member
        while node >= 0 and self.done[node] == inf:
            came, below = self.came[node], self.of.below[node]
            moment = came + self.after(node)
            if below:
                step = self.after(node) - max(self.after(k) for k in below)
                moment = max(came, max(self.done[k] for k in below) + step)
            if moment == inf:
                return
            self.done[node] = moment
            self.leave(node, moment)
            node = self.of.parents[node]


class _Queue(_Meeting):
    """A reduce or gather whose root takes the members one after the other, as they come."""

    def look(self, member: int) -> None:
        """Let those leave who need not wait for others; the root when all have come."""
        root, *others = self.came
        for sender in (member,) if member else range(1, len(self.came)):
            if self.done[sender] == inf:
                begin = max(self.came[sender], root) if self.of.waits else self.came[sender]
                self.done[sender] = begin + self.after(sender)
                if self.done[sender] < inf:
                    self.leave(sender, self.done[sender])
        if self.missing == 0:  # the root has taken all; data do not move before it is there
            service = (self.of.seconds - self.of.hop) / max(len(others) - 1, 1)
            free = root
            for moment in sorted(others):
                free = max(free, moment) + service
            self.leave(0, free + self.of.hop - service)


class Meetings:
    """The collective operations of an application."""

    def __init__(self, clock: Clock, time: OperationTime, ranks: int) -> None:
        self._clock = clock
        self._time = time
        self._all = tuple(range(ranks))
        self._places = cache(lambda members: {rank: k for k, rank in enumerate(members)})
        self._ports: dict[tuple[int, Members], _Port] = {}
        self._calls: Counter[tuple[int, Members]] = Counter()
        self._open: dict[tuple[int, Members], _Meeting] = {}

    def join(self, rank: int, step: Collective, size: float) -> Request:
        """Come to the next operation of these members."""
        members = step.among or self._all
        call = self._calls[rank, members]
        self._calls[rank, members] += 1
        meeting = self._open.get((call, members))
        if meeting is None:
            of = self._time(step, members, size)
            port = self._ports.setdefault((step.root, members), _Port())
            kind = _Meeting
            if of.parts and step.op in TO_ROOT and of.flat:
                kind = _Queue
            elif of.parts and of.parents and step.op in (*FROM_ROOT, *TO_ROOT):
                kind = _FromRoot if step.op in FROM_ROOT else _ToRoot
            meeting = self._open[call, members] = kind(self._clock, of, len(members), port)
        indices = self._places(members)
        request = meeting.come((indices[rank] - indices.get(step.root, 0)) % len(members))
        if meeting.missing == 0:
            del self._open[call, members]
        return request
