"""Output of NetPIPE 3 and 4: half a round trip by size."""

import re

from isochrone.formats.imported_sweep import Results, Sweep
from isochrone.formats.log import of_tables
from isochrone.formats.source import Source
from isochrone.runfile.importer import Wanted

_ROW = re.compile(
    r"\s*\d+:\s+(\d+)\s+bytes\s+(\d+)\s+times\s+-->\s+\S+\s+[MG]bps\s+in\s+(\S+)\s+usecs?\s*"
)


class _Tables:
    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.source = source
        self._size = -1

    def begins(self, text: str) -> Results | None:
        row = _ROW.fullmatch(text)
        again = row is not None and int(row[1]) <= self._size
        first = row is not None and (self._size < 0 or again)
        self._size = int(row[1]) if row else self._size
        if not first:
            return None
        table = Results("netpipe", self.source.line, 2, ["bytes", "times", "usec"])
        self.takes(table, text)
        return table

    def takes(self, table: Results, text: str) -> None:
        if row := _ROW.fullmatch(text):
            table.take(self.source, row.groups())

    def sweep(self, table: Results) -> Sweep:
        source = self.source
        samples = table.samples(
            source,
            lambda row: {
                "i": 0,
                "j": 1,
                "bytes": source.whole(row["bytes"], "bytes"),
                "seconds": source.micro(row["usec"], "usec"),
                "n": source.whole(row["times"], "times"),
            },
        )
        return Sweep("point-to-point", "half a round trip", 2, samples)


IMPORTER = of_tables(
    "netpipe",
    "the output of NetPIPE",
    rb"^\s*\d+:\s+\d+\s+bytes\s+\d+\s+times\s+-->",
    _Tables,
)
