"""An application simulated until the time of its iterations is known."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from isochrone.applications.description.draws import AGAIN, DISPATCH, Draws
from isochrone.applications.description.program import (
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
from isochrone.applications.predict.message_times import Cost
from isochrone.applications.simulate.collectives import Meetings, OperationTime
from isochrone.applications.simulate.events import Clock, Request, Run
from isochrone.applications.simulate.matching import Matching, Network
from isochrone.applications.thresholds import MAX_ITERATION_ERROR, MIN_SIMULATED_ITERATIONS
from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError

MessageCost = Callable[[int, int, int, float], Cost]
"""Of sender, receiver, phase and bytes."""

Parts = Callable[[Collective, float, int], list[tuple[Collective, float]]]
"""Of an operation, its block, and a rank: the operations that it consists of there."""

Spent = Callable[[int, int, float], None]
"""Receives the seconds in a phase and an iteration."""


@dataclass(frozen=True)
class Clocks:
    """What takes how long.

    Attributes
    ----------
    operation, message, parts
        Of an operation, of a message, and what an operation on a grid consists of.
    node_of
        Node of each rank.
    at_once
        Whether data move before they are asked for.
    between
        How far nodes are from each other: a number for each pair; messages of one size cost the
        same between all pairs of one number.
    """

    operation: OperationTime
    message: MessageCost
    parts: Parts
    node_of: list[int]
    at_once: bool
    between: Callable[[Ints, Ints], Ints]


class Ranks:
    """All ranks of an application, as they are simulated.

    Parameters
    ----------
    program, app
        The program, and which of its applications it is.
    clocks
        What takes how long.
    spent
        Receives how long a rank was in a phase.
    """

    def __init__(
        self, program: Program, app: int, clocks: Clocks, spent: Spent = lambda *_: None
    ) -> None:
        self.clock = Clock()
        self.clocks = clocks
        self.spent = spent
        network = Network(self.clock, clocks.node_of)
        self.matching = Matching(self.clock, network, at_once=clocks.at_once)
        ranks = program.applications[app].ranks
        self.meetings = Meetings(self.clock, clocks.operation, ranks)
        self.draws = Draws(program.seed, program.values, app)
        # requests that came before their iteration: clients by server and phase
        self.early: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)

    def steps(
        self, steps: Sequence[Step], rank: int, iteration: int, outer: int, begun: list[Request]
    ) -> Run:
        """Do steps in an iteration of what is around them; `outer` is that of the application."""
        sent: Counter[tuple[int, int]] = Counter()
        for step in steps:
            if isinstance(step, Repeat):
                for turn in step.turns(iteration):
                    yield from self.steps(step.steps, rank, turn, outer, begun)
            else:
                start = self.clock.now
                yield from self._do(step, sent, rank, iteration, begun)
                self.spent(step.phase, outer, self.clock.now - start)

    def _do(
        self,
        step: Single,
        sent: Counter[tuple[int, int]],
        rank: int,
        iteration: int,
        begun: list[Request],
    ) -> Run:
        """Do a step; ``sent`` counts the messages of the rank by phase and receiver."""
        match step:
            case Compute():
                yield self.draws.computation(step, rank, iteration)
            case Send() | Isend():
                draw_number = step.to + sent[step.phase, step.to] * AGAIN
                sent[step.phase, step.to] += 1
                size = self.draws.value(step.size, rank, step.phase, draw_number, iteration)
                later = begun if isinstance(step, Isend) else None
                yield from self._send(rank, step.to, step.phase, size, begun=later)
            case Recv():
                yield self.matching.receive(rank, step.source, step.phase)
            case Irecv():
                begun.append(self.matching.receive(rank, step.source, step.phase))
            case Wait():
                yield from begun
                begun.clear()
            case Collective():
                size = self.draws.value(step.size, 0, step.phase, 0, iteration)
                for operation, block in self.clocks.parts(step, size, rank):
                    yield self.meetings.join(rank, operation, block)
            case Serve():
                yield from self._serve(step, rank, iteration)
            case Farm():
                yield from self._farm(step, rank, iteration)
            case Work():
                yield from self._work(step, rank, iteration)

    def _send(
        self,
        rank: int,
        to: int,
        phase: int,
        size: float,
        load: float | None = None,
        *,
        begun: list[Request] | None = None,
    ) -> Run:
        """Send a message; wait until that is done, or add it to what was begun."""
        cost = self.clocks.message(rank, to, phase, size)
        request, busy = self.matching.send(rank, to, phase, cost, load)
        yield busy
        if begun is None:
            yield request
        else:
            begun.append(request)

    def _serve(self, step: Serve, rank: int, iteration: int) -> Run:
        """Answer each client once, in the order in which they ask.

        A client that was answered may ask again while others have not; that request is received,
        too, and answered in the next iteration.
        """
        early = self.early[rank, step.phase]
        everyone = set(step.clients)
        waiting = dict.fromkeys(step.clients)
        for client in step.clients:
            if early[client]:
                early[client] -= 1
                del waiting[client]
                yield from self._reply(step, rank, iteration, client)
        while waiting:
            request = self.matching.receive_any(rank, everyone, step.phase)
            yield request
            if request.source in waiting:
                del waiting[request.source]
                yield from self._reply(step, rank, iteration, request.source)
            else:
                early[request.source] += 1

    def _reply(self, step: Serve, rank: int, iteration: int, client: int) -> Run:
        yield self.draws.value(step.time, rank, step.phase, client, iteration)
        size = self.draws.value(step.reply, rank, step.phase, client, iteration)
        yield from self._send(rank, client, step.phase, size)

    def _farm(self, step: Farm, rank: int, iteration: int) -> Run:
        """Give each worker a task, then the next one to whoever returns a result.

        If none is left, it gets an empty message.
        """
        tasks = iter(range(step.tasks))
        idle = deque(step.workers)
        busy = set[int]()
        while idle or busy:
            if idle:
                worker = idle.popleft()
            else:
                result = self.matching.receive_any(rank, busy, step.phase)
                yield result
                worker = result.source
            task = next(tasks, None)
            if task is None:
                busy.discard(worker)
                yield from self._send(rank, worker, step.phase, 0.0)
            else:
                busy.add(worker)
                yield self.draws.value(step.time, rank, step.phase, DISPATCH + task, iteration)
                size = self.draws.value(step.task, rank, step.phase, task, iteration)
                yield from self._send(rank, worker, step.phase, size, float(task))

    def _work(self, step: Work, rank: int, iteration: int) -> Run:
        """Do tasks until none is left."""
        while True:
            received = self.matching.receive(rank, step.master, step.phase)
            yield received
            if received.load is None:
                return
            task = int(received.load)
            time = self.draws.value(step.time, step.master, step.phase, task, iteration)
            yield time * step.factor
            size = self.draws.value(step.result, step.master, step.phase, AGAIN + task, iteration)
            yield from self._send(rank, step.master, step.phase, size)


_BLOCKS = 8
"""Parts of the iterations simulated whose means say how sure their mean is."""


@dataclass
class Simulated:
    """What was simulated of an application.

    Attributes
    ----------
    ends
        When all ranks had done each iteration, in seconds, shape (simulated,).
    phases
        Seconds in each phase, a mean over ranks, shape (simulated, phases).
    iterations
        That were asked for.
    coarse
        Part by which it may be too short, as it was simulated phase by phase.
    """

    ends: Floats
    phases: Floats
    iterations: int
    coarse: float = 0.0

    @property
    def steady(self) -> int:
        """The iteration from which on the time of one is taken."""
        return len(self.ends) // 3

    @property
    def each(self) -> tuple[float, float]:
        """Seconds of a further iteration, and the standard error of that."""
        return mean_and_error(self.ends, self.steady)

    @property
    def seconds(self) -> float:
        """Of all iterations."""
        return float(self.ends[-1]) + (self.iterations - len(self.ends)) * self.each[0]

    @property
    def error(self) -> float:
        """Standard error of `seconds`, as not all iterations were simulated."""
        left = self.iterations - len(self.ends)
        return left * self.each[1] if left else 0.0

    @property
    def phase_seconds(self) -> Floats:
        """Seconds of each phase in an iteration, a mean over ranks and all iterations."""
        remaining = self.iterations - len(self.ends)
        later = self.phases[self.steady :].mean(axis=0)
        return np.asarray((self.phases.sum(axis=0) + remaining * later) / self.iterations)


def step_by_step(
    program: Program,
    app: int,
    clocks: Clocks,
    *,
    least: int = MIN_SIMULATED_ITERATIONS,
    most: int = 100_000,
) -> Simulated:
    """Simulate one application alone, step by step.

    Parameters
    ----------
    least
        Iterations, unless there are fewer.
    most
        Steps of ranks after which it is enough.

    Raises
    ------
    InputError
        If its ranks wait for each other for ever.
    """
    application = program.applications[app]
    ranks = application.ranks
    spent: dict[int, list[float]] = defaultdict(lambda: [0.0] * len(application.phases))
    done: Counter[int] = Counter()
    ends: list[float] = []

    def note(phase: int, iteration: int, seconds: float) -> None:
        spent[iteration][phase] += seconds

    processes = Ranks(program, app, clocks, note)
    clock = processes.clock

    def iterations(rank: int) -> Run:
        for iteration in range(application.iterations):
            yield from processes.steps(application.steps[rank], rank, iteration, iteration, [])
            done[iteration] += 1
            if done[iteration] == ranks:
                ends.append(clock.now)

    for rank in range(ranks):
        clock.start(iterations(rank))
    work = sum(
        3 * len(step.clients)
        if isinstance(step, Serve)
        else 3 * step.tasks
        if isinstance(step, Farm)
        else 1
        for steps in application.steps
        for step in flat(steps)
    )
    looked = 0

    def stop() -> bool:
        """Whether enough was simulated: the time of an iteration is steady."""
        nonlocal looked
        ended = len(ends)
        if ended < least or ended < looked * 1.2 or ended >= application.iterations:
            return False
        if ended >= most // max(work, 1):
            return True
        looked = ended
        return steady(ends)

    if not clock.run(stop) and len(ends) < application.iterations:
        raise InputError(
            f"deadlock of '{application.name}': its ranks wait for each other in iteration "
            f"{len(ends) + 1}",
            hint="try the flow exchange",
        )
    phase_means = np.array([spent[iteration] for iteration in range(len(ends))]) / ranks
    return Simulated(np.array(ends), phase_means, application.iterations)


def steady(ends: Sequence[float]) -> bool:
    """Whether the time of an iteration is known well enough from when each ended."""
    mean, error = mean_and_error(np.array(ends), len(ends) // 3)
    return error <= MAX_ITERATION_ERROR * mean


def mean_and_error(ends: Floats, first: int) -> tuple[float, float]:
    """Return the mean time of iterations from ``first`` on, and its standard error.

    Iterations that follow each other are alike in what delays them, so the error is that of the
    means of a few long parts.
    """
    tail = ends[first:]
    if len(tail) < 2:
        return float(ends[-1] / len(ends)), nan
    mean = float((tail[-1] - tail[0]) / (len(tail) - 1))
    bounds = np.linspace(0, len(tail) - 1, min(_BLOCKS, len(tail) - 1) + 1).astype(int)
    means = np.diff(tail[bounds]) / np.diff(bounds)
    if len(means) < 2:
        return mean, nan
    return mean, float(np.std(means, ddof=1) / sqrt(len(means)))
