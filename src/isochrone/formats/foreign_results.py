"""Output of other programs and tables of the user, accepted in place of run files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isochrone.base.arrays import Bools, Ints
from isochrone.base.errors import InputError
from isochrone.base.files import sha256, written_name
from isochrone.base.table import Table
from isochrone.base.text import printable, warn
from isochrone.console.input import add_tests
from isochrone.console.options import add_option, experts_only
from isochrone.formats.given_ranks import FROM_NAME, Given, ranks_of, read_given
from isochrone.formats.source import MAX_FILE_RANKS, NoRanksError
from isochrone.models.data.columns import AS_NAMED, Columns
from isochrone.models.data.load import samples_in
from isochrone.models.data.observations import Samples
from isochrone.models.data.tables import read_csv
from isochrone.runfile.any_file import foreign, read_all
from isochrone.runfile.file_type import looks_like_a_run, looks_like_a_table
from isochrone.runfile.importer import Wanted
from isochrone.runfile.run import Run


@dataclass(frozen=True)
class Reading:
    """How files are read that are no run files.

    Attributes
    ----------
    columns
        What the columns of tables are.
    ranks
        Numbers of ranks, for files without it; None if not given.
    tests
        Names of the wanted tests of logs; all if empty.
    ops
        Wanted operations of logs; all if empty.
    """

    columns: Columns = AS_NAMED
    ranks: Given | None = None
    tests: Sequence[str] = ()
    ops: Sequence[str] = ()

    @classmethod
    def of(cls, args: argparse.Namespace) -> Reading:
        """Return the values of the options."""
        return cls(
            replace(args.map_columns or AS_NAMED, decimal=args.decimal or ""),
            args.rank_count,
            args.tests,
            args.op if isinstance(args.op, list) else (),
        )

    def measured(self, paths: Sequence[Path]) -> list[Run | Samples]:
        """Return what is in files; those without the number of ranks get it as given.

        A table without ranks is one of messages, unless numbers of ranks are given. Numbers that
        are taken from names are printed.

        Raises
        ------
        InputError
            If one cannot be read, or it is not clear how many ranks it had.
        """
        items = [self._measured(path) for path in paths]
        lacking = [
            k
            for k, item in enumerate(items)
            if not item or (self.ranks and isinstance(item, Samples) and lacks_ranks(item))
        ]
        numbers = ranks_of([paths[k] for k in lacking], self.ranks) if lacking else []
        if self.ranks == FROM_NAME and numbers:
            texts = (f"{paths[k].name} = {n} ranks" for k, n in zip(lacking, numbers, strict=True))
            warn(f"read: {', '.join(texts)}")
        for k, ranks in zip(lacking, numbers, strict=True):
            item = items[k]
            items[k] = (
                with_ranks(item, ranks)
                if isinstance(item, Samples)
                else self._read(paths[k], ranks, launches=False)
            )
        return [one for item in items for one in ([item] if isinstance(item, Samples) else item)]

    def _measured(self, path: Path) -> list[Run] | Samples:
        """Return what is in a file; nothing of output of another program that lacks the ranks."""
        if self._is_table(path) or not (foreign(path) or looks_like_a_run(path)):
            return samples_in(path, self.columns)
        try:
            return self._read(path, None, launches=False)
        except NoRanksError:
            return []

    def _read(self, path: Path, ranks: int | None, *, launches: bool) -> list[Run]:
        return read_all(path, Wanted(self.tests, self.ops, ranks, launches))

    def runs(self, path: Path) -> list[Run]:
        """Return the runs in a file: one, the launches in a table, or all of a log."""
        if self._is_table(path):
            return runs_of_table(path, self.columns)
        try:
            return self._read(path, None, launches=True)
        except NoRanksError:
            return self._read(path, ranks_of([path], self.ranks)[0], launches=True)

    def _is_table(self, path: Path) -> bool:
        """Whether it is a table of times, which has the columns that were named or `seconds`."""
        if not path.is_file():
            return False
        if looks_like_a_table(path):
            return True
        named = bool(self.columns.meaning)
        return named and foreign(path) in ("", "csv") and not looks_like_a_run(path)


def add_reading(parser: argparse.ArgumentParser, *, op: bool) -> None:
    """Add the group of options for output of other programs; ``op`` says whether with ``--op``."""
    group = parser.add_argument_group("tables")
    add_option(
        group,
        "--map-columns",
        "COLUMN=VARIABLE[:UNIT],…",
        Columns.parse,
        "map columns to variables: size=b (size is in bytes), usec=seconds:us (usec is a time in "
        "µs), see docs/fitting.md (default: by their names)",
    )
    decimal = group.add_argument(
        "--decimal",
        choices=["comma", "point"],
        help="decimal sign of a table (default: recognised; needed if 1,024 is ambiguous)",
    )
    experts_only(decimal)
    add_option(
        group,
        "--ranks",
        "N,…|from-name",
        read_given,
        "number of ranks of each file without it, such as those of OSU; from-name: as in names "
        "such as bcast_8.txt (default: from the file)",
        dest="rank_count",
    )
    add_tests(group, op=op, ranks=False)


AS_IT_IS = Reading()
"""Run files, complete output of other programs, and tables with the usual column names."""


_VARIABLES = {"b", "p"}
_SELECTORS = {"op", "mode"}
_APART = ("i", "j", "pairs", "root", "grid", "phase", "groups")
"""Columns of `export --to csv` that identify curves."""

_UNSAID = "table"
"""The operation of a table that names none."""


def runs_of_table(path: Path, columns: Columns = AS_NAMED) -> list[Run]:
    """Read a table of times as launches of one measurement.

    Parameters
    ----------
    path
        A CSV with the columns ``seconds`` and ``b``, and perhaps ``op``, ``p`` and ``launch``.
    columns
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
    data = read_csv(path, columns)
    unexpected = sorted((data.variables.keys() - _VARIABLES) | (data.selectors.keys() - _SELECTORS))
    if unexpected or "b" not in data.variables:
        problem = (
            f"columns such as '{printable(unexpected[0], 40)}'" if unexpected else "no column 'b'"
        )
        raise InputError(
            f"the table has {problem}, and cannot be compared",
            where=path,
            hint="use columns b and seconds, optionally op, p and launch",
        )
    several = [name for name in _APART if len(set(data.others.get(name, ()))) > 1]
    if several:
        raise InputError(
            f"rows that differ only in '{several[0]}' would count as repetitions",
            where=path,
            hint="write a table for each value, or compare the original run files",
        )
    imported = {"format": "table", "path": written_name(path), "sha256": sha256(path)}
    if data.read_as:
        imported["read_as"] = data.read_as[0]
    starts = np.unique(data.start)
    return [_run(data, data.start == start, path, dict(imported)) for start in starts]


