"""What collective operations cost, from models of collectives, on grids of ranks or not."""

from collections.abc import Sequence

import numpy as np

from isochrone.applications.simulate.collectives import Unfolding
from isochrone.applications.thresholds import MAX_EARLY_SHARE, TWO_STEPS
from isochrone.base.errors import InputError
from isochrone.base.operations import FROM_ROOT, TO_ROOT, like
from isochrone.collectives.grid_collectives import Grid, Phase
from isochrone.collectives.measured import nearest
from isochrone.collectives.predicted_grids import Machine, PhaseTimes, predict, warnings_of
from isochrone.models import Model
from isochrone.models.data.placement import CG, GROUP, PLACES
from isochrone.models.prediction.questions import needed, subject
from isochrone.runfile.grid_groups import place_of

Ends = tuple[float, float, float]
"""Seconds, and their interval."""

Nodes = tuple[int, ...] | None
"""Node of each member; None if not known."""

_EMPTY = ("barrier",)

_LATENCY_BYTES = 8
"""Bytes of an operation whose time is hardly more than the latency, and no less of fewer bytes."""


_STEPS = (1.08, 1.6)
"""Along a tree twice the members take a step more. What takes less more has no steps, and what
takes more more is one member after the other: in both the root exchanges data with all."""


class OperationTimes:
    """Models of collectives that are asked for operations of an application.

    Parameters
    ----------
    models
        Those of collectives are used; of two that hold an operation, the first.
    bounded
        Operations that were recorded, each with its time (s): without a model they take that, and
        their interval is from nothing to twice as much.

    Attributes
    ----------
    warnings
        What was found to be doubtful so far; each sentence once.
    """

    def __init__(self, models: Sequence[Model], bounded: Sequence[tuple[str, float]] = ()) -> None:
        self.warnings: dict[str, None] = {}
        self._models = [m for m in models if subject(m.experiment, m.segments) == "collective"]
        self._phases = {id(model): PhaseTimes(model) for model in self._models}
        self._known: dict[tuple[object, ...], Ends] = {}
        self._bounded = dict(sorted(bounded, key=lambda bound: bound[1]))

    def times(
        self,
        op: str,
        size: float,
        grid: str,
        node_of: Nodes,
        ranks: int,
        number: int | None = None,
    ) -> Ends:
        """Return what an operation takes, or a phase of it with all of its groups at work.

        Parameters
        ----------
        op, size, grid
            As in ``measure collective``; ``grid`` is empty for the library's own.
        node_of
            Node of each member; None if not known.
        ranks
            Members.
        number
            Of a phase of an operation on a grid; None: the whole operation.

        Raises
        ------
        InputError
            If no model holds the operation; says what to measure.
        """
        if ranks < 2:
            return 0.0, 0.0, 0.0
        size = max(size, _LATENCY_BYTES)  # of less, it is the latency that takes time
        key = (op, size, grid, node_of, ranks)
        if (*key, number) not in self._known:
            try:
                self._ask(op, size, grid, node_of, ranks)
            except InputError:
                if op not in self._bounded or grid:
                    raise
                self.warnings[
                    f"no model predicts {op}: its time is taken from the recordings, with an "
                    "interval from 0 to twice as much"
                ] = None
                recorded = self._bounded[op]
                self._known[*key, None] = recorded, 0.0, 2 * recorded
        return self._known[*key, number]

    def _ask(self, op: str, size: float, grid: str, node_of: Nodes, ranks: int) -> None:
        """Ask the model of an operation, and note what it says of the whole and of its phases."""
        key = (op, size, grid, node_of, ranks)
        op = self._measured(op)
        model = self._model(op)
        try:
            if not grid:
                self._known[*key, None] = self._by_library(model, op, round(size), node_of, ranks)
                return
            machine = Machine()
            if node_of is not None:
                machine = Machine.of_hosts([f"n{node}" for node in node_of])
            grids = [Grid.parse(grid)]
            (prediction,) = predict(model, op, ranks, grids, [round(size)], machine)
        except InputError as error:
            raise InputError(f"{op}: {error.what}", where="--model", hint=error.hint) from error
        self.warnings |= dict.fromkeys(warnings_of([prediction]))
        self._known[*key, None] = prediction.seconds, prediction.low, prediction.high
        middle, low, high = prediction.together
        for k, phase in enumerate(prediction.phases):
            self._known[*key, k] = phase.seconds * middle, phase.low * low, phase.high * high

    def largest(self, op: str) -> int:
        """Return the most ranks on which an operation was measured; 0 if it was not."""
        op = self._measured(op)
        return max(
            (
                int(segment.fitted["p"][1])
                for model in self._models
                for segment in model.segments
                if segment.where.get("op", op) == op and "p" in segment.fitted
            ),
            default=0,
        )

    def unfolding(
        self,
        op: str,
        size: float,
        node_of: Nodes,
        ranks: int,
        seconds: float,
        group: str = CG,
        *,
        at_once: bool,
    ) -> Unfolding:
        """Return how an operation of the library unfolds, as far as that was measured.

        ``seconds`` are what it takes, ``group`` is ``LG`` for a column of a grid. ``at_once``:
        whether data move before they are asked for, so that those of two operations follow each
        other without a latency.
        """
        op = self._measured(op)
        if not self._holds(op):
            return Unfolding(seconds)  # a bounded one
        leaving = (
            nearest(self._model(op).kept.get("leaving", ()), op, ranks, round(size), group)
            if ranks > 2
            else None
        )
        if leaving is None:
            return Unfolding(seconds)
        parts = tuple(leaving.of(member, ranks) for member in range(ranks))
        if op not in (*FROM_ROOT, *TO_ROOT):
            return Unfolding(seconds, parts)
        star = (-1, *[0] * (ranks - 1))
        at_once_gone = op in TO_ROOT and max(parts[1:]) < MAX_EARLY_SHARE
        fewer = self._of_fewer(op, size, node_of, ranks) if group == CG else None
        if fewer is None:
            if not at_once_gone:
                return Unfolding(seconds, parts)
            little = self.shape(op, min(size, _LATENCY_BYTES), node_of, ranks) or 0.0
            little = min(max(little, 0.0), seconds)
            hop = little + (seconds - little) / (ranks - 1)  # a latency, and the data of one
            return Unfolding(seconds, parts, hop, star, _below(star), flat=True)
        hop, half, latency = fewer
        flat = (
            at_once_gone
            or seconds < TWO_STEPS * hop
            or (ranks > 3 and not _STEPS[0] <= seconds / half <= _STEPS[1])
        )
        complete = len(leaving.parts) == leaving.ranks  # else only some members were noted
        shape = leaving.parts if complete else parts
        parents = star if flat else _tree(shape, ranks, leaves_first=op in TO_ROOT)
        below = _below(parents)
        last = max((parts[member] for member in below[0]), default=1.0) if below else 1.0
        return Unfolding(
            seconds,
            parts,
            min(hop, seconds),
            parents,
            below,
            flat,
            busy=max(last * seconds - (latency if at_once else 0.0), 0.0),
        )

    def _of_fewer(
        self, op: str, size: float, node_of: Nodes, ranks: int
    ) -> tuple[float, float, float] | None:
        """Return what an operation takes of two members, of half of them, and of two with little.

        None if so few were not measured: a step from more to less is not what a formula is for.
        """
        where = {"op": op, GROUP: CG}
        model = self._model(op)
        segments = model.chosen({k: v for k, v in where.items() if k in model.selectors})
        if (
            min(
                (segment.fitted["p"][0] for segment in segments if "p" in segment.fitted), default=0
            )
            > 2
        ):
            return None
        cases = ((2, size), (-(-ranks // 2), size), (2, min(size, _LATENCY_BYTES)))
        times = [self.shape(op, of, node_of, members) for members, of in cases]
        measured = [seconds for seconds in times if seconds is not None]
        return (measured[0], measured[1], measured[2]) if len(measured) == len(cases) else None

    def shape(self, op: str, size: float, node_of: Nodes, ranks: int) -> float | None:
        """Return the seconds of an operation that is only looked at for the shape of another.

        That it is outside what was measured is no reason to doubt a prediction.
        """
        warnings = dict(self.warnings)
        try:
            return self.times(op, size, "", None if node_of is None else node_of[:ranks], ranks)[0]
        except InputError:
            return None
        finally:
            self.warnings = warnings

    def _holds(self, op: str) -> bool:
        return any(op in model.selectors.get("op", [op]) for model in self._models)

    def _measured(self, op: str) -> str:
        """Return the operation, or what stands for it if only that was measured."""
        if self._holds(op) or not self._holds(like(op)):
            return op
        self.warnings[f"{op} was not measured: it is predicted as {like(op)} with equal blocks"] = (
            None
        )
        return like(op)

    def _model(self, op: str) -> Model:
        for model in self._models:
            if op in model.selectors.get("op", [op]):
                return model
        raise InputError(
            f"no model of {op} is given",
            where="--model",
            hint=f"run isochrone measure collective --op {op}, and add its fit to --model",
        )

    def _by_library(self, model: Model, op: str, size: int, node_of: Nodes, ranks: int) -> Ends:
        placement = None
        if node_of is not None:
            placement = place_of(np.arange(ranks), np.zeros(ranks, np.int64), np.array(node_of))
        if op in _EMPTY:
            where = {"op": op} if "op" in model.selectors else {}
            if CG in model.selectors.get(GROUP, []):
                where[GROUP] = CG
            arguments = {"p": ranks}
            if placement is not None and set(PLACES) & set(needed(model.chosen(where))):
                arguments["nodes"], arguments["ppn"] = placement.filled(ranks)
            prediction = model.predict(arguments, where)
            self.warnings |= dict.fromkeys(prediction.warnings)
            seconds, low, high = (
                float(end[0]) for end in (prediction.seconds, prediction.low, prediction.high)
            )
            if np.isnan(seconds):
                raise InputError(prediction.warnings[0])
            return seconds, low, high
        phase = Phase("CG", op, ranks, size, 1)  # all members are one row
        phase_time, warnings = self._phases[id(model)].time(phase, placement)
        self.warnings |= dict.fromkeys(warnings)
        if phase_time is None:
            raise InputError(warnings[0] if warnings else "the model gives no prediction")
        return phase_time.seconds, phase_time.low, phase_time.high


def _below(parents: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return whose parent each member is; nothing, if no parents are known."""
    below: list[list[int]] = [[] for _ in parents]
    for member, parent in enumerate(parents[1:], 1):
        below[parent].append(member)
    return tuple(map(tuple, below))


def _tree(parts: Sequence[float], ranks: int, *, leaves_first: bool) -> tuple[int, ...]:
    """Return the parents of ranks in the binomial tree that times of leaving agree with, or ().

    In one of them a member's parent is without its lowest bit, in the other without its highest.
    Data take time from one to the other: who leaves at the same moment is not the other's parent.
    """
    members = range(1, max(ranks, len(parts)))
    trees = [
        [member & (member - 1) for member in members],
        [member - (1 << (member.bit_length() - 1)) for member in members],
    ]
    for tree in trees:
        agree = sum(
            parts[member] != parts[parent] and (parts[member] < parts[parent]) == leaves_first
            for member, parent in enumerate(tree[: len(parts) - 1], 1)
        )
        if agree > 0.95 * (len(parts) - 1):
            return (-1, *tree[: ranks - 1])
    return ()
