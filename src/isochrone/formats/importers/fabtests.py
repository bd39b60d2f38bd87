"""Output of fabtests and fi_pingpong of libfabric: the time of a transfer by size.

``k``, ``m`` and ``g`` of a size are 2**10, 2**20 and 2**30, those of a number of transfers 10**3,
10**6 and 10**9. The time of a pingpong is half a round trip.
"""

import re

from isochrone.formats.imported_sweep import PAIR, Results, Row, Sample, Sweep, cells
from isochrone.formats.log import Tables, of_tables
from isochrone.formats.source import Source

_HEAD = re.compile(r"\s*(?:name\s+)?bytes\s+(?:iters|#sent\s+#ack)\s+total\s+time\s.*usec/xfer.*")
_PROGRAM = re.compile(r"\bfi_\w+")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kmg]?)")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3}


class _Tables(Tables[Results]):
    _program = ""

    def begins(self, text: str) -> Results | None:
        if not _HEAD.fullmatch(text):
            if named := _PROGRAM.search(text):
                self._program = named[0]
            return None
        columns = text.split()
        program = "fi_pingpong" if "#ack" in columns else self._program
        return Results(program or "fabtests", self.source.line, 2, columns)

    def takes(self, table: Results, text: str) -> None:
        words = text.split()
        row = dict(zip(table.columns, words, strict=False))
        if "usec/xfer" in table.columns and _SIZE.fullmatch(row.get("bytes", "")):
            table.take(self.source, words)

    def sweep(self, table: Results) -> Sweep:
        samples = table.samples(self.source, lambda row: _sample(self.source, row))
        half = "half a round trip" if "pingpong" in table.test else "transfer"
        return Sweep("point-to-point", half, 2, samples)


def _sample(source: Source, row: Row) -> Sample:
    size, count = (
        _SIZE.fullmatch(row.get(name, ""))
        for name in ("bytes", "iters" if "iters" in row else "#sent")
    )
    if not size:
        raise source.fail("'bytes' is not a size")
    row["bytes"] = f"{float(size[1]) * 1024 ** _POWERS[size[2]]:f}"
    number = {"n": round(float(count[1]) * 1000 ** _POWERS[count[2]])} if count else {}
    return PAIR | cells(source, row, bytes="bytes", seconds="usec/xfer") | number


IMPORTER = of_tables(
    "fabtests",
    "the output of fabtests",
    rb"^\s*(?:name\s+)?bytes\s+(?:iters|#sent\s+#ack)\s+total\s+time\s",
    _Tables,
)
