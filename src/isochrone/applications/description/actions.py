"""What each rank of an application does, one action after another, with all draws made.

Where a program leaves an order to chance, one is decided here: a server answers its clients in the
order of their ranks; a task goes to whoever would be ready first if messages took no time.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from isochrone.applications.description.draws import AGAIN, DISPATCH, Draws
from isochrone.applications.description.program import (
    Application,
    Collective,
    Compute,
    Farm,
    Irecv,
    Isend,
    Program,
    Recv,
    Repeat,
    Send,
    Serve,
    Single,
    Step,
    Wait,
    Work,
    flat,
)
from isochrone.base.errors import InputError

_Step = TypeVar("_Step", Farm, Work)

STOP = 0.0
"""Bytes of the message that tells a worker that no task is left."""


class Action(NamedTuple):
    """One action of a rank.

    Attributes
    ----------
    op
        ``compute sleep send recv isend irecv wait``, or a collective operation.
    peer
        Of a message: rank of the application.
    amount
        Seconds, or bytes of a message or a block.
    root, members
        Of a collective operation: ranks of the application.
    """

    op: str
    peer: int = -1
    amount: float = 0.0
    root: int = -1
    members: tuple[int, ...] = ()


@dataclass
class Actions:
    """What all ranks of an application do in a number of iterations."""

    application: Application
    iterations: int
    draws: Draws

    @property
    def ranks(self) -> int:
        """Number of its ranks."""
        return self.application.ranks

    @property
    def decided(self) -> bool:
        """Whether an order is decided here that the program leaves to chance."""
        return any(
            isinstance(step, Farm) or (isinstance(step, Serve) and len(step.clients) > 1)
            for steps in self.application.steps
            for step in flat(steps)
        )

    def of(self, rank: int) -> Iterator[Action]:
        """Yield what a rank does."""
        for iteration in range(self.iterations):
            yield from self._of_steps(self.application.steps[rank], rank, iteration)

    def _of_steps(self, steps: Iterable[Step], rank: int, iteration: int) -> Iterator[Action]:
        seen: Counter[tuple[bool, int, int]] = Counter()
        for step in steps:
            if isinstance(step, Repeat):
                for turn in step.turns(iteration):
                    yield from self._of_steps(step.steps, rank, turn)
            else:
                yield from self._of_step(step, rank, iteration, seen)

    def _of_step(
        self, step: Single, rank: int, iteration: int, seen: Counter[tuple[bool, int, int]]
    ) -> Iterator[Action]:
        phase, drawn = step.phase, partial(self.draws.value, iteration=iteration)
        compute = "sleep" if getattr(step, "mode", "") == "sleep" else "compute"
        match step:
            case Compute():
                yield Action(compute, amount=self.draws.computation(step, rank, iteration))
            case Send() | Isend() | Recv() | Irecv():
                sends = isinstance(step, Send | Isend)
                peer = step.to if isinstance(step, Send | Isend) else step.source
                sender, receiver = (rank, peer) if sends else (peer, rank)
                message_index = seen[sends, phase, peer]
                seen[sends, phase, peer] += 1
                size = drawn(step.size, sender, phase, receiver + message_index * AGAIN)
                yield Action(type(step).__name__.lower(), peer, round(size))
            case Wait():
                yield Action("wait")
            case Serve():
                for client in step.clients:
                    yield Action("recv", client, round(drawn(step.request, client, phase, rank)))
                    yield Action(compute, amount=drawn(step.time, rank, phase, client))
                    yield Action("send", client, round(drawn(step.reply, rank, phase, client)))
            case Farm():
                yield from self._farm(step, rank, iteration)
            case Work():
                farm = self._of_phase(step.master, Farm, phase)
                key = (step.master, phase)
                for task, worker in enumerate(self.assigned(farm, step.master, iteration)):
                    if worker == rank:
                        yield Action("recv", step.master, round(drawn(step.task, *key, task)))
                        yield Action(compute, amount=drawn(step.time, *key, task) * step.factor)
                        size = drawn(step.result, *key, AGAIN + task)
                        yield Action("send", step.master, round(size))
                yield Action("recv", step.master, STOP)
            case Collective():
                members = step.among or tuple(range(self.ranks))
                size = drawn(step.size, 0, phase, 0)
                yield Action(step.op, -1, round(size), step.root, members)

    def _farm(self, step: Farm, rank: int, iteration: int) -> Iterator[Action]:
        """Hand out tasks; a worker's result is taken before its next task is sent."""
        busy: dict[int, int] = {}  # the task of each worker, in the order in which they got it

        def result(worker: int) -> Action:
            draw_number = AGAIN + busy.pop(worker)
            size = self.draws.value(step.result, rank, step.phase, draw_number, iteration)
            return Action("recv", worker, round(size))

        for task, worker in enumerate(self.assigned(step, rank, iteration)):
            if worker in busy:
                yield result(worker)
            busy[worker] = task
            time = self.draws.value(step.time, rank, step.phase, DISPATCH + task, iteration)
            if time > 0:
                yield Action("sleep" if step.mode == "sleep" else "compute", amount=time)
            size = self.draws.value(step.task, rank, step.phase, task, iteration)
            yield Action("send", worker, round(size))
        idle = [worker for worker in step.workers if worker not in busy]
        for worker in list(busy):
            yield result(worker)
            yield Action("send", worker, STOP)
        for worker in idle:
            yield Action("send", worker, STOP)

    def _of_phase(self, rank: int, kind: type[_Step], phase: int) -> _Step:
        """Return the only step of a kind in a phase of a rank."""
        steps = flat(self.application.steps[rank])
        return next(step for step in steps if isinstance(step, kind) and step.phase == phase)

    def assigned(self, step: Farm, rank: int, iteration: int) -> list[int]:
        """Return the worker of each task of a farm, in the order of the tasks."""
        work = {worker: self._of_phase(worker, Work, step.phase) for worker in step.workers}
        ready = [(0.0, position, worker) for position, worker in enumerate(step.workers)]
        workers = []
        master = 0.0
        for task in range(step.tasks):
            time, position, worker = heapq.heappop(ready)
            workers.append(worker)
            dispatch = self.draws.value(step.time, rank, step.phase, DISPATCH + task, iteration)
            time = master = max(master, time) + dispatch
            takes = self.draws.value(work[worker].time, rank, step.phase, task, iteration)
            heapq.heappush(ready, (time + takes * work[worker].factor, position, worker))
        return workers


