"""Output of mpiBench: mean, least and greatest time of the ranks by operation and size."""

import re

from isochrone.formats.imported_sweep import Results, Sweep, cells
from isochrone.formats.log import Tables, of_tables

_ROW = re.compile(
    r"(?P<op>[A-Z]\w+)\s+Bytes:\s+(\d+)\s+Iters:\s+(\d+)\s+Avg:\s+(\S+)\s+Min:\s+(\S+)\s+"
    r"Max:\s+(\S+)\s+(?:Comm: (?P<comm>.{1,200}?)\s+)?Ranks:\s+(?P<ranks>\d{1,9})\b.*"
)
_COLUMNS = ["op", "bytes", "n", "avg", "min", "max"]


class _Tables(Tables[Results]):
    _of: tuple[str | None, ...] = ()

    def begins(self, text: str) -> Results | None:
        row = _ROW.fullmatch(text.strip())
        if row is None or row.group("op", "comm", "ranks") == self._of:
            return None
        self._of = row.group("op", "comm", "ranks")
        return Results(row["op"], self.source.line, int(row["ranks"]), _COLUMNS)

    def takes(self, table: Results, text: str) -> None:
        if row := _ROW.fullmatch(text.strip()):
            table.take(self.source, row.groups()[: len(_COLUMNS)])

    def sweep(self, table: Results) -> Sweep:
        source, ranks = self.source, self.ranks(table)
        curve = {"op": table.test.lower(), "p": ranks, "root": 0}
        samples = table.samples(
            source, lambda row: curve | cells(source, row, bytes="bytes", n="n", seconds="max")
        )
        return Sweep("collective", "operation, slowest rank", ranks, samples)


IMPORTER = of_tables(
    "mpibench", "the output of mpiBench", rb"^\w+\s+Bytes:\s+\d+\s+Iters:\s+\d+\s+Avg:", _Tables
)
