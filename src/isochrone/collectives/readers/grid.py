"""A run of grid collectives as samples of standard operations.

Such a run holds whole operations, by the library and on grids, and separate phases: in one group
alone and in all groups at once. The library's totals and the phases of one group alone are fitted:
each is an operation of the library in a group of ranks. The slowdown of concurrent groups is a
disturbance, which no formula describes. It is stored next to the formulas, like the measured times
of each group.
"""

from collections.abc import Mapping
from functools import cache
from math import isfinite
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
from isochrone.models.extension import Kept, SampleReader
from isochrone.models.placement import CG, GROUP
from isochrone.runfile.columns import numbers, texts
from isochrone.runfile.grid_groups import Place
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times, counted, identity, passes_of, points, times_of

_STRIDE = "stride"
"""Column of the samples: from a rank of the group to the next; no variable of a model."""

_ALONE = ("phase_op", "phase_p", "phase_bytes")
_PHASE = ("op", *_ALONE, "groups", "grid")


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
    whole = (grid == LIBRARY) & (phase == TOTAL)
    alone = ((phase == LG) | (phase == CG)) & (table["groups"] == 1)
    table, whole = table.where(whole | alone), whole[whole | alone]
    if not len(table):
        raise InputError("the run contains neither library operations nor phases", where=run.where)
    columns = {name: values for name, values in table.columns.items() if name not in _ALONE}
    lacking = np.full(len(table), np.nan, dtype=object)  # in a run without phases
    for name, of_phase in zip(("op", "p", "bytes"), _ALONE, strict=True):
        values = np.where(whole, table[name], table.columns.get(of_phase, lacking))
        if name != "op":
            try:
                values = values.astype(np.float64)
            except (OverflowError, TypeError, ValueError):
                values = np.full(len(values), np.nan)
            if not np.all((values >= 0) & (values < 2**53)):
                what = f"a 'sample' record whose '{name}' is not a whole number"
                raise InputError(what, where=run.where)
        columns[name] = values
    columns[GROUP] = np.where(whole, CG, table["phase"]).astype(object)
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
    for name in ("p", "groups", "bytes"):
        numbers(table, name, run.where)
    for name in ("op", "grid", "phase"):
        texts(table, name, run.where)
    return table


# --- where a group is -----------------------------------------------------------------------------


def _places(run: Run, table: Table) -> dict[str, Array]:
    """Return stride, ``nodes`` and ``ppn`` of each row; without nodes if hosts are not recorded."""
    ranks = np.where(table["phase"] == TOTAL, table["p"], table.columns.get("phase_p", np.nan))
    words, phases = table["grid"].tolist(), table["phase"].tolist()

    @cache
    def place(word: str, phase: str, members: int) -> tuple[int, int, int]:
        found = _place_in(run, word, phase, members)
        return found.stride, *found.filled(members)

    keys = zip(words, phases, ranks.astype(int).tolist(), strict=True)
    rows = np.array([place(*key) for key in keys], dtype=np.float64)
    stride = {_STRIDE: rows[:, 0]}
    if not all(run.hosts) or not np.all(table["p"] == run.size):
        return stride
    return {**stride, "nodes": rows[:, 1], "ppn": rows[:, 2]}


def _place_in(run: Run, word: str, phase: str, members: int, *, at_once: bool = False) -> Place:
    """Return the place of rank 0's group; one node is assumed if not recorded.

    Parameters
    ----------
    word, phase, members
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
    length = whole_number(word.removeprefix("rows-of-")) if word.startswith("rows-of-") else None
    if length is None:
        length = members if phase == CG else -(-run.size // max(1, members))
    length = max(1, length)
    return group_place(word, length, phase, node_of, at_once=at_once)


# --- in addition to fitted samples ----------------------------------------------------------------


def _measured_groups(run: Run, columns: Mapping[str, Array]) -> list[MeasuredGroup]:
    """Return what was measured of each group, one for each kind, number of ranks and place."""
    table = Table(dict(columns))
    names = [n for n in ("op", GROUP, "p", _STRIDE, "nodes", "ppn", "bytes") if n in table]
    found = []
    for key, rows in points(table, names, run.where).items():
        of = dict(key)
        numbers = (int(of.get(name, 0)) for name in ("p", _STRIDE, "nodes", "ppn"))
        whose: tuple[Any, ...] = (str(of["op"]), str(of[GROUP]), *numbers)
        found.append((whose, (float(of["bytes"]), _times(table, rows))))
    groups = []
    for who, sizes in grouped(found).items():
        times = [
            (size, one.median, *((one.low, one.high) if one.has_interval else (None, None)))
            for size, one in sorted(sizes, key=lambda one: one[0])
        ]
        groups.append(MeasuredGroup(*who, *map(list, zip(*times, strict=True))))
    return groups


def _disturbances(run: Run, _: object) -> list[Disturbance]:
    """Compare phases in all groups at once with one group alone, and totals with their phases."""
    table = _grid_samples(run)
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
                op, name, ranks, size, groups, grid = (table[key][first] for key in _PHASE)
                place = _place_in(run, str(grid), phase, int(ranks), at_once=True)
                found.append(Disturbance(
                    str(op), phase, str(name), int(ranks), int(size), int(groups),
                    place.sharing if all(run.hosts) else 0, at_once.median / alone.median,
                    *_ends(at_once, [alone]),
                ))  # fmt: skip
        found += _together(table, parts)
    return found


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
        op, TOTAL, op, int(table["phase_p"][rows[0]]), int(table["bytes"][first]),
        int(table["phase_p"][columns[0]]), 0, whole.median / sum(one.median for one in times),
        low, high,
    )]  # fmt: skip


def _ends(whole: Times, parts: list[Times]) -> tuple[float | None, float | None]:
    """Return the interval of whole / sum of parts: as wide as those of both allow."""
    if not all(one.has_interval for one in (whole, *parts)):
        return None, None
    return whole.low / sum(one.high for one in parts), whole.high / sum(one.low for one in parts)


def _times(table: Table, rows: Ints) -> Times:
    return times_of(table["seconds"][rows].astype(np.float64), passes_of(table, rows))


def _wrong_disturbance(one: Disturbance) -> str:
    ends = [end for end in (one.low, one.factor, one.high) if end is not None]
    known = all(isfinite(end) and end > 0 for end in ends)
    return "" if known and min(one.phase_ranks, one.groups) >= 1 else (
        "a factor that is not above zero"
    )  # fmt: skip


def _wrong_group(one: MeasuredGroup) -> str:
    lists = (one.seconds, one.low, one.high)
    if not one.bytes or any(len(values) != len(one.bytes) for values in lists):
        return "not exactly one time for each size"
    rising = one.bytes == sorted(set(one.bytes)) and one.bytes[0] >= 0
    if not rising or min(one.ranks, one.stride) < 1:
        return "sizes that are not in ascending order"
    known = all(isfinite(t) and t > 0 for t in one.seconds)
    return "" if known else "a time that is not above zero"


READER = SampleReader(
    {
        "disturbance": Kept(Disturbance, _disturbances, _wrong_disturbance, "phase_op"),
        "groups": Kept(MeasuredGroup, _measured_groups, _wrong_group, merged=merged),
    },
    by=("op", "p", "grid", "phase", "groups"), columns=_columns_of, selectors=(GROUP,),
    others=("algorithm",),
)  # fmt: skip
