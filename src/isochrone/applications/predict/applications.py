"""Applications predicted: their programs simulated with models for clocks.

Computation takes what it draws, a collective operation the time of its runtime function from when
the last member has come, a message what was measured of messages, while the ports of its nodes are
shared. What the processes wait for each other follows from the simulation. Applications
are predicted alone: how they slow each other down is not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import accumulate
from math import isnan, log2, nan, sqrt

import numpy as np
from msgspec.structs import replace
from scipy.special import stdtrit

from isochrone.applications.description.program import Application, Collective, Program, flat
from isochrone.applications.predict.collective_levels import slowdown
from isochrone.applications.predict.grid_parts import GridPart, parts_of
from isochrone.applications.predict.levels import Levels, MappedMachine
from isochrone.applications.predict.message_times import Cost, MessageTimes, Path, Side
from isochrone.applications.predict.operation_times import OperationTimes
from isochrone.applications.simulate.by_phase import Plan, simulate
from isochrone.applications.simulate.collectives import Unfolding
from isochrone.applications.simulate.simulation import Clocks, Simulated
from isochrone.applications.thresholds import FURTHER
from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.collectives.predicted_grids import Machine
from isochrone.models import Model
from isochrone.models.data.observations import SHARED
from isochrone.models.data.placement import CG

_OTHER_SEEDS = 8
"""Seeds beside that of the description, which say how far the draws matter."""

_POINT = 150_000
"""Steps that are simulated for a prediction, if its iterations are not steady before."""

_SIDE = 6_000
"""Steps that are simulated for each end of an interval."""

_MIN_ITERATIONS = 6
"""Iterations that are simulated at least for that."""

_CONFIDENCE = 0.95

_SIZES = ("size", "request", "reply", "task", "result")

_SIDES = {"seconds": 0, "low": 1, "high": 2}


@dataclass(frozen=True)
class PhaseTime:
    """Seconds of a phase in an iteration, a mean over ranks, waiting included."""

    app: str
    phase: str
    seconds: float
    low: float
    high: float


@dataclass(frozen=True)
class Prediction:
    """What an application takes alone.

    Attributes
    ----------
    app, ranks, iterations
        Of the program.
    seconds, low, high
        Of all iterations, until the last rank is done; with an interval of 95 % for what the
        models, other draws and iterations that were not simulated leave open.
    phases
        In their order.
    warnings
        What makes it doubtful, one sentence each.
    """

    app: str
    ranks: int
    seconds: float
    low: float
    high: float
    iterations: int
    phases: list[PhaseTime]
    warnings: list[str] = field(default_factory=list)


def predict(
    program: Program,
    models: Sequence[Model],
    machine: Machine | None = None,
    ranks_of: Sequence[Sequence[int]] = (),
    *,
    ends: bool = True,
) -> list[Prediction]:
    """Predict every application of a program alone.

    Parameters
    ----------
    program
        Applications.
    models
        Of messages and of collectives, on the same machine.
    machine
        Where the ranks of the job are; not known if not given.
    ranks_of
        Ranks of the job that each application runs on; one application after the other if empty.
    ends
        Whether an interval is asked for, which takes most of the time; else it is NaN.

    Raises
    ------
    InputError
        If no model holds what an application does; says what to measure.
    """
    if not ranks_of:  # those that it asked for, or the next ones
        firsts = accumulate((app.ranks for app in program.applications), initial=0)
        ranks_of = [
            app.on or range(first, first + app.ranks)
            for app, first in zip(program.applications, firsts, strict=False)
        ]
    bounded = [bound for app in program.applications for bound in app.bounded]
    messages, operations = MessageTimes(models), OperationTimes(models, bounded)
    if any(SHARED in model.warnings for model in models):
        messages.warnings[SHARED] = None
    return [
        _Question(program, k, messages, operations, machine or Machine(), ranks).answer(ends=ends)
        for k, ranks in enumerate(ranks_of)
    ]


@dataclass
class _Question:
    """One application, and all that it is predicted by."""

    program: Program
    app: int
    messages: MessageTimes
    operations: OperationTimes
    machine: Machine
    ranks: Sequence[int]
    unfoldings: dict[tuple[object, ...], Unfolding] = field(default_factory=dict)
    slowdowns: dict[tuple[object, ...], float] = field(default_factory=dict)
    plans: list[Plan] = field(default_factory=list)

    def answer(self, *, ends: bool) -> Prediction:
        """Simulate it: with what is likely, with both ends of the models, and with other draws."""
        for phase in self.application.phases:
            if phase.method in ("posix-file", "mpi-file"):
                raise InputError(
                    f"'{self.application.name}', phase '{phase.name}': no model covers data that "
                    f"move through a file ({phase.method})",
                    hint="predict it with method: message, or emulate it",
                )
        point = self._simulated(self._clocks("seconds"), most=_POINT)
        middle = np.array([point.seconds, *point.phase_seconds])
        rows = self._with_ends(point, middle) if ends else middle[:, None] * [1, nan, nan]
        phases = [
            PhaseTime(self.application.name, phase.name, *row)
            for phase, row in zip(self.application.phases, rows[1:].tolist(), strict=True)
        ]
        warnings = [*self.messages.warnings, *self.operations.warnings]
        if self.nodes is None and len(self.messages.paths) == 2:
            warnings.append(
                "on which nodes the ranks are is not known: every rank is taken to have its own "
                "(give --ppn)"
            )
        warnings += self._beyond_the_map()
        seconds, lowest, highest = rows[0].tolist()
        return Prediction(
            self.application.name,
            self.application.ranks,
            seconds,
            lowest,
            highest,
            self.application.iterations,
            phases,
            warnings,
        )

    @property
    def _simulated(self) -> Callable[..., Simulated]:
        return partial(simulate, self.program, self.app, plans=self.plans)

    def _with_ends(self, point: Simulated, middle: Floats) -> Floats:
        """Return the total and the phases with both ends of their intervals, shape (1 + n, 3)."""
        down, up = (
            _against(self._simulated(self._clocks(side), least=_MIN_ITERATIONS, most=_SIDE), point)
            for side in ("low", "high")
        )
        drawn = self._drawn(point)
        left_out = np.append(_quantile(7) * point.error / point.seconds, np.zeros(len(down) - 1))
        others = drawn**2 + left_out**2 + self.application.uncertainty**2
        below = np.sqrt((1 - np.minimum(down, 1)) ** 2 + others)
        above = np.sqrt((np.maximum(up, 1) - 1) ** 2 + others)
        above = above + self.application.omitted + point.coarse
        below = below + self.application.omitted
        low_ratio = np.maximum(1 - below, (1 + below) ** -2.0)  # above zero, however wide
        return np.column_stack([middle, middle * low_ratio, middle * (1 + above)])

    def _beyond_the_map(self) -> list[str]:
        """Say if the application needs nodes of which it is not known how far they are."""
        nodes = len(set(self.places))
        if self.levels is None or nodes < 2 or max(self.places) < self.levels.nodes:
            return []
        mapped = f"has {self.levels.nodes}" if self.levels.nodes else "is not given"
        return [
            f"{self.application.ranks} ranks need {nodes} nodes, and the latency map {mapped}: "
            f"messages between others may take up to {FURTHER:g} times as long as is predicted, "
            "which widens the interval (give --map)"
        ]

    @property
    def application(self) -> Application:
        return self.program.applications[self.app]

    def _drawn(self, point: Simulated) -> Floats:
        """Return by what part other draws may be away: total and phases; 0 if nothing is drawn."""
        lists = _drawn_from(self.program, self.app, "time", *_SIZES)
        if all(len(set(values)) == 1 for values in lists):
            return np.zeros(1 + point.phases.shape[1])
        clocks = self._clocks("seconds")
        others = [
            simulate(
                replace(self.program, seed=self.program.seed + k),
                self.app,
                clocks,
                least=_MIN_ITERATIONS,
                most=_SIDE,
                plans=self.plans,
            )
            for k in range(1, 1 + _OTHER_SEEDS)
        ]
        ratios = np.array([_against(variant, point) for variant in others])
        simulated = min(len(variant.ends) for variant in others)
        spread = np.std(ratios, axis=0, ddof=1) * sqrt(1 + 1 / len(others))
        return np.asarray(_quantile(len(others) - 1) * spread * sqrt(simulated / point.iterations))

    def _clocks(self, side: Side) -> Clocks:
        node_of = self.nodes

        def operation(step: Collective, members: tuple[int, ...], size: float) -> Unfolding:
            return self._unfolding(step, size, members, side)

        rank_nodes, levels = self.places, self.levels

        def between(first: Ints, second: Ints) -> Ints:
            return np.zeros_like(first) if levels is None else levels.between(first, second)

        @cache
        def level(first: int, second: int) -> int:
            return int(between(np.array([first]), np.array([second]))[0])

        phases = self.application.phases
        sizes = set().union(*_drawn_from(self.program, self.app, *_SIZES))
        prepared: set[Path] = set()

        def message(source: int, target: int, phase: int, size: float) -> Cost:
            path: Path = "network"
            if rank_nodes[source] == rank_nodes[target] or phases[phase].method == "shared-memory":
                path = "node"
            if path not in prepared:
                prepared.add(path)
                self.messages.prepare(path, sizes, side)
            cost = self.messages.cost(path, size, side)
            if path == "node" or levels is None:
                return cost
            return levels.cost(cost, level(rank_nodes[source], rank_nodes[target]), size, side)

        split = partial(parts_of, ranks=len(self.ranks), node_of=node_of)
        return Clocks(
            operation,
            message,
            split,
            rank_nodes,
            at_once=not self.messages.simulated,
            between=between,
        )

    def _unfolding(
        self, step: Collective, size: float, members: Sequence[int], side: Side
    ) -> Unfolding:
        """Return how an operation unfolds, in the time that is likely, or at an end of that."""
        group, ranks = CG, len(members)
        node_of = None if self.nodes is None else tuple(self.nodes[rank] for rank in members)
        if isinstance(step, GridPart):
            group = step.group
            everyone = step.whole.among or tuple(range(len(self.ranks)))
            nodes = None if self.nodes is None else tuple(self.nodes[rank] for rank in everyone)
            times = self.operations.times(
                step.whole.op, step.of, step.whole.grid, nodes, len(everyone), step.number
            )
        else:
            times = self.operations.times(step.op, size, step.grid, node_of, ranks)
        end = times[_SIDES[side]]
        seconds = times[0] if isnan(end) else end
        key = step.op, size, ranks, node_of, times[0], group
        if step.grid:
            return Unfolding(seconds)
        if key not in self.unfoldings:
            self.unfoldings[key] = self.operations.unfolding(
                step.op, size, node_of, ranks, times[0], group, at_once=not self.messages.simulated
            )
        unfolding = self.unfoldings[key]
        seconds *= self._slowdown(step, size, members, side)
        by = seconds / unfolding.seconds if unfolding.seconds > 0 else 1.0
        waits = self.messages.waits(size)
        return replace(unfolding, seconds=seconds, hop=unfolding.hop * by, waits=waits)

    def _slowdown(self, step: Collective, size: float, members: Sequence[int], side: Side) -> float:
        """Return by what factor an operation is slower than on the ranks that were measured."""
        measured = self.operations.largest(step.op)
        if self.levels is None or len(members) < 2 or not measured:
            return 1.0
        ranks = len(members)
        about = 2.0 ** round(log2(max(size, 1.0)))
        nodes = tuple(self.places[rank] for rank in members)
        key = step.op, nodes, about, side
        if key not in self.slowdowns:
            reference = self.machine.node_of(ranks)
            placed = tuple(range(ranks) if reference is None else reference.tolist())
            of = None if self.nodes is None else placed
            full, half = (
                self.operations.shape(step.op, size, of, ranks) for size in (about, about / 2)
            )
            if not full or half is None:
                return 1.0
            latency = min(max(2 * half - full, self.levels.seconds[0, 0]), full)
            self.slowdowns[key] = slowdown(
                step.op, nodes, placed, measured, self.levels, full, latency, side
            )
        return self.slowdowns[key]

    @property
    def levels(self) -> Levels | None:
        """How far the nodes are from each other; None: not asked for."""
        return self.machine.levels if isinstance(self.machine, MappedMachine) else None

    @cached_property
    def places(self) -> list[int]:
        """The node of each rank; where that is not known, each has its own if models allow that."""
        if self.nodes is not None:
            return self.nodes
        return [0 if self.messages.paths == {"node"} else rank for rank in self.ranks]

    @cached_property
    def nodes(self) -> list[int] | None:
        """The node of each rank of the application, if that is known."""
        needed = max(self.ranks) + 1
        node_of = self.machine.numbers or self.machine.node_of(needed)
        if node_of is None or len(node_of) < needed:
            return None
        return [int(node_of[rank]) for rank in self.ranks]


def _drawn_from(program: Program, app: int, *names: str) -> list[tuple[float, ...]]:
    """Return the lists of values from which an application draws what its steps call so."""
    steps = {step for steps in program.applications[app].steps for step in flat(steps)}
    used = {getattr(step, name) for step in steps for name in names if hasattr(step, name)}
    return [program.values[of] for of in used]


def _against(simulation: Simulated, point: Simulated) -> Floats:
    """Return one as parts of another, over the iterations that both did: total, phases."""
    common = min(len(simulation.ends), len(point.ends))
    sides = [
        np.array([simulated.ends[common - 1], *simulated.phases[:common].sum(axis=0)])
        for simulated in (simulation, point)
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sides[1] > 0, sides[0] / sides[1], 1.0)


def _quantile(freedom: int) -> float:
    return float(stdtrit(freedom, (1 + _CONFIDENCE) / 2))
