"""Somebody's own table of times as runs, so that it can be compared like what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.files import sha256, written_name
from isochrone.base.table import Table
from isochrone.base.text import printable
from isochrone.formats.source import MAX_RANKS
from isochrone.models.observations import Samples
from isochrone.models.tables import AS_NAMED, Columns, read_csv
from isochrone.runfile.run import Run

__all__ = ["runs_of_table"]

_VARIABLES: Final = {"b", "p"}
_SELECTORS: Final = {"op", "mode"}
_APART: Final = ("i", "j", "pairs", "root", "grid", "phase", "groups")
"""Columns of `export --to csv` that tell curves apart."""

_UNSAID: Final = "table"
"""The operation of a table that names none."""


def runs_of_table(path: Path, own: Columns = AS_NAMED) -> list[Run]:
    """Read a table of times as launches of one measurement.

    Parameters
    ----------
    path
        A CSV with the columns ``seconds`` and ``b``, and perhaps ``op``, ``p`` and ``launch``.
    own
        What its columns are.

    Returns
    -------
    list of Run
        One for each value of ``launch``, in their order; one if there is no such column.

    Raises
    ------
    InputError
        If it cannot be read, or has variables that no sweep has.
    """
    data = read_csv(path, own)
    more = sorted((data.variables.keys() - _VARIABLES) | (data.selectors.keys() - _SELECTORS))
    if more or "b" not in data.variables:
        what = f"columns such as '{printable(more[0], 40)}'" if more else "no column 'b'"
        raise InputError(
            f"it has {what}, and cannot be compared", where=str(path),
            hint="tables that can have the columns b and seconds, and perhaps op, p and launch",
        )  # fmt: skip
    several = [name for name in _APART if len(set(data.others.get(name, ()))) > 1]
    if several:
        raise InputError(
            f"it has several values of '{several[0]}', which would be taken for repetitions",
            where=str(path), hint="compare the run files, or a table of each",
        )  # fmt: skip
    imported = {"format": "table", "path": written_name(path), "sha256": sha256(path)}
    starts = np.unique(data.start)
    return [_run(data, data.start == start, path, dict(imported)) for start in starts]


def _run(data: Samples, mine: NDArray[np.bool_], path: Path, imported: dict[str, str]) -> Run:
    rows = data.rows(mine)
    count = len(rows.seconds)
    ops = rows.selectors.get("op", rows.selectors.get("mode", np.full(count, _UNSAID)))
    p = rows.variables.get("p", np.full(count, 2)).astype(np.int64)
    if p.max() > MAX_RANKS:
        raise InputError(f"{p.max()} ranks, more than {MAX_RANKS}", where=str(path))
    header: dict[str, Any] = {
        "experiment": "table", "kind": "sweep", "by": ["op", "p"], "ranks": int(p.max()),
        "options": {}, "mpi": {}, "clock": {},
        "imported": imported,
    }  # fmt: skip
    columns: dict[str, NDArray[Any]] = {
        "op": np.array([str(op) for op in ops.tolist()]), "p": p,
        "bytes": rows.variables["b"].astype(np.int64), "seconds": rows.seconds,
        "repeat": _repeats(rows),
    }  # fmt: skip
    return Run(header=header, tables={"sample": Table(columns)}, end={"complete": True}, path=path)


def _repeats(rows: Samples) -> NDArray[np.int64]:
    """Count the repetitions of each point in the order of the table."""
    points = rows.points()
    order = np.argsort(points, kind="stable")
    first = np.searchsorted(points[order], points[order])
    repeats = np.empty(len(points), dtype=np.int64)
    repeats[order] = np.arange(len(points)) - first
    return repeats
