"""Programs of described applications, carried out on paper: the calls that a tracer would see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.applications.description.draws import draw
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
    Step,
    Wait,
    Work,
)
from isochrone.applications.traces.ordering import in_order
from isochrone.applications.traces.trace import Event, Trace

OVERHEAD = 2e-7
"""Seconds between two calls that follow each other."""


class Seen:
    """One application of a program, as its ranks go through it.

    `noise` is the relative standard deviation of what each computation takes, which a tracer sees.
    Servers are asked in an order drawn anew each time.
    """

    def __init__(self, program: Program, *, noise: float = 0.01, seed: int = 1) -> None:
        self.program = program
        self.app = program.applications[0]
        self.noise = noise
        self.dice = np.random.default_rng(seed)
        self.groups: list[tuple[int, ...]] = [tuple(range(self.app.ranks))]

    def trace(self, before: tuple[Event, ...] = (), after: tuple[Event, ...] = ()) -> Trace:
        """Return it; all ranks also do what is `before` and `after`."""
        ranks, tail = [], []
        for rank in range(self.app.ranks):
            events = [*before, *self.events(rank), *after]
            ranks.append(in_order(events))
            tail.append(self.gap)
        return Trace(ranks, self.groups, tail, name=self.app.name)

    def events(self, rank: int) -> list[Event]:
        """Return the calls of a rank."""
        found: list[Event] = []
        self.gap = 0.0
        for iteration in range(self.app.iterations):
            self._steps(rank, iteration, self.app.steps[rank], found)
        return found

    def _steps(self, rank: int, iteration: int, steps: Sequence[Step], found: list[Event]) -> None:
        for step in steps:
            if isinstance(step, Repeat):
                for turn in step.turns(iteration):
                    self._steps(rank, turn, step.steps, found)
            else:
                self._step(rank, iteration, step, found)

    def _step(self, rank: int, iteration: int, step: Step, found: list[Event]) -> None:
        if isinstance(step, Compute):
            self._compute(step.time, step.factor, (rank, step.phase, iteration, 0))
        elif isinstance(step, Send | Isend):
            size = self._size(step.size, (rank, step.phase, iteration, step.to))
            self._call(found, type(step).__name__.lower(), step.to, size)
        elif isinstance(step, Recv | Irecv):
            size = self._size(step.size, (step.source, step.phase, iteration, rank))
            self._call(found, type(step).__name__.lower(), step.source, size)
        elif isinstance(step, Wait):
            self._call(found, "wait")
        elif isinstance(step, Collective):
            self._collective(step, iteration, found)
        elif isinstance(step, Serve):
            for client in self.dice.permutation(step.clients).tolist():
                key = (step.phase, iteration)
                self._call(found, "recv", client, self._size(step.request, (client, *key, rank)))
                self._compute(step.time, 1.0, (rank, *key, client))
                self._call(found, "send", client, self._size(step.reply, (rank, *key, client)))
        else:
            assert not isinstance(step, Farm | Work), "a farm has no order that is known"

    def _collective(self, step: Collective, iteration: int, found: list[Event]) -> None:
        members = step.among or self.groups[0]
        if members not in self.groups:
            self.groups.append(members)
        size = self._size(step.size, (0, step.phase, iteration, 0))
        rooted = step.op in ("bcast", "reduce", "gather", "scatter")
        self._call(
            found,
            step.op,
            size=size,
            root=step.root if rooted else -1,
            members=self.groups.index(members),
        )

    def _drawn(self, values: int, key: tuple[int, ...]) -> float:
        listed = self.program.values[values]
        return listed[0] if len(listed) == 1 else float(draw(self.program.seed, listed, 0, *key))

    def _size(self, values: int, key: tuple[int, ...]) -> float:
        return round(self._drawn(values, key))

    def _compute(self, values: int, factor: float, key: tuple[int, ...]) -> None:
        time = self._drawn(values, key) * factor
        self.gap += time * max(0.0, 1 + self.noise * float(self.dice.normal()))

    def _call(
        self,
        found: list[Event],
        op: str,
        peer: int = -1,
        size: float = 0.0,
        root: int = -1,
        members: int = 0,
    ) -> None:
        gap = self.gap + OVERHEAD * float(self.dice.uniform(0.5, 1.5))
        found.append(Event(op, peer, size, root, members, gap, 1e-6))
        self.gap = 0.0
