"""What an import format is: which kind of result a file of it holds, and how it is read.

`isochrone.formats.importers` holds the formats, one per file; each file ends in its `Importer`.
"""

from collections.abc import Callable
from pathlib import Path

from isochrone.base import registry
from isochrone.base.record import Record
from isochrone.runfile.rules import check
from isochrone.runfile.run import Run


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
    """

    holds: str
    read: Callable[..., Run]
    takes_ranks: bool = False

    def run(self, path: Path, ranks: int | None = None) -> Run:
        """Read a file, and apply the rules of run files to what it holds.

        Raises
        ------
        InputError
            As of ``read``, and if a run file with these values would be refused.
        """
        found: Run = self.read(path, ranks) if self.takes_ranks else self.read(path)
        if not found.where:
            found.path = path
        check(found)
        return found


names, load = registry.family("formats.importers", "IMPORTER", Importer)
"""The import formats, as the user types them; one by its name."""