def actions(program: Program, name: str = "", iterations: int | None = None) -> Actions:
    """Return what one application does.

    Parameters
    ----------
    name
        Which; empty: the only one.
    iterations
        Not more than these are done.

    Raises
    ------
    InputError
        If there is none of this name, or one must be chosen; if data move other than by messages,
        or by operations on a grid.
    """
    names = [app.name for app in program.applications]
    if not name and len(names) > 1:
        raise InputError(
            f"the description has several applications: {', '.join(names)}",
            hint="choose one with --app",
        )
    if name and name not in names:
        raise InputError(f"there is no application '{name}'", hint=f"there are: {', '.join(names)}")
    index = names.index(name) if name else 0
    app = program.applications[index]
    for phase in app.phases:
        if phase.method != "message":
            raise InputError(
                f"data of the phase '{phase.name}' move by {phase.method}, and simulators know "
                "messages only",
                hint="write it with method: message",
            )
    for step in (step for steps in app.steps for step in flat(steps)):
        if isinstance(step, Collective) and step.grid:
            raise InputError(
                f"the {step.op} of the phase '{app.phases[step.phase].name}' is on a grid",
                hint="leave out grid: simulators have operations of their own",
            )
    draws = Draws(program.seed, program.values, index)
    return Actions(app, min(app.iterations, iterations or app.iterations), draws)