def lacks_ranks(data: Samples) -> bool:
    """Whether nothing says how many ranks took part: the size is the only variable."""
    return data.variables.keys() == {"b"} and "mode" not in data.selectors


def with_ranks(data: Samples, ranks: int) -> Samples:
    """Return the same data as of so many ranks."""
    return replace(data, variables=data.variables | {"p": np.full(len(data.seconds), float(ranks))})


def _run(data: Samples, mine: Bools, path: Path, imported: dict[str, str]) -> Run:
    rows = data.rows(mine)
    count = len(rows.seconds)
    ops = rows.selectors.get("op", rows.selectors.get("mode", np.full(count, _UNSAID)))
    p = rows.variables.get("p", np.full(count, 2)).astype(np.int64)
    if p.max() > MAX_FILE_RANKS:
        raise InputError(f"{p.max()} ranks exceed the limit of {MAX_FILE_RANKS}", where=path)
    header = {
        "experiment": "table",
        "kind": "sweep",
        "by": ["op", "p"],
        "ranks": int(p.max()),
        "options": {},
        "mpi": {},
        "clock": {},
        "imported": imported,
    }
    columns = {
        "op": np.array([str(op) for op in ops.tolist()]),
        "p": p,
        "bytes": rows.variables["b"].astype(np.int64),
        "seconds": rows.seconds,
        "repeat": _repeats(rows),
    }
    return Run(header=header, tables={"sample": Table(columns)}, end={"complete": True}, path=path)


def _repeats(rows: Samples) -> Ints:
    """Count the repetitions of each point in the order of the table."""
    points = rows.points()
    order = np.argsort(points, kind="stable")
    first = np.searchsorted(points[order], points[order])
    repeats = np.empty(len(points), dtype=np.int64)
    repeats[order] = np.arange(len(points)) - first
    return repeats
