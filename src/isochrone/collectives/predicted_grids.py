"""The time of a collective operation on a grid of ranks: the sum of its two phases.

Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of Communication
Operations*, section 3: each phase takes the time of the standard operation in one of its groups.
They found that concurrent groups do not disturb each other; here a measured factor accounts for it.
Measured times of a group correct the formula for that group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite, isnan, log, log2, nan
from typing import Annotated, Literal

import numpy as np

from isochrone.base.arrays import Ints
from isochrone.base.documents import Hidden, IfKnown, Inline, MaybeNan, shown
from isochrone.base.errors import InputError
from isochrone.base.record import Members, Record
from isochrone.base.table import grouped
from isochrone.collectives.grid_collectives import LIBRARY, OPERATIONS, Grid, Phase, phases
from isochrone.collectives.measured import (
    Ends,
    MeasuredGroup,
    factor_of,
    find,
    group_place,
    like,
    miss_at,
    time_at,
    together_of,
)
from isochrone.collectives.results.grid_collectives import TOTAL, points
from isochrone.models import Model
from isochrone.models.data.placement import CG, GROUP, PLACES
from isochrone.models.prediction.questions import needed, not_held
from isochrone.models.selection.errors import Deviation, deviation
from isochrone.runfile.grid_groups import Place, ranks_on_nodes
from isochrone.runfile.run import Run

NOISE = "within the noise"
"""The verdict where intervals overlap, so that a choice may be chance."""

_ALONE = (1.0, 1.0, 1.0)

Placement = Literal["block", "cyclic"]

_LISTED_GROUPS = 3
"""Numbers of groups that a sentence lists."""


class Machine(Record):
    """Placement of the ranks.

    Attributes
    ----------
    nodes, ppn
        Nodes, and ranks on each; 0 if unknown.
    placement
        Node after node, or a rank on each in turn.
    numbers
        Node of each rank, if known individually.
    """

    nodes: int = 0
    ppn: int = 0
    placement: Placement = "block"
    numbers: tuple[int, ...] = ()

    @classmethod
    def of_hosts(cls, hosts: Sequence[str]) -> Machine:
        """Return the placement of ranks on named hosts; empty names: unknown."""
        if not all(hosts):
            return cls()
        counts = Counter(hosts)
        node_ids = {host: k for k, host in enumerate(counts)}
        ppn = max(counts.values(), default=0)
        return cls(len(node_ids), ppn, numbers=tuple(node_ids[host] for host in hosts))

    def node_of(self, ranks: int) -> Ints | None:
        """Return the node of each rank, or None if unknown."""
        if len(self.numbers) == ranks:
            return np.array(self.numbers)
        if not self.ppn:
            return None
        nodes = self.nodes or -(-ranks // self.ppn)
        return ranks_on_nodes(ranks, nodes, self.ppn, cyclic=self.placement == "cyclic")


class GridTime(Record):
    """An operation on one grid, or by the library.

    Attributes
    ----------
    op, ranks, bytes
        The request; ``bytes`` is the block of one rank.
    grid
        The word of the grid, or ``library``.
    phases
        In the order of time; of the library, or a grid of one row or column, one.
    warnings
        Warnings, except for unmeasured disturbances.
    verdict
        The fastest, if requested: a grid, library, or within the noise.
    together
        Ratio of the operation to the sum of its phases, with its interval. 1 if not measured.
    """

    op: str
    ranks: int
    bytes: int
    grid: str
    phases: tuple[PhaseTime, ...]
    warnings: Hidden[list[str]]
    together: Hidden[Ends] = _ALONE
    verdict: IfKnown[str] = None

    @property
    @shown
    def factor(self) -> Annotated[float, "as together"]:
        """Both phases in one operation against their sum."""
        return self.together[0]

    @property
    def not_measured(self) -> list[int]:
        """Numbers of concurrent groups whose disturbance is unknown."""
        return [
            phase_time.phase.groups for phase_time in self.phases if not phase_time.factor_known
        ]

    @property
    @shown
    def seconds(self) -> float:
        """Sum of the phases, times what they are together."""
        return self.together[0] * sum(phase_time.seconds for phase_time in self.phases)

    @property
    @shown
    def low(self) -> MaybeNan:
        """Lower end of the interval: the sum of those of the phases.

        Two phases are of one model, and may be wrong in the same direction; their half widths are
        therefore added, which is the most they can come to.
        """
        return self.together[1] * sum(phase_time.low for phase_time in self.phases)

    @property
    @shown
    def high(self) -> MaybeNan:
        """Upper end of the interval, likewise."""
        return self.together[2] * sum(phase_time.high for phase_time in self.phases)


def predict(
    model: Model,
    op: str,
    ranks: int,
    grids: Iterable[Grid | None],
    sizes: Sequence[int],
    machine: Machine | None = None,
) -> list[GridTime]:
    """Predict an operation on several grids; None stands for the library's own.

    Parameters
    ----------
    model
        Of collectives, with the number of ranks as a variable.
    sizes
        Blocks of one rank in bytes.

    Returns
    -------
    list of GridTime
        Grid by grid, each for all sizes. Those without a predicted time are omitted.

    Raises
    ------
    InputError
        If the operation has no grid algorithm, a grid does not fit the ranks, or the model lacks an
        operation of a phase.
    """
    machine = machine or Machine()
    phase_times = PhaseTimes(model)
    predictions, reasons = list[GridTime](), list[str]()
    for grid in grids:
        for size in sizes:
            grid_name = LIBRARY if grid is None else grid.word
            rows, length = (1, ranks) if grid is None else grid.over(ranks, machine.ppn or None)
            op_phases: Sequence[Phase] = phases(
                op, rows, length, size
            )  # refuses what cannot be on a grid
            typed, span = grid_name, length
            if 1 in (rows, length):
                op_phases, typed, span = [Phase("CG", op, ranks, size, 1)], "", ranks
            times = [
                phase_times.time(phase, places(phase, typed, span, machine, ranks))
                for phase in op_phases
            ]
            warnings = [text for _, messages in times for text in messages]
            predicted = tuple(phase_time for phase_time, _ in times if phase_time is not None)
            if len(predicted) == len(op_phases):
                by = None
                if len(op_phases) > 1:  # both phases in one operation differ from their sum
                    measured = model.kept.get("disturbance", ())
                    by = together_of(measured, op, rows, length, size)
                predictions.append(
                    GridTime(op, ranks, size, grid_name, predicted, warnings, by or _ALONE)
                )
            else:
                reasons.append(warnings[0] if warnings else "no time is known")
    if not predictions:
        raise InputError(
            f"no prediction is possible: {reasons[0] if reasons else 'no grid or size fits'}"
        )
    return predictions


def warnings_of(times: Iterable[GridTime]) -> list[str]:
    """Return the warnings of predictions, without repeats."""
    times = list(times)
    warnings = list(dict.fromkeys(text for grid_time in times for text in grid_time.warnings))
    unknown = sorted({group_count for grid_time in times for group_count in grid_time.not_measured})
    if unknown:
        shown = ", ".join(map(str, unknown[:_LISTED_GROUPS])) + (
            ", …" if len(unknown) > _LISTED_GROUPS else ""
        )
        warnings.append(
            f"the slowdown of {shown} concurrent rows or columns was not measured; 1 is assumed"
        )
    if len({grid_time.grid for grid_time in times}) > 1 and any(
        isnan(grid_time.low) for grid_time in times
    ):
        warnings.append("some intervals are unknown: differences may be random")
    return warnings


def ranked(times: Iterable[GridTime]) -> list[GridTime]:
    """Sort the predictions of one operation and size, fastest first."""
    return sorted(times, key=lambda grid_time: (grid_time.seconds, grid_time.grid != LIBRARY))


def verdict(times: Sequence[GridTime]) -> str:
    """Name the fastest: a grid, ``library``, or ``within the noise``.

    A winning grid must be significantly faster than the library, and the library than the best
    grid. Without intervals the times alone decide.
    """
    best, *others = ranked(times)
    rivals = [rival for rival in others if LIBRARY in (rival.grid, best.grid)]
    overlap = any(rival.low <= best.high for rival in rivals)  # NaN is no overlap
    return NOISE if overlap else best.grid


def places(phase: Phase, grid: str, length: int, machine: Machine, ranks: int) -> Place | None:
    """Return the place of rank 0's group in a phase, and the number of groups on a node.

    Parameters
    ----------
    grid, length
        The grid as it is typed, and the ranks of a row.
    ranks
        Of all groups.

    Returns
    -------
    Place or None
        None if the nodes of the ranks are unknown.
    """
    node_of = machine.node_of(ranks)
    if node_of is None:
        return None
    return group_place(grid, length, phase.group, node_of, at_once=phase.groups > 1)


# --- times of phases ------------------------------------------------------------------------------

# The time of one phase of a grid collective: by formulas, and by what was measured near it.

_SAME_SIZE = 1e-9
"""A size this close to a measured one, as a part of it, is that one."""

_NO_TIME = 1e-12
"""Seconds below which a formula cannot be compared with measured times."""


class PhaseTime(Record):
    """One phase: its kind, its seconds, and the disturbance included in them.

    ``low`` and ``high`` are NaN, and ``factor`` is 1, if unknown.
    """

    phase: Inline[Phase]
    seconds: float
    low: Hidden[float]
    high: Hidden[float]
    factor: float
    factor_known: Hidden[bool] = True


class PhaseTimes:
    """Predicts phases by a model.

    The time of a measured group is interpolated between its sizes. That of another group is the
    formula, corrected by measured / formula of the neighbouring groups of the same kind, because
    formulas smooth over changes of algorithm.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    def time(self, phase: Phase, layout: Place | None) -> tuple[PhaseTime | None, list[str]]:
        """Return the time of a phase, or None if the model gives none, and warnings.

        Raises
        ------
        InputError
            If the model lacks the operation.
        """
        where: Members = {"op": phase.op} if "op" in self.model.selectors else {}
        group_kinds = self.model.selectors.get(GROUP, [])
        if group_kinds:  # where only rows or only columns were measured, these
            where[GROUP] = phase.group if phase.group in group_kinds else group_kinds[0]
        segments = self.model.chosen(where)
        variables: dict[str, float] = {"p": phase.ranks, "b": phase.bytes}
        stride, nodes = (layout.stride, layout.filled(phase.ranks)) if layout else (1, (0, 0))
        if set(PLACES) & set(needed(segments)):
            if layout is None:
                raise InputError(
                    "the model needs the number of ranks on each node", hint="give --ppn"
                )
            variables["nodes"], variables["ppn"] = nodes
        not_held(segments, variables, strict=True)
        groups = self.model.kept.get("groups", ())
        kind = str(where.get(GROUP, CG))
        group = find(groups, phase.op, kind, phase.ranks, stride, nodes)
        if group is not None and group.bytes[0] <= phase.bytes <= group.bytes[-1]:
            return self._measured(group, phase, layout), []
        # what the formula gives, corrected by measured groups of other numbers of ranks
        prediction = self.model.predict(variables, where)
        if isnan(prediction.seconds[0]):
            return None, prediction.warnings
        neighbours = like(groups, phase.op, kind, phase.ranks, stride)
        ratio = self._ratio(neighbours, phase, where, variables)
        by = self._factor(phase, layout, phase.bytes)
        seconds, low, high = (
            float(end[0]) * ratio * times
            for end, times in zip(
                (prediction.seconds, prediction.low, prediction.high), by or _ALONE, strict=True
            )
        )
        factor = (by or _ALONE)[0]
        return PhaseTime(phase, seconds, low, high, factor, by is not None), prediction.warnings

    def _measured(self, group: MeasuredGroup, phase: Phase, layout: Place | None) -> PhaseTime:
        """Return the time of a group between its sizes, alone and with the others at work."""
        sizes, undisturbed, size = group.sizes, np.array(group.seconds), float(phase.bytes)
        ends_by_size = [self._factor(phase, layout, int(nbytes)) for nbytes in group.bytes]
        factors = np.array([by or _ALONE for by in ends_by_size])
        seconds = time_at(sizes, undisturbed * factors[:, 0], size)
        factor, factor_known = (
            seconds / time_at(sizes, undisturbed, size),
            ends_by_size[0] is not None,
        )
        same = np.flatnonzero(np.abs(sizes - size) <= _SAME_SIZE * size)
        if len(same):
            k = int(same[0])
            ends = (group.low[k], group.high[k])
            low, high = (
                nan if end is None else end * by
                for end, by in zip(ends, factors[k, 1:].tolist(), strict=True)
            )
        else:
            miss = miss_at(sizes, undisturbed * factors[:, 0], size)
            low, high = seconds / (1 + miss), seconds * (1 + miss)
        return PhaseTime(phase, seconds, low, high, factor, factor_known)

    def _ratio(
        self,
        groups: Iterable[MeasuredGroup],
        phase: Phase,
        where: Members,
        variables: dict[str, float],
    ) -> float:
        """Return measured / formula at this number of ranks, on the line between neighbours."""
        ratios = []
        for group in groups:
            size = min(max(float(phase.bytes), group.bytes[0]), group.bytes[-1])
            group_variables = {"p": group.ranks, "b": size, "nodes": group.nodes, "ppn": group.ppn}
            values = {name: group_variables[name] for name in variables}
            formula = float(self.model.by_formula(values, where)[0])
            if formula > _NO_TIME:
                measured = time_at(group.sizes, group.seconds, size)
                ratios.append((log2(group.ranks), log(measured / formula)))
        if not ratios:
            return 1.0
        x, y = zip(*ratios, strict=True)
        return float(np.exp(np.interp(log2(max(phase.ranks, 1)), x, y)))

    def _factor(self, phase: Phase, layout: Place | None, size: int) -> Ends | None:
        """Return by how much the groups slow each other down; None if that was not measured."""
        if phase.groups == 1:
            return _ALONE
        return factor_of(
            self.model.kept.get("disturbance", ()),
            phase.group,
            phase.op,
            phase.ranks,
            phase.groups,
            size,
            layout.sharing if layout else 0,
        )


