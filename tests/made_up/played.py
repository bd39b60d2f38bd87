"""Programs played through as MPI without any buffer would do it, to see whether they end.

A message is delivered when both sides are there; messages between two ranks keep their order; a
collective operation ends when all are in it. Times do not matter.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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

__all__ = ["Message", "play"]

Ready = Callable[[], bool]

END = -1
"""Stands for the size of the message that says that no task is left."""


@dataclass
class Message:
    """One side of a message; done when the other side was there."""

    phase: int
    size: int
    done: bool = False


@dataclass
class Play:
    """Ranks of one application."""

    app: Application
    chance: random.Random
    sent: dict[tuple[int, int], deque[Message]] = field(default_factory=lambda: defaultdict(deque))
    awaited: dict[tuple[int, int], deque[Message]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    delivered: list[tuple[int, ...]] = field(default_factory=list)
    arrived: dict[tuple[int, tuple[int, ...]], int] = field(
        default_factory=lambda: defaultdict(int)
    )

    def send(self, source: int, target: int, phase: int, size: int) -> Message:
        """Begin to send."""
        message = Message(phase, size)
        self.sent[source, target].append(message)
        self.match(source, target)
        return message

    def receive(self, source: int, target: int, phase: int, size: int) -> Message:
        """Begin to receive."""
        message = Message(phase, size)
        self.awaited[source, target].append(message)
        self.match(source, target)
        return message

    def match(self, source: int, target: int) -> None:
        """Deliver what both sides are there for."""
        sent, awaited = self.sent[source, target], self.awaited[source, target]
        while sent and awaited:
            a, b = sent.popleft(), awaited.popleft()
            assert a.phase == b.phase, f"{source} to {target}: phase {a.phase} meets {b.phase}"
            if b.size != END and a.size != END:
                assert a.size == b.size, f"{source} to {target}: two sizes in phase {a.phase}"
            a.done = b.done = True
            b.size = a.size
            self.delivered.append((source, target, a.phase, a.size))

    def rank(self, me: int, iterations: int) -> Iterator[Ready]:
        """Yield what a rank waits for."""
        for _ in range(iterations):
            begun: list[Message] = []
            for step in self.app.steps[me]:
                yield from self.step(me, step, begun)
            assert not begun, f"rank {me} ends an iteration with open messages"

    def step(self, me: int, step: Step, begun: list[Message]) -> Iterator[Ready]:
        """Yield what a rank waits for in a step."""
        match step:
            case Compute():
                pass
            case Send(phase, to, size):
                message = self.send(me, to, phase, size)
                yield lambda: message.done
            case Recv(phase, source, size):
                message = self.receive(source, me, phase, size)
                yield lambda: message.done
            case Isend(phase, to, size):
                begun.append(self.send(me, to, phase, size))
            case Irecv(phase, source, size):
                begun.append(self.receive(source, me, phase, size))
            case Wait():
                yield lambda: all(message.done for message in begun)
                begun.clear()
            case Collective(among=among):
                ranks = among or tuple(range(len(self.app.steps)))
                number = self.arrived[me, ranks]
                self.arrived[me, ranks] += 1
                yield lambda: all(self.arrived[r, ranks] > number for r in ranks)
            case Serve():
                yield from self.serve(me, step)
            case Farm():
                yield from self.farm(me, step)
            case Work():
                yield from self.work(me, step)

    def whoever(self, me: int, others: set[int], found: list[int]) -> Ready:
        """Wait for a message of any of some ranks."""

        def ready() -> bool:
            there = [other for other in sorted(others) if self.sent[other, me]]
            if there:
                found[:] = [self.chance.choice(there)]
            return bool(there)

        return ready

    def serve(self, me: int, step: Serve) -> Iterator[Ready]:
        """Answer one request of each client."""
        left, found = set(step.clients), [0]
        while left:
            yield self.whoever(me, left, found)
            client = found[0]
            left.remove(client)
            self.receive(client, me, step.phase, step.request)
            reply = self.send(me, client, step.phase, step.reply)
            yield lambda reply=reply: reply.done  # type: ignore[misc]

    def farm(self, me: int, step: Farm) -> Iterator[Ready]:
        """Hand out tasks."""
        left, busy, found = step.tasks, set(), [0]
        for worker in step.workers[: step.tasks]:
            task = self.send(me, worker, step.phase, step.task)
            yield lambda task=task: task.done  # type: ignore[misc]
            busy.add(worker)
            left -= 1
        while busy:
            yield self.whoever(me, busy, found)
            worker = found[0]
            self.receive(worker, me, step.phase, step.result)
            busy.remove(worker)
            if left:
                task = self.send(me, worker, step.phase, step.task)
                yield lambda task=task: task.done  # type: ignore[misc]
                busy.add(worker)
                left -= 1
        for worker in step.workers:
            end = self.send(me, worker, step.phase, END)
            yield lambda end=end: end.done  # type: ignore[misc]

    def work(self, me: int, step: Work) -> Iterator[Ready]:
        """Do tasks until told that none is left."""
        while True:
            task = self.receive(step.master, me, step.phase, step.task)
            yield lambda task=task: task.done  # type: ignore[misc]
            if task.size == END:
                return
            result = self.send(me, step.master, step.phase, step.result)
            yield lambda result=result: result.done  # type: ignore[misc]


def play(app: Application, iterations: int = 2, seed: int = 1) -> list[tuple[int, ...]]:
    """Play an application to its end; fails if ranks wait for each other.

    Returns
    -------
    list
        Source, target, phase and list of sizes of each message.
    """
    chance = random.Random(seed)
    game = Play(app, chance)
    ranks = {r: game.rank(r, iterations) for r in range(app.ranks)}
    waits: dict[int, Ready] = {r: (lambda: True) for r in ranks}
    while waits:
        order = list(waits)
        chance.shuffle(order)
        ready = [r for r in order if waits[r]()]
        assert ready, f"ranks {sorted(waits)} wait for each other"
        for r in ready:
            try:
                waits[r] = next(ranks[r])
            except StopIteration:
                del waits[r]
    assert not any(game.sent.values()), "a message that nobody received"
    assert not any(game.awaited.values()), "a message that nobody sent"
    return game.delivered
