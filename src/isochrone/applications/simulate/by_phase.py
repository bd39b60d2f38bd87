"""An application of many ranks, simulated phase by phase with arrays over all of them.

Where a phase is the same for all ranks (they compute, exchange messages, or call an operation that
begins when the last one has come), its times follow from those at which the ranks reach it.
Messages share the ports of ranks and nodes as in `matching`, except with those of other phases.
Phases of other kinds are simulated one at a time, message by message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from isochrone.applications.description.draws import Draws, draw
from isochrone.applications.description.program import (
    Collective,
    Compute,
    Irecv,
    Isend,
    Program,
    Repeat,
    Single,
    Step,
    Wait,
)
from isochrone.applications.simulate.events import Run
from isochrone.applications.simulate.ports import Messages, Port
from isochrone.applications.simulate.simulation import (
    Clocks,
    Ranks,
    Simulated,
    mean_and_error,
    steady,
    step_by_step,
)
from isochrone.applications.thresholds import FEW_OF_MANY, MIN_SIMULATED_ITERATIONS, PHASE_OVERLAP
from isochrone.base.arrays import Floats, Ints
from isochrone.base.operations import FROM_ROOT, TO_ROOT


@dataclass
class _Again:
    """Phases that are repeated."""

    step: Repeat
    body: list[_Phase | _Again]


@dataclass
class _Phase:
    """A phase: what each of its ranks does."""

    number: int
    ranks: list[int] = field(default_factory=list)
    steps: list[list[Single]] = field(default_factory=list)
    computing: _Computing | None = None
    exchange: _Exchange | None = None
    collectives: list[Collective] = field(default_factory=list)


@dataclass
class _Exchange:
    """Messages that all begin together and are waited for together: from, to, list of sizes."""

    source: Ints
    target: Ints
    size: Ints


Plan = list[_Phase | _Again]


def plan(of_ranks: Iterable[tuple[int, Sequence[Step]]], program: Program) -> Plan:
    """Return the phases of all ranks in their order, and how each can be simulated."""
    phases: dict[int, _Phase] = {}
    repeats: dict[tuple[int, int], tuple[Repeat, list[tuple[int, Sequence[Step]]]]] = {}
    for rank, steps in of_ranks:
        last = -1
        for step in steps:
            if isinstance(step, Repeat):
                place = (step.phase, step.turn)
                repeats.setdefault(place, (step, []))[1].append((rank, step.steps))
                last = -1
                continue
            phase = phases.get(step.phase)
            if phase is None:
                phase = phases[step.phase] = _Phase(step.phase)
            if step.phase != last:
                phase.ranks.append(rank)
                phase.steps.append([])
                last = step.phase
            phase.steps[-1].append(step)
    nodes: dict[tuple[int, int], _Phase | _Again] = {(k, 0): of for k, of in phases.items()}
    for place, (step, inner) in repeats.items():
        nodes[place] = _Again(step, plan(inner, program))
    for phase in phases.values():
        _prepare(phase, program)
    return [nodes[place] for place in sorted(nodes)]


@dataclass
class _Computing:
    """Computation of ranks in a phase."""

    ranks: Ints
    factors: Floats
    time: int
    schedule: int | None

    @classmethod
    def of(cls, ranks: Sequence[int], steps: Sequence[Compute]) -> _Computing | None:
        """Return computation of ranks; None if they differ in more than a factor."""
        (time, schedule), *others = {(step.time, step.schedule) for step in steps}
        if others:
            return None
        return cls(np.array(ranks), np.array([step.factor for step in steps]), time, schedule)

    def seconds(self, program: Program, app: int, phase: int, iteration: int) -> Floats:
        """Return what is drawn for each rank."""
        values = program.values[self.time]
        if len(values) == 1:
            seconds = values[0] * self.factors
        else:
            seconds = (
                draw(program.seed, values, app, self.ranks, phase, iteration, 0) * self.factors
            )
        if self.schedule is not None:
            factors = program.values[self.schedule]
            seconds = seconds * factors[iteration % len(factors)]
        return np.asarray(seconds)


def _prepare(node: _Phase, program: Program) -> None:
    """Find out whether all ranks of a phase do the same that needs no simulation step by step."""
    every = [step for steps in node.steps for step in steps]
    kinds = {type(step) for step in every}
    if kinds == {Compute}:
        if len(every) == len(node.ranks):
            steps = [step for step in every if isinstance(step, Compute)]
            node.computing = _Computing.of(node.ranks, steps)
    elif kinds == {Collective}:
        collectives = [step for step in set(every) if isinstance(step, Collective)]
        if collectives[0].op not in (*FROM_ROOT, *TO_ROOT) and not collectives[0].grid:
            node.collectives = collectives
    elif kinds <= _LETTERS.keys():
        sizes = {step.size for step in every if isinstance(step, Isend)}
        if all(len(program.values[size]) == 1 for size in sizes):
            _exchange(node)


_LETTERS: dict[type, str] = {Irecv: "r", Isend: "s", Compute: "c", Wait: "w"}


def _exchange(node: _Phase) -> None:
    """Take an exchange of which each rank begins all, computes, and waits."""
    words = ["".join(_LETTERS[type(step)] for step in steps) for steps in node.steps]
    if not all(re.fullmatch("r*s*c?w", word) for word in words):
        return
    pairs = [
        (rank, step) for rank, steps in zip(node.ranks, node.steps, strict=True) for step in steps
    ]
    sent = [(rank, step.to, step.size) for rank, step in pairs if isinstance(step, Isend)]
    computing = [(rank, step) for rank, step in pairs if isinstance(step, Compute)]
    if sum(word.count("r") for word in words) != len(sent) or not sent:
        return
    if computing:
        node.computing = _Computing.of(*zip(*computing, strict=True))
        if node.computing is None:
            return
    node.exchange = _Exchange(*map(np.array, zip(*sent, strict=True)))


LARGE = 16384

MAX_SINGLE_STEPS = 200_000
"""Steps of all ranks that are simulated one by one; more are simulated phase by phase."""


def simulate(
    program: Program,
    app: int,
    clocks: Clocks,
    *,
    least: int = MIN_SIMULATED_ITERATIONS,
    most: int = 100_000,
    plans: list[Plan] | None = None,
) -> Simulated:
    """Simulate one application alone: step by step, or phase by phase if it has many ranks.

    Parameters
    ----------
    least
        Iterations, unless there are fewer.
    most
        Steps of ranks after which it is enough.
    plans
        Holds the plan of the application once it was made; the same for all clocks.

    Raises
    ------
    InputError
        If its ranks wait for each other for ever.
    """
    application = program.applications[app]
    work = sum(map(_work, application.steps))
    if work * min(least, application.iterations) <= MAX_SINGLE_STEPS:
        return step_by_step(program, app, clocks, least=least, most=most)
    plans = [] if plans is None else plans
    if not plans:
        plans.append(plan(enumerate(application.steps), program))
    simulation = ByPhase(program, app, clocks, plans[0])
    if application.ranks > LARGE:
        least = min(least, FEW_OF_MANY)
    return simulation.simulate(least, max(1, most // max(work, 1)))


def _work(steps: Sequence[Step]) -> int:
    """Return the number of steps of an iteration, repetition counted."""
    return sum(
        step.times * _work(step.steps) // step.every if isinstance(step, Repeat) else 1
        for step in steps
    )


class ByPhase:
    """One application as it is simulated."""

    def __init__(self, program: Program, app: int, clocks: Clocks, phase_plan: Plan) -> None:
        self.program = program
        self.app = app
        self.application = program.applications[app]
        self.clocks = clocks
        self.plan = phase_plan
        self.nodes = np.array(clocks.node_of)
        self.times = np.zeros(self.application.ranks)
        self.spent = np.zeros(len(self.application.phases))
        self.draws = Draws(program.seed, program.values, app)
        self.messages: dict[int, Messages] = {}
        self.computed = 0.0

    def simulate(self, least: int, most: float) -> Simulated:
        """Simulate iterations until their time is known."""
        ends: list[float] = []
        phases = []
        while len(ends) < self.application.iterations:
            spent_before = self.spent.copy()
            self._all(self.plan, len(ends))
            ends.append(float(self.times.max()))
            phases.append((self.spent - spent_before) / len(self.times))
            if len(ends) >= least and (len(ends) >= most or steady(ends)):
                break
        communicating = 1 - self.computed / max(float(self.times.sum()), 1e-300)
        return Simulated(
            np.array(ends),
            np.array(phases),
            self.application.iterations,
            PHASE_OVERLAP * communicating,
        )

    def _messages(self, phase: int, exchange: _Exchange) -> Messages:
        source, target = exchange.source, exchange.target
        source_node, target_node = self.nodes[source], self.nodes[target]
        inside = source_node == target_node
        level = np.where(inside, -1, self.clocks.between(source_node, target_node)) + 1
        _, first, kind = np.unique(
            exchange.size * (level.max() + 1) + level, return_index=True, return_inverse=True
        )
        costs = [
            self.clocks.message(
                int(source[k]),
                int(target[k]),
                phase,
                self.program.values[exchange.size[k]][0],
            )
            for k in first
        ]
        single, gap, wire, waits, both_ways = (
            np.array(column)[kind] for column in zip(*costs, strict=True)
        )
        busy = np.maximum(gap - wire, 0.0)
        begins = np.concatenate([[True], source[1:] != source[:-1]])  # in the order of ranks
        queued = np.cumsum(busy) - busy
        queued -= np.maximum.accumulate(np.where(begins, queued, 0.0))
        sends = np.zeros(len(self.times))
        np.add.at(sends, source, busy)
        count = len(source)
        every = np.arange(count)
        ports = [Port.of(every, source, gap, count), Port.of(every, target, gap, count)]
        away = np.flatnonzero(~inside)
        for nodes in (source_node, target_node):
            shared = away[np.bincount(self.nodes)[nodes[away]] > 1]
            if len(shared):
                ports.append(Port.of(shared, nodes[shared], wire[shared], count))
        crossing = away[both_ways[away] > 1]
        if len(crossing):
            both = np.tile(crossing, 2)
            nodes = np.concatenate([source_node[crossing], target_node[crossing]])
            ports.append(Port.of(both, nodes, wire[both] * both_ways[both] / 2, count))
        asks = waits | (not self.clocks.at_once)
        return Messages(
            source,
            target,
            queued,
            np.maximum(single - gap, 0.0),
            asks,
            waits.astype(bool),
            sends,
            ports,
        )

    # --- simulated --------------------------------------------------------------------------------

    def _all(self, tree: Sequence[_Phase | _Again], iteration: int) -> None:
        for node in tree:
            if isinstance(node, _Again):
                self._repeated(node, iteration)
                continue
            started = self.times.sum()
            self._one(node, iteration)
            self.spent[node.number] += self.times.sum() - started

    def _repeated(self, node: _Again, iteration: int) -> None:
        """Simulate turns until their time is steady; the others take as long."""
        turns = node.step.turns(iteration)
        ends = [float(self.times.mean())]
        for turn in turns:
            self._all(node.body, turn)
            ends.append(float(self.times.mean()))
            left = len(turns) - len(ends) + 1
            if left and len(ends) > MIN_SIMULATED_ITERATIONS and steady(ends):
                break
        else:
            return
        half = len(ends) // 3
        mean, _ = mean_and_error(np.array(ends), half)
        total = float(self.times.sum())
        self.computed *= (total + left * mean * len(self.times)) / max(total, 1e-300)
        self.times += left * mean

    def _one(self, node: _Phase, iteration: int) -> None:
        finish = self.times.copy()
        if node.computing is not None:
            durations = node.computing.seconds(self.program, self.app, node.number, iteration)
            finish[node.computing.ranks] += durations
        if node.exchange is not None:
            if id(node) not in self.messages:
                self.messages[id(node)] = self._messages(node.number, node.exchange)
            self.times = self.messages[id(node)].done(self.times, finish)
        elif node.computing is not None:
            self.computed += float((finish - self.times).sum())
            self.times = finish
        elif node.collectives:
            for step in node.collectives:
                members = step.among or tuple(range(len(self.times)))
                size = self.draws.value(step.size, 0, step.phase, 0, iteration)
                unfolding = self.clocks.operation(step, members, size)
                delays = np.array(unfolding.parts or 1.0) * unfolding.seconds
                chosen = list(members)
                self.times[chosen] = self.times[chosen].max() + delays
        else:
            self._events(node, iteration)

    def _events(self, node: _Phase, iteration: int) -> None:
        """Simulate a phase message by message; its ranks begin when they reached it."""
        ranks = Ranks(self.program, self.app, self.clocks)
        ranks.draws = self.draws
        begin = float(self.times[node.ranks].min())

        def one(rank: int, steps: Sequence[Single]) -> Run:
            yield float(self.times[rank]) - begin
            yield from ranks.steps(steps, rank, iteration, iteration, [])
            self.times[rank] = begin + ranks.clock.now

        for rank, steps in zip(node.ranks, node.steps, strict=True):
            ranks.clock.start(one(rank, steps))
        ranks.clock.run(lambda: False)