# --- accuracy ------------------------------------------------------------------------------------

# Comparison of predicted and measured times: operations on grids, and their phases.


class Compared(Record):
    """One measured time and its prediction, in seconds.

    Attributes
    ----------
    op, ranks, bytes, grid
        Of the whole operation.
    part
        ``LG``, ``CG`` or ``total``.
    """

    op: str
    ranks: int
    bytes: int
    grid: str
    part: str
    measured: float
    predicted: float


def compare(model: Model, run: Run) -> list[Compared]:
    """Compare all operations of a run with a model: totals, and phases as in a total.

    Phases are measured, and predicted, with all groups at once. Operations missing in the model are
    omitted.

    Raises
    ------
    InputError
        If the run is not of collectives.
    """
    machine = Machine.of_hosts(run.hosts)
    groups = grouped(
        ((point.op, point.ranks, point.bytes, point.grid), point) for point in points(run)
    )
    compared = []
    for (op, ranks, size, grid), of in groups.items():
        if op not in OPERATIONS:
            continue
        try:
            wanted = None if grid == LIBRARY else Grid.parse(grid)
            (time,) = predict(model, op, ranks, [wanted], [size], machine)
        except InputError:  # the model has no such operation, or no time for it
            continue
        several = len(time.phases) > 1
        predicted = [
            (phase_time.phase.group, phase_time.seconds) for phase_time in time.phases if several
        ]
        for phase, seconds in (*predicted, (TOTAL, time.seconds)):
            phase_points = [point for point in of if point.phase == phase]
            max_groups = max((point.groups for point in phase_points), default=0)
            measured = next(
                (point.seconds for point in phase_points if point.groups == max_groups), 0.0
            )
            if measured > 0 and isfinite(seconds):
                compared.append(Compared(op, ranks, size, time.grid, phase, measured, seconds))
    return compared


def summarised(compared: Iterable[Compared]) -> Deviation | None:
    """Return least, average and largest deviation; None if empty."""
    rows = list(compared)
    if not rows:
        return None
    return deviation(
        *np.array([(comparison.predicted, comparison.measured) for comparison in rows]).T
    )
