"""A run of grid collectives as samples of standard operations.

Such a run holds whole operations, by the library and on grids, and separate phases: in one group
alone and in all groups at once. The library's totals and the phases of one group alone are fitted:
each is an operation of the library in a group of ranks. The slowdown of concurrent groups is a
disturbance, which no formula describes. It is stored next to the formulas, like the measured times
of each group.
"""

from collections.abc import Mapping
from functools import cache
from math import isnan
from typing import Any

import numpy as np

from isochrone.base.arrays import Array, Ints
from isochrone.base.errors import InputError
from isochrone.base.table import Table, grouped
from isochrone.base.text import printable, whole_number
from isochrone.collectives.grid_collectives import LIBRARY
from isochrone.collectives.measured import (
    LG,
    TOTAL,
    Disturbance,
    MeasuredGroup,
    group_place,
    merged,
)
from isochrone.collectives.results.grid_collectives import disturbances as disturbed
from isochrone.collectives.results.grid_collectives import parts
from isochrone.collectives.results.grid_collectives import points as grid_points
from isochrone.models.data.extension import Kept, SampleReader
from isochrone.models.data.placement import CG, GROUP
from isochrone.runfile.grid_groups import Place
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times, counted, identity, passes_of, points, times_of

_STRIDE = "stride"
"""Column of the samples: from a rank of the group to the next; no variable of a model."""

_ALONE = ("phase_op", "phase_p", "phase_bytes")


def _columns_of(run: Run) -> dict[str, Array]:
    """Return the samples to fit, as columns: ``op``, ``p``, ``bytes``, ``group``, and the nodes.

    Raises
    ------
    InputError
        If the samples are not those of a run of grid collectives, or none can be fitted.
    """
    table = _grid_samples(run)
    table = counted(table, identity(table, run.by), run.where)
    grid, phase = table["grid"], table["phase"]
    is_total = (grid == LIBRARY) & (phase == TOTAL)
    single_group = ((phase == LG) | (phase == CG)) & (table["groups"] == 1)
    table, is_total = table.where(is_total | single_group), is_total[is_total | single_group]
    if not len(table):
        raise InputError("the run contains neither library operations nor phases", where=run.where)
    columns = {name: values for name, values in table.columns.items() if name not in _ALONE}
    lacking = np.full(len(table), np.nan, dtype=object)  # in a run without phases
    for name, of_phase in zip(("op", "p", "bytes"), _ALONE, strict=True):
        values = np.where(is_total, table[name], table.columns.get(of_phase, lacking))
        if name != "op":
            try:
                values = values.astype(np.float64)
            except (OverflowError, TypeError, ValueError):
                values = np.full(len(values), np.nan)
            if not np.all((values >= 0) & (values < 2**53)):
                message = f"a 'sample' record whose '{name}' is not a whole number"
                raise InputError(message, where=run.where)
        columns[name] = values
    columns[GROUP] = np.where(is_total, CG, table["phase"]).astype(object)
    for name in ("grid", "phase", "groups"):
        del columns[name]
    forced = printable(run.notes.get("algorithm", ""), 200)
    return columns | {"algorithm": np.full(len(table), forced)} | _places(run, table)


def _grid_samples(run: Run) -> Table:
    """Return the samples of a run of grid collectives.

    Raises
    ------
    InputError
        If the grid of the samples is unknown.
    """
    table = run.tables["sample"]
    for name in ("op", "p", "grid", "phase", "groups", "bytes"):
        if name not in table:
            raise InputError(f"the samples have no '{name}'", where=run.where)
    return table


# --- where a group is -----------------------------------------------------------------------------


def _places(run: Run, table: Table) -> dict[str, Array]:
    """Return stride, ``nodes`` and ``ppn`` of each row; without nodes if hosts are not recorded."""
    ranks = np.where(table["phase"] == TOTAL, table["p"], table.columns.get("phase_p", np.nan))
    grids, phases = table["grid"].tolist(), table["phase"].tolist()

    @cache
    def place(grid: str, phase: str, members: int) -> tuple[int, int, int]:
        layout = _place_in(run, grid, phase, members)
        return layout.stride, *layout.filled(members)

    keys = zip(grids, phases, ranks.astype(int).tolist(), strict=True)
    rows = np.array([place(*key) for key in keys], dtype=np.float64)
    stride = {_STRIDE: rows[:, 0]}
    if not all(run.hosts) or not np.all(table["p"] == run.size):
        return stride
    return {**stride, "nodes": rows[:, 1], "ppn": rows[:, 2]}


