"""Output of NetPIPE 3 and 4: half a round trip by size."""

import re

from isochrone.formats.imported_sweep import PAIR, Results, Sweep, cells
from isochrone.formats.log import Tables, of_tables

_ROW = re.compile(
    r"\s*\d+:\s+(\d+)\s+bytes\s+(\d+)\s+times\s+-->\s+\S+\s+[MG]bps\s+in\s+(\S+)\s+(u?)secs?\s*"
)


class _Tables(Tables[Results]):
    _size = -1

    def begins(self, text: str) -> Results | None:
        row = _ROW.fullmatch(text)
        again = row is not None and int(row[1]) <= self._size
        first = row is not None and (self._size < 0 or again)
        self._size = int(row[1]) if row else self._size
        if not first:
            return None
        return Results("netpipe", self.source.line, 2, ["bytes", "times", "usec"])

    def takes(self, table: Results, text: str) -> None:
        if row := _ROW.fullmatch(text):
            *words, time, micro = row.groups()
            seconds = self.source.number(time, "the time")
            table.take(self.source, [*words, time if micro else f"{1e6 * seconds:.9g}"])

    def sweep(self, table: Results) -> Sweep:
        source = self.source
        samples = table.samples(
            source,
            lambda row: PAIR | cells(source, row, bytes="bytes", seconds="usec", n="times"),
        )
        return Sweep("point-to-point", "half a round trip", 2, samples)


IMPORTER = of_tables(
    "netpipe",
    "the output of NetPIPE",
    rb"^\s*\d+:\s+\d+\s+bytes\s+\d+\s+times\s+-->",
    _Tables,
)
