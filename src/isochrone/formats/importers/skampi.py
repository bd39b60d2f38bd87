"""Output of SKaMPI 5 and 6: the slowest rank's mean by operation and size, round trips of pairs.

SKaMPI sorts the repetitions by the time of their slowest rank and prints the mean of the middle
half (`src/measurement.c`).
"""

import re

from isochrone.formats.imported_sweep import PAIR, Results, Sweep, cells
from isochrone.formats.log import Tables, of_tables

_TITLE = re.compile(r'\s*(?:# )?begin result "(.{1,200})"\s*')
_ROW = re.compile(
    r"\s*(?P<variable>\w+)= (?P<value>\d{1,9})\s+(?:\w+= \d+\s+)*"
    r"(?P<row>\d+\s+\d+\.\d+\s+\d+\.\d+\s+\d+)"
    r"(?P<ranks>(?:\s+(?:\d+\.\d+|---))*)\s*"
)
_COLUMNS = ["bytes", "usec", "error", "n"]
_COLLECTIVE = re.compile(
    r"MPI_(Allgather|Allreduce|Alltoall|Barrier|Bcast|Gather|Reduce|Scan|Scatter)"
    r"(?:-(?:procs|nodes|length).*)?"
)
_PINGPONG = re.compile(r"Pingpong_Send_Recv(?:-.*)?")
_PRINTED_RANKS = 16
"""SKaMPI's default limit of printed rank times: with as many times, there may be more ranks."""


class _Tables(Tables[Results]):
    _title = ""
    _of: tuple[str, int | None] | None = None

    def begins(self, text: str) -> Results | None:
        if title := _TITLE.fullmatch(text):
            self._title, self._of = title[1], None
        row = _ROW.fullmatch(text)
        if row is None or not self._title:
            return None
        printed = len(row["ranks"].split())
        ranks: int | None = printed if 0 < printed < _PRINTED_RANKS else None
        if row["variable"] in ("procs", "nodes"):
            ranks = int(row["value"])
        if self._of == (self._title, ranks):
            return None
        self._of = self._title, ranks
        return Results(self._title, self.source.line, ranks, _COLUMNS)

    def takes(self, table: Results, text: str) -> None:
        if row := _ROW.fullmatch(text):
            table.take(self.source, row["row"].split())

    def sweep(self, table: Results) -> Sweep:
        source = self.source
        pair = _PINGPONG.fullmatch(table.test)
        collective = _COLLECTIVE.fullmatch(table.test)
        if not pair and not collective:
            raise source.fail("not a ping-pong or a collective of MPI", table.line)
        ranks = 2 if pair else self.ranks(table)
        curve = {"op": collective[1].lower(), "p": ranks, "root": 0} if collective else PAIR
        samples = table.samples(
            source, lambda row: curve | cells(source, row, bytes="bytes", n="n", seconds="usec")
        )
        if not pair:
            return Sweep("collective", "operation, slowest rank", ranks, samples)
        for sample in samples:
            sample["seconds"] /= 2
        return Sweep("point-to-point", "half a round trip", 2, samples, {"mode": "blocking"})


IMPORTER = of_tables("skampi", "the output of SKaMPI", rb'^\s*(?:# )?begin result "', _Tables)
