"""What an import format is: which kind of result a file of it holds, and how it is read.

`isochrone.formats.importers` holds the formats, one per file; each file ends in its `Importer`.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from isochrone.base import registry
from isochrone.base.record import Record
from isochrone.runfile.rules import check
from isochrone.runfile.run import Run


class Wanted(Record):
    """Which results of a file with several are wanted.

    Attributes
    ----------
    tests
        Names of tests, such as ``osu_latency`` or ``PingPong``; all if empty.
    ops
        Operations; also those of tables that name none.
    ranks
        Number of ranks of tables that do not contain it; if all do, those with so many are wanted,
        if there are any.
    launches
        Whether repeated tables of a test are runs of their own, and not repetitions in one run.
    formats
        Names of formats; all if empty.
    """

    tests: Sequence[str] = ()
    ops: Sequence[str] = ()
    ranks: int | None = None
    launches: bool = False
    formats: Sequence[str] = ()


class Importer(Record):
    """A format of another program.

    Attributes
    ----------
    holds
        Kind of result in it: ``latency-map`` or ``sweep``.
    read
        Reads the file at a path; raises `InputError` if it is none of this format, or contradicts
        itself.
    takes_ranks
        Whether ``read`` also takes ``ranks``, which files of the format may lack.
    says
        What a file of the format is, for errors.
    signature
        What only files of this format have, somewhere in their text; None if it has nothing such.
    recognises
        Of a file without any signature, whether it is of this format: takes its beginning, and
        whether that is the whole file.
    tables
        Of formats whose tables may stand in a log, between other text: the class that finds and
        reads them, see `isochrone.formats.log`.
    runs
        Of such formats: reads all tables of a log, also those of other formats.
    """

    holds: str
    read: Callable[..., Run]
    takes_ranks: bool = False
    says: str = ""
    signature: re.Pattern[bytes] | None = None
    recognises: Callable[[bytes, bool], bool] | None = None
    tables: Any = None
    runs: Callable[[Path, Wanted], list[Run]] | None = None

    def run(self, path: Path, ranks: int | None = None) -> Run:
        """Read a file, and apply the rules of run files to what it holds.

        Raises
        ------
        InputError
            As of ``read``, and if a run file with these values would be refused.
        """
        imported: Run = self.read(path, ranks) if self.takes_ranks else self.read(path)
        return _checked(imported, path)

    def all_runs(self, path: Path, wanted: Wanted) -> list[Run]:
        """Read all runs of a file that are wanted; errors as of `run`."""
        if self.runs is None:
            return [self.run(path, wanted.ranks if self.takes_ranks else None)]
        return [_checked(found, path) for found in self.runs(path, wanted)]


def _checked(found: Run, path: Path) -> Run:
    if not found.where:
        found.path = path
    check(found)
    return found


names, load = registry.family("formats.importers", "IMPORTER", Importer)
"""The import formats, as the user types them; one by its name."""
