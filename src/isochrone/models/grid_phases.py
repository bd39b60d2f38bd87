"""What a run of grid collectives says beside what is fitted: each group, and what disturbs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.table import Table
from isochrone.models.disturbance import TOGETHER, Disturbance
from isochrone.models.grid_runs import (
    CG,
    GROUP,
    LG,
    STRIDE,
    TOTAL,
    columns_of,
    grid_samples,
    place_in,
)
from isochrone.models.measured_groups import MeasuredGroup
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times, identity, passes_of, points, times_of

__all__ = ["disturbances", "measured_groups"]

_PHASE: Final = ("op", "phase", "groups", "grid", "phase_op", "phase_p", "phase_bytes")


def measured_groups(run: Run) -> list[MeasuredGroup]:
    """Return what was measured of each group, one for each kind, number of ranks and place."""
    table = Table(columns_of(run))
    names = [n for n in ("op", GROUP, "p", STRIDE, "nodes", "ppn", "bytes") if n in table]
    found: dict[tuple[Any, ...], list[tuple[float, Times]]] = {}
    for key, rows in points(table, names, run.where).items():
        of = dict(key)
        numbers = (int(of.get(name, 0)) for name in ("p", STRIDE, "nodes", "ppn"))
        whose = (str(of["op"]), str(of[GROUP]), *numbers)
        found.setdefault(whose, []).append((float(of["bytes"]), _times(table, rows)))
    return [_group(whose, sorted(times, key=lambda one: one[0])) for whose, times in found.items()]


def _group(whose: tuple[Any, ...], times: list[tuple[float, Times]]) -> MeasuredGroup:
    low, high = (
        [getattr(one, end) if one.has_interval else None for _, one in times]
        for end in ("low", "high")
    )
    sizes, seconds = [size for size, _ in times], [one.median for _, one in times]
    op, kind, ranks, stride, nodes, ppn = whose
    return MeasuredGroup(op, kind, ranks, stride, nodes, ppn, sizes, seconds, low, high)


def disturbances(run: Run) -> list[Disturbance]:
    """Compare phases in all groups at once with one group alone, and totals with their phases."""
    table = grid_samples(run)
    grids: dict[tuple[Any, ...], dict[tuple[str, bool], tuple[int, Times]]] = {}
    for key, rows in points(table, identity(table, run.by), run.where).items():
        of = dict(key)
        parts = grids.setdefault((of["op"], of["grid"], of["bytes"]), {})
        parts[of["phase"], of["groups"] > 1] = (int(rows[0]), _times(table, rows))
    found = []
    for parts in grids.values():
        for phase in (CG, LG):
            if {(phase, False), (phase, True)} <= parts.keys():
                (_, alone), (first, at_once) = parts[phase, False], parts[phase, True]
                row = {name: table[name][first] for name in _PHASE}
                found.append(_disturbance(run, row, alone, at_once))
        found += _together(table, parts)
    return found


def _disturbance(run: Run, row: Mapping[str, Any], alone: Times, at_once: Times) -> Disturbance:
    place = place_in(run, str(row["grid"]), str(row["phase"]), int(row["phase_p"]), at_once=True)
    low, high = _ends(at_once, [alone])
    return Disturbance(
        str(row["op"]), str(row["phase"]), str(row["phase_op"]), int(row["phase_p"]),
        int(row["phase_bytes"]), int(row["groups"]), place.sharing if all(run.hosts) else 0,
        at_once.median / alone.median, low, high,
    )  # fmt: skip


def _together(
    table: Table, parts: Mapping[tuple[str, bool], tuple[int, Times]]
) -> list[Disturbance]:  # fmt: skip
    """Compare a whole operation with the sum of its phases, each in all its groups."""
    phases = [parts.get((phase, True)) or parts.get((phase, False)) for phase in (LG, CG)]
    if (TOTAL, False) not in parts or None in phases:
        return []
    (first, whole), (columns, rows) = parts[TOTAL, False], [one for one in phases if one]
    times = [columns[1], rows[1]]
    low, high = _ends(whole, times)
    op = str(table["op"][first])
    return [Disturbance(
        op, TOGETHER, op, int(table["phase_p"][rows[0]]), int(table["bytes"][first]),
        int(table["phase_p"][columns[0]]), 0, whole.median / sum(one.median for one in times),
        low, high,
    )]  # fmt: skip


def _ends(whole: Times, parts: list[Times]) -> tuple[float | None, float | None]:
    """Return the interval of whole / sum of parts: as wide as those of both allow."""
    if not all(one.has_interval for one in (whole, *parts)):
        return None, None
    return whole.low / sum(one.high for one in parts), whole.high / sum(one.low for one in parts)


def _times(table: Table, rows: NDArray[np.int64]) -> Times:
    return times_of(table["seconds"][rows].astype(np.float64), passes_of(table, rows))
