"""Output of other programs and tables of the user, accepted in place of run files."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isochrone.base.arrays import Bools, Ints
from isochrone.base.errors import InputError
from isochrone.base.files import sha256, written_name
from isochrone.base.table import Table
from isochrone.base.text import printable
from isochrone.console.options import add_option, experts_only, read_count
from isochrone.formats.source import MAX_RANKS
from isochrone.models.observations import Samples
from isochrone.models.tables import AS_NAMED, Columns, read_csv
from isochrone.runfile.any_file import foreign, read
from isochrone.runfile.file_type import looks_like_a_run, looks_like_a_table
from isochrone.runfile.run import Run


@dataclass(frozen=True)
class Reading:
    """How files are read that are no run files.

    Attributes
    ----------
    columns
        What the columns of tables are.
    ranks
        Number of ranks, for output of other programs without it; None if not given.
    """

    columns: Columns = AS_NAMED
    ranks: int | None = None

    @classmethod
    def of(cls, args: argparse.Namespace) -> Reading:
        """Return the values of the options."""
        return cls(
            replace(args.map_columns or AS_NAMED, decimal=args.decimal or ""), args.rank_count
        )

    def measured(self, path: Path) -> Run | Path:
        """Return the run in output of another program; else the file itself, which `fit` reads."""
        return read(path, self.ranks) if not self._is_table(path) and foreign(path) else path

    def runs(self, path: Path) -> list[Run]:
        """Return the runs in a file: one, or the launches in a table."""
        if self._is_table(path):
            return runs_of_table(path, self.columns)
        return [read(path, self.ranks)]

    def _is_table(self, path: Path) -> bool:
        """Whether it is a table of times, which has the columns that were named or `seconds`."""
        if not path.is_file():
            return False
        if looks_like_a_table(path):
            return True
        named = bool(self.columns.meaning)
        return named and foreign(path) in ("", "csv") and not looks_like_a_run(path)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the group of options for output of other programs."""
    group = parser.add_argument_group("tables")
    add_option(group, "--map-columns", "COLUMN=VARIABLE[:UNIT],…", Columns.parse,
        "map columns to variables: size=b (size is in bytes), usec=seconds:us (usec is a time in "
        "µs), see docs/fitting.md (default: by their names)")  # fmt: skip
    decimal = group.add_argument(
        "--decimal", choices=["comma", "point"],
        help="decimal sign of a table (default: recognised; needed if 1,024 is ambiguous)",
    )  # fmt: skip
    experts_only(decimal)
    add_option(group, "--ranks", "N", read_count,
        "number of ranks (default: from the file; output of OSU collectives lacks it)",
        dest="rank_count")  # fmt: skip


AS_IT_IS = Reading()
"""Run files, complete output of other programs, and tables with the usual column names."""


_VARIABLES = {"b", "p"}
_SELECTORS = {"op", "mode"}
_APART = ("i", "j", "pairs", "root", "grid", "phase", "groups")
"""Columns of `export --to csv` that identify curves."""

_UNSAID = "table"
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
            f"the table has {what}, and cannot be compared", where=path,
            hint="use columns b and seconds, optionally op, p and launch",
        )  # fmt: skip
    several = [name for name in _APART if len(set(data.others.get(name, ()))) > 1]
    if several:
        raise InputError(
            f"rows that differ only in '{several[0]}' would count as repetitions",
            where=path, hint="write a table for each value, or compare the original run files",
        )  # fmt: skip
    imported = {"format": "table", "path": written_name(path), "sha256": sha256(path)}
    starts = np.unique(data.start)
    return [_run(data, data.start == start, path, dict(imported)) for start in starts]


def _run(data: Samples, mine: Bools, path: Path, imported: dict[str, str]) -> Run:
    rows = data.rows(mine)
    count = len(rows.seconds)
    ops = rows.selectors.get("op", rows.selectors.get("mode", np.full(count, _UNSAID)))
    p = rows.variables.get("p", np.full(count, 2)).astype(np.int64)
    if p.max() > MAX_RANKS:
        raise InputError(f"{p.max()} ranks exceed the limit of {MAX_RANKS}", where=path)
    header = {
        "experiment": "table", "kind": "sweep", "by": ["op", "p"], "ranks": int(p.max()),
        "options": {}, "mpi": {}, "clock": {},
        "imported": imported,
    }  # fmt: skip
    columns = {
        "op": np.array([str(op) for op in ops.tolist()]), "p": p,
        "bytes": rows.variables["b"].astype(np.int64), "seconds": rows.seconds,
        "repeat": _repeats(rows),
    }  # fmt: skip
    return Run(header=header, tables={"sample": Table(columns)}, end={"complete": True}, path=path)


def _repeats(rows: Samples) -> Ints:
    """Count the repetitions of each point in the order of the table."""
    points = rows.points()
    order = np.argsort(points, kind="stable")
    first = np.searchsorted(points[order], points[order])
    repeats = np.empty(len(points), dtype=np.int64)
    repeats[order] = np.arange(len(points)) - first
    return repeats
