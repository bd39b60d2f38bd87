"""A run of grid collectives as samples of standard operations.

Such a run holds whole operations, by the library and on grids, and the phases of the grids apart:
in one group alone and in all groups at once. Fitted are the library's own totals and the phases of
one group alone: each is an operation of the library in a group of ranks. What all groups at once
take longer is a disturbance, and no formula holds it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.base.text import whole_number
from isochrone.runfile.columns import numbers, texts
from isochrone.runfile.grid_groups import Place, arranged, place_of
from isochrone.runfile.run import Run
from isochrone.runfile.samples import counted, identity

__all__ = [
    "CG", "GROUP", "LG", "STRIDE", "TOTAL", "columns_of", "grid_samples", "is_grid_run", "place_in",
]  # fmt: skip

GROUP: Final = "group"
"""Selector of models of grid runs: formulas of rows and formulas of columns are kept apart."""

STRIDE: Final = "stride"
"""Column of the samples: from a rank of the group to the next; no variable of a model."""

CG: Final = "CG"
LG: Final = "LG"

_LIBRARY: Final = "library"
TOTAL: Final = "total"
_ALONE: Final = ("phase_op", "phase_p", "phase_bytes")


def is_grid_run(run: Run) -> bool:
    """Whether a run says which grid each sample is of."""
    return {"op", "p", "grid", "phase", "groups"} <= set(run.by)


def columns_of(run: Run) -> dict[str, NDArray[Any]]:
    """Return the samples to fit, as columns: ``op``, ``p``, ``bytes``, ``group``, and the nodes.

    Raises
    ------
    InputError
        If the samples are not those of a run of grid collectives, or none can be fitted.
    """
    table = grid_samples(run)
    table = counted(table, identity(table, run.by), run.where)
    grid, phase = table["grid"], table["phase"]
    whole = (grid == _LIBRARY) & (phase == TOTAL)
    alone = ((phase == LG) | (phase == CG)) & (table["groups"] == 1)
    table, whole = table.where(whole | alone), whole[whole | alone]
    if not len(table):
        raise InputError("the run holds neither the library's own nor phases", where=run.where)
    columns = {name: values for name, values in table.columns.items() if name not in _ALONE}
    for name, of_phase in zip(("op", "p", "bytes"), _ALONE, strict=True):
        values = np.where(whole, table[name], _column(table, of_phase))
        columns[name] = values if name == "op" else _counts(values, name, run.where)
    columns[GROUP] = np.where(whole, CG, table["phase"]).astype(object)
    for name in ("grid", "phase", "groups"):
        del columns[name]
    return columns | _places(run, table)


def grid_samples(run: Run) -> Table:
    """Return the samples of a run of grid collectives.

    Raises
    ------
    InputError
        If there are none, or they do not say which grid they are of.
    """
    table = run.tables.get("sample")
    if table is None or not len(table) or "seconds" not in table:
        raise InputError("the run holds no samples", where=run.where)
    for name in ("op", "p", "grid", "phase", "groups", "bytes"):
        if name not in table:
            raise InputError(f"the samples do not say their '{name}'", where=run.where)
    for name in ("p", "groups", "bytes"):
        numbers(table, name, run.where)
    for name in ("op", "grid", "phase"):
        texts(table, name, run.where)
    return table


def _counts(values: NDArray[Any], name: str, where: str) -> NDArray[np.float64]:
    """Return whole numbers that a float holds."""
    try:
        found = values.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        found = np.full(len(values), np.nan)
    if not np.all((found >= 0) & (found < 2**53)):
        raise InputError(f"a 'sample' record whose '{name}' is not a whole number", where=where)
    return found


def _column(table: Table, name: str) -> NDArray[Any]:
    """Return a column that a run without phases lacks."""
    return table[name] if name in table else np.full(len(table), np.nan, dtype=object)


# --- where a group is -----------------------------------------------------------------------------


def _places(run: Run, table: Table) -> dict[str, NDArray[Any]]:
    """Return stride, ``nodes`` and ``ppn`` of each row; without nodes if hosts are not recorded."""
    ranks = np.where(table["phase"] == TOTAL, table["p"], _column(table, "phase_p"))
    words, phases = table["grid"].tolist(), table["phase"].tolist()
    keys = list(zip(words, phases, ranks.astype(int).tolist(), strict=True))
    known: dict[tuple[str, str, int], tuple[int, int, int]] = {}
    for key in dict.fromkeys(keys):
        place = place_in(run, *key)
        known[key] = (place.stride, *place.filled(key[2]))
    rows = np.array([known[key] for key in keys], dtype=np.float64)
    stride = {STRIDE: rows[:, 0]}
    if not all(run.hosts) or not np.all(table["p"] == run.size):
        return stride
    return {**stride, "nodes": rows[:, 1], "ppn": rows[:, 2]}


def place_in(
    run: Run, word: str, phase: str, members: int, *, at_once: bool = False
) -> Place:  # fmt: skip
    """Say where the group of rank 0 is; as if all ranks were on one node if that is not recorded.

    Parameters
    ----------
    word, phase, members
        The grid, ``LG``, ``CG`` or ``total``, and the ranks of one group.
    at_once
        Whether all groups work, and share nodes.
    """
    numbers = {host: k for k, host in enumerate(dict.fromkeys(run.hosts))}
    node_of = np.array([numbers[host] for host in run.hosts])
    if not all(run.hosts):
        node_of = np.zeros_like(node_of)
    if phase == TOTAL:
        everyone = np.zeros(len(node_of), dtype=np.int64)
        return place_of(np.arange(len(node_of)), everyone, node_of)
    row, column = arranged(word, _length(word, phase, members, len(node_of)), node_of)
    groups = row if phase == CG else column
    own = np.flatnonzero(groups == groups[0])
    return place_of(own, groups if at_once else np.where(groups == groups[0], 0, -1), node_of)


def _length(word: str, phase: str, members: int, ranks: int) -> int:
    """Return the ranks of a row, as far as the members of a group say them."""
    length = whole_number(word.removeprefix("rows-of-"))
    if word.startswith("rows-of-") and length is not None:
        return max(1, length)
    return members if phase == CG else max(1, -(-ranks // max(1, members)))
