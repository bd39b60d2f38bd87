"""What each rank of an application does, one action after another, with all draws made.

Where a program leaves an order to chance, one is decided here: a server answers its clients in the
order of their ranks; a task goes to whoever would be ready first if messages took no time.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from isochrone.applications.description.draws import draw
from isochrone.applications.description.program import (
    Application,
    Collective,
    Compute,
    Farm,
    Irecv,
    Isend,
    Program,
    Recv,
    Send,
    Serve,
    Step,
    Wait,
    Work,
)
from isochrone.base.errors import InputError

__all__ = ["Action", "Actions", "actions"]

_AGAIN: Final = 2**20
"""Added to a key for each further message between the same ranks in a phase, and for results."""

STOP: Final = 0.0
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

    program: Program
    index: int
    iterations: int
    _sizes: dict[tuple[object, ...], list[float]] = field(default_factory=dict)

    @property
    def application(self) -> Application:
        """What is done."""
        return self.program.applications[self.index]

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
            for step in steps
        )

    def of(self, rank: int) -> Iterator[Action]:
        """Yield what a rank does."""
        steps = self.application.steps[rank]
        for iteration in range(self.iterations):
            seen: Counter[tuple[str, int, int]] = Counter()
            for step in steps:
                yield from _OF[type(step)](self, step, rank, iteration, seen)

    def drawn(self, values: int, iteration: int, *key: int) -> float:
        """Return what is drawn in an iteration; `key` is rank, phase, number."""
        listed = self.program.values[values]
        if len(listed) == 1:
            return listed[0]
        known = self._sizes.get((values, key))
        if known is None:
            rank, phase, number = key
            turns = list(range(self.iterations))
            found = draw(self.program.seed, listed, self.index, rank, phase, turns, number)
            known = self._sizes[values, key] = [float(v) for v in found]
        return known[iteration]

    def assigned(self, step: Farm, rank: int, iteration: int) -> list[int]:
        """Return the worker of each task of a farm, in the order of the tasks."""
        work = {
            other: next(s for s in self.application.steps[other]
                        if isinstance(s, Work) and (s.phase, s.master) == (step.phase, rank))
            for other in step.workers
        }  # fmt: skip
        ready = [(0.0, place, worker) for place, worker in enumerate(step.workers)]
        found = []
        for task in range(step.tasks):
            time, place, worker = heapq.heappop(ready)
            found.append(worker)
            takes = self.drawn(work[worker].time, iteration, rank, step.phase, task)
            heapq.heappush(ready, (time + takes * work[worker].factor, place, worker))
        return found


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
    known = [app.name for app in program.applications]
    if not name and len(known) > 1:
        raise InputError(f"there are several applications: {', '.join(known)}", hint="see --app")
    if name and name not in known:
        raise InputError(f"no application '{name}'", hint=f"there are: {', '.join(known)}")
    index = known.index(name) if name else 0
    app = program.applications[index]
    for phase in app.phases:
        if phase.method != "message":
            raise InputError(
                f"data of the phase '{phase.name}' move by {phase.method}, and simulators know "
                "messages only", hint="write it with method: message",
            )  # fmt: skip
    for step in (step for steps in app.steps for step in steps):
        if isinstance(step, Collective) and step.grid:
            raise InputError(
                f"the {step.op} of the phase '{app.phases[step.phase].name}' is on a grid",
                hint="leave out grid: simulators have operations of their own",
            )
    return Actions(program, index, min(app.iterations, iterations or app.iterations))


def _compute(of: Actions, step: Step, rank: int, iteration: int, _: object) -> Iterator[Action]:
    assert isinstance(step, Compute)
    seconds = of.drawn(step.time, iteration, rank, step.phase, 0) * step.factor
    yield Action("sleep" if step.mode == "sleep" else "compute", amount=seconds)


def _message(
    of: Actions, step: Step, rank: int, iteration: int, seen: Counter[tuple[str, int, int]]
) -> Iterator[Action]:  # fmt: skip
    if isinstance(step, Send | Isend):
        peer, sender, receiver, way = step.to, rank, step.to, "to"
    else:
        assert isinstance(step, Recv | Irecv)
        peer, sender, receiver, way = step.source, step.source, rank, "from"
    number = seen[way, step.phase, peer]
    seen[way, step.phase, peer] += 1
    size = of.drawn(step.size, iteration, sender, step.phase, receiver + number * _AGAIN)
    yield Action(type(step).__name__.lower(), peer, round(size))


def _wait(*_: object) -> Iterator[Action]:
    yield Action("wait")


def _serve(of: Actions, step: Step, rank: int, iteration: int, _: object) -> Iterator[Action]:
    assert isinstance(step, Serve)
    compute = "sleep" if step.mode == "sleep" else "compute"
    for client in step.clients:
        asked = of.drawn(step.request, iteration, client, step.phase, rank)
        yield Action("recv", client, round(asked))
        yield Action(compute, amount=of.drawn(step.time, iteration, rank, step.phase, client))
        yield Action(
            "send", client, round(of.drawn(step.reply, iteration, rank, step.phase, client))
        )


def _farm(of: Actions, step: Step, rank: int, iteration: int, _: object) -> Iterator[Action]:
    """Hand out tasks; a worker's result is taken before its next task is sent."""
    assert isinstance(step, Farm)
    busy: dict[int, int] = {}
    order: list[int] = []
    assigned = of.assigned(step, rank, iteration)
    for task, worker in enumerate(assigned):
        if worker in busy:
            yield _result(of, step, rank, iteration, worker, busy[worker])
            order.remove(worker)
        busy[worker] = task
        order.append(worker)
        size = of.drawn(step.task, iteration, rank, step.phase, task)
        yield Action("send", worker, round(size))
    for worker in order:
        yield _result(of, step, rank, iteration, worker, busy[worker])
        yield Action("send", worker, STOP)
    for worker in step.workers:
        if worker not in busy:
            yield Action("send", worker, STOP)


def _result(of: Actions, step: Farm, rank: int, iteration: int, worker: int, task: int) -> Action:
    size = of.drawn(step.result, iteration, rank, step.phase, _AGAIN + task)
    return Action("recv", worker, round(size))


def _work(of: Actions, step: Step, rank: int, iteration: int, _: object) -> Iterator[Action]:
    assert isinstance(step, Work)
    farm = next(
        s for s in of.application.steps[step.master]
        if isinstance(s, Farm) and s.phase == step.phase
    )  # fmt: skip
    compute = "sleep" if step.mode == "sleep" else "compute"
    for task, worker in enumerate(of.assigned(farm, step.master, iteration)):
        if worker == rank:
            key = (step.master, step.phase)
            yield Action("recv", step.master, round(of.drawn(step.task, iteration, *key, task)))
            time = of.drawn(step.time, iteration, *key, task) * step.factor
            yield Action(compute, amount=time)
            size = of.drawn(step.result, iteration, *key, _AGAIN + task)
            yield Action("send", step.master, round(size))
    yield Action("recv", step.master, STOP)


def _collective(of: Actions, step: Step, rank: int, iteration: int, _: object) -> Iterator[Action]:
    assert isinstance(step, Collective)
    size = of.drawn(step.size, iteration, 0, step.phase, 0)
    members = step.among or tuple(range(of.ranks))
    yield Action(step.op, -1, round(size), step.root, members)


_OF: Final[dict[type, Callable[..., Iterator[Action]]]] = {
    Compute: _compute, Send: _message, Recv: _message, Isend: _message, Irecv: _message,
    Wait: _wait, Serve: _serve, Farm: _farm, Work: _work, Collective: _collective,
}  # fmt: skip
