"""Results that other programs measured, and tables of one's own, where a run file may stand."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.console.options import read_count
from isochrone.formats.table_of_times import runs_of_table
from isochrone.models.load import looks_like_a_run, looks_like_a_table
from isochrone.models.tables import AS_NAMED, Columns
from isochrone.runfile.any_file import foreign, read
from isochrone.runfile.run import Run

__all__ = ["AS_IT_IS", "Reading", "add_reading"]


@dataclass(frozen=True)
class Reading:
    """How files are read that are no run files.

    Attributes
    ----------
    columns
        What the columns of tables are.
    ranks
        Number of ranks, for output of other programs that does not say it; None if not given.
    """

    columns: Columns = AS_NAMED
    ranks: int | None = None

    @classmethod
    def of(cls, args: argparse.Namespace) -> Reading:
        """Return what the options say."""
        return cls(replace(args.columns or AS_NAMED, decimal=args.decimal or ""), args.rank_count)

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
    """Add the options for results of other programs, as a group of their own."""
    group = parser.add_argument_group("results of other programs and tables of your own")
    group.add_argument(
        "--columns", type=_columns, metavar="NAME=VARIABLE[:UNIT],…",
        help="what the columns of a table are, e.g. size=b,usec=seconds:us; separated by commas, "
        "semicolons or tabs; with the latter two, decimals may have commas",
    )  # fmt: skip
    group.add_argument(
        "--decimal", choices=["comma", "point"],
        help="what decimals of a table have, where that may be taken for thousands: 1,024",
    )  # fmt: skip
    group.add_argument(
        "--ranks", dest="rank_count", type=read_count, metavar="N",
        help="number of ranks, for output that does not contain it (OSU collectives)",
    )  # fmt: skip


def _columns(text: str) -> Columns:
    try:
        return Columns.parse(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(
            f"{error.what} ({error.hint})" if error.hint else error.what
        ) from error


AS_IT_IS = Reading()
"""Run files, output of other programs that says all, and tables whose columns are named so."""