def _place_in(run: Run, grid: str, phase: str, members: int, *, at_once: bool = False) -> Place:
    """Return the place of rank 0's group; one node is assumed if not recorded.

    Parameters
    ----------
    grid, phase, members
        The grid, ``LG``, ``CG`` or ``total``, and the ranks of one group.
    at_once
        Whether all groups work, and share nodes.
    """
    node_of = np.zeros(run.size, np.int64)
    if all(run.hosts):
        node_of = np.unique(run.hosts, return_inverse=True)[1]
    if phase == TOTAL:
        return group_place("", run.size, CG, node_of, at_once=True)
    # length of a row, derived from the members of a group
    length = whole_number(grid.removeprefix("rows-of-")) if grid.startswith("rows-of-") else None
    if length is None:
        length = members if phase == CG else -(-run.size // max(1, members))
    length = max(1, length)
    return group_place(grid, length, phase, node_of, at_once=at_once)


# --- in addition to fitted samples ----------------------------------------------------------------


def _measured_groups(run: Run, columns: Mapping[str, Array]) -> list[MeasuredGroup]:
    """Return what was measured of each group, one for each kind, number of ranks and place."""
    table = Table(dict(columns))
    names = [n for n in ("op", GROUP, "p", _STRIDE, "nodes", "ppn", "bytes") if n in table]
    measured = []
    for key, rows in points(table, names, run.where).items():
        of = dict(key)
        numbers = (int(of.get(name, 0)) for name in ("p", _STRIDE, "nodes", "ppn"))
        whose: tuple[Any, ...] = (str(of["op"]), str(of[GROUP]), *numbers)
        measured.append((whose, (float(of["bytes"]), _times(table, rows))))
    groups = []
    for group_key, sizes in grouped(measured).items():
        times = [
            (
                size,
                timing.median,
                *((timing.low, timing.high) if timing.has_interval else (None, None)),
            )
            for size, timing in sorted(sizes, key=lambda pair: pair[0])
        ]
        groups.append(MeasuredGroup(*group_key, *map(list, zip(*times, strict=True))))
    return groups


def _disturbances(run: Run, _: object) -> list[Disturbance]:
    """Compare phases in all groups at once with one group alone, and totals with their phases."""
    measured = grid_points(run)
    disturbances = []
    for at_once in disturbed(run, measured):
        layout = _place_in(run, at_once.grid, at_once.phase, at_once.phase_ranks, at_once=True)
        disturbances.append(
            Disturbance(
                at_once.op,
                at_once.phase,
                at_once.phase_op,
                at_once.phase_ranks,
                at_once.phase_bytes,
                at_once.groups,
                layout.sharing if all(run.hosts) else 0,
                at_once.factor,
                *_known(at_once.low, at_once.high),
            )
        )
    for whole in parts(measured):
        columns, rows = (phase.phase_ranks or 0 for phase in whole.phases)
        op, size = whole.total.op, whole.total.bytes
        ends = _known(1 / whole.high, 1 / whole.low)
        disturbances.append(
            Disturbance(op, TOTAL, op, rows, size, columns, 0, 1 / whole.ratio, *ends)
        )
    return disturbances


def _known(*ends: float) -> list[float | None]:
    return [None if isnan(end) else end for end in ends]


def _times(table: Table, rows: Ints) -> Times:
    return times_of(table["seconds"][rows].astype(np.float64), passes_of(table, rows))


READER = SampleReader(
    {
        "disturbance": Kept(Disturbance, _disturbances, "phase_op"),
        "groups": Kept(MeasuredGroup, _measured_groups, merged=merged),
    },
    by=("op", "p", "grid", "phase", "groups"),
    columns=_columns_of,
    selectors=(GROUP,),
    others=("algorithm",),
)
