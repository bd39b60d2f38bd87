"""What a rank does in an iteration, step by step, in virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from isochrone.applications.description.program import (
    Application,
    Collective,
    Compute,
    Farm,
    Irecv,
    Isend,
    Recv,
    Send,
    Serve,
    Step,
    Wait,
    Work,
)
from isochrone.applications.predict.message_times import Cost
from isochrone.applications.simulate.collectives import Meetings
from isochrone.applications.simulate.drawing import Draws
from isochrone.applications.simulate.events import Clock, Request, Run
from isochrone.applications.simulate.mail import Mail

__all__ = ["Parts", "Ranks"]

AGAIN: Final = 2**20
"""What the n-th message to the same rank in a phase adds to the key of its draw, n times."""

MessageCost = Callable[[int, int, int, float], Cost]
"""Of sender, receiver, phase and bytes."""

Parts = Callable[[Collective, float, int], list[tuple[Collective, float]]]
"""Of an operation, its block, and a rank: the operations that it consists of there."""

Spent = Callable[[int, int, float], None]
"""Is told of seconds in a phase and an iteration."""


@dataclass
class Ranks:
    """All ranks of an application, as they are played.

    Attributes
    ----------
    clock, mail, meetings, draws
        What they share.
    cost
        Of a message.
    spent
        Is told how long a rank was in a phase.
    parts
        What an operation on a grid consists of.
    early
        Requests that came before their iteration: clients by server and phase.
    """

    application: Application
    clock: Clock
    mail: Mail
    meetings: Meetings
    draws: Draws
    cost: MessageCost
    spent: Spent
    parts: Parts
    early: dict[tuple[int, int], Counter[int]] = field(default_factory=dict)

    def run(self, rank: int, iterations: int, finished: Callable[[int], None]) -> Run:
        """Do all iterations; ``finished`` is told of each."""
        steps = _numbered(self.application.steps[rank])
        for iteration in range(iterations):
            begun: list[Request] = []
            for step, number in steps:
                start = self.clock.now
                yield from self._do(step, number, rank, iteration, begun)
                self.spent(step.phase, iteration, self.clock.now - start)
            finished(iteration)

    def _do(
        self, step: Step, number: int, rank: int, iteration: int, begun: list[Request]
    ) -> Run:  # fmt: skip
        match step:
            case Compute():
                time = self.draws.value(step.time, rank, step.phase, iteration, 0)
                yield time * step.factor
            case Send() | Isend():
                size = self.draws.value(step.size, rank, step.phase, iteration, step.to + number)
                request, busy = self._send(rank, step.to, step.phase, size)
                yield busy
                if isinstance(step, Send):
                    yield request
                else:
                    begun.append(request)
            case Recv():
                yield self.mail.receive(rank, step.source, step.phase)
            case Irecv():
                begun.append(self.mail.receive(rank, step.source, step.phase))
            case Wait():
                for request in begun:
                    yield request
                begun.clear()
            case Collective():
                size = self.draws.value(step.size, 0, step.phase, iteration, 0)
                for part, block in self.parts(step, size, rank):
                    yield self.meetings.join(rank, part, block)
            case Serve():
                yield from self._serve(step, rank, iteration)
            case Farm():
                yield from self._farm(step, rank, iteration)
            case Work():
                yield from self._work(step, rank, iteration)

    def _send(
        self, rank: int, to: int, phase: int, size: float, load: float | None = None
    ) -> tuple[Request, float]:
        return self.mail.send(rank, to, phase, self.cost(rank, to, phase, size), load)

    def _serve(self, step: Serve, rank: int, iteration: int) -> Run:
        """Answer each client once, in the order in which they ask.

        A client that was answered may ask again while others have not; that request is received,
        too, and answered in the next iteration.
        """
        early = self.early.setdefault((rank, step.phase), Counter())
        everyone = set(step.clients)
        waiting = dict.fromkeys(step.clients)
        for client in step.clients:
            if early[client]:
                early[client] -= 1
                del waiting[client]
                yield from self._reply(step, rank, iteration, client)
        while waiting:
            asked = self.mail.receive_any(rank, everyone, step.phase)
            yield asked
            if asked.source in waiting:
                del waiting[asked.source]
                yield from self._reply(step, rank, iteration, asked.source)
            else:
                early[asked.source] += 1

    def _reply(self, step: Serve, rank: int, iteration: int, client: int) -> Run:
        yield self.draws.value(step.time, rank, step.phase, iteration, client)
        size = self.draws.value(step.reply, rank, step.phase, iteration, client)
        request, busy = self._send(rank, client, step.phase, size)
        yield busy
        yield request

    def _farm(self, step: Farm, rank: int, iteration: int) -> Run:
        """Give each worker a task, then the next one to whoever returns a result."""
        tasks = iter(range(step.tasks))
        busy = set[int]()
        for worker in step.workers:
            if (yield from self._hand_out(step, rank, iteration, worker, next(tasks, None))):
                busy.add(worker)
        while busy:
            result = self.mail.receive_any(rank, busy, step.phase)
            yield result
            task = next(tasks, None)
            if not (yield from self._hand_out(step, rank, iteration, result.source, task)):
                busy = busy - {result.source}

    def _hand_out(self, step: Farm, rank: int, iteration: int, worker: int, task: int | None):  # type: ignore[no-untyped-def]
        """Send a task, or an empty message if none is left; say which."""
        size = 0.0
        if task is not None:
            size = self.draws.value(step.task, rank, step.phase, iteration, task)
        load = None if task is None else float(task)
        request, seconds = self._send(rank, worker, step.phase, size, load)
        yield seconds
        yield request
        return task is not None

    def _work(self, step: Work, rank: int, iteration: int) -> Run:
        """Do tasks until told that none is left."""
        while True:
            received = self.mail.receive(rank, step.master, step.phase)
            yield received
            if received.load is None:
                return
            task = int(received.load)
            time = self.draws.value(step.time, step.master, step.phase, iteration, task)
            yield time * step.factor
            size = self.draws.value(step.result, step.master, step.phase, iteration, AGAIN + task)
            request, busy = self._send(rank, step.master, step.phase, size)
            yield busy
            yield request


def _numbered(steps: Sequence[Step]) -> list[tuple[Step, int]]:
    """Add to each send what its being the n-th to the same rank in a phase adds to its key."""
    sent: Counter[tuple[int, int]] = Counter()
    found = []
    for step in steps:
        number = 0
        if isinstance(step, Send | Isend):
            number = sent[step.phase, step.to] * AGAIN
            sent[step.phase, step.to] += 1
        found.append((step, number))
    return found
