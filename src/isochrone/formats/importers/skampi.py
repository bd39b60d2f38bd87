"""Output of SKaMPI 5 and 6: the slowest rank's mean by operation and size, round trips of pairs.

SKaMPI sorts the repetitions by the time of their slowest rank and prints the mean of the middle
half (`src/measurement.c`).
"""

import re

from isochrone.formats.imported_sweep import Results, Sweep
from isochrone.formats.log import of_tables
from isochrone.formats.source import MAX_FILE_RANKS, Source
from isochrone.runfile.importer import Wanted

_TITLE = re.compile(r'\s*(?:# )?begin result "(.{1,200})"\s*')
_ROW = re.compile(
    r"\s*(?P<variable>\w+)= (?P<value>\d{1,9})\s+(?P<row>\d+\s+\d+\.\d+\s+\d+\.\d+\s+\d+)"
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


class _Tables:
    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.source, self.wanted = source, wanted
        self._title = ""
        self._of: tuple[str, int | None] | None = None

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
        table = Results(self._title, self.source.line, ranks, _COLUMNS)
        self.takes(table, text)
        return table

    def takes(self, table: Results, text: str) -> None:
        if row := _ROW.fullmatch(text):
            table.take(self.source, row["row"].split())

    def sweep(self, table: Results) -> Sweep:
        source = self.source
        pair = _PINGPONG.fullmatch(table.test)
        collective = _COLLECTIVE.fullmatch(table.test)
        if not pair and not collective:
            raise source.fail("not a ping-pong or a collective of MPI", table.line)
        ranks = 2 if pair else table.ranks or self.wanted.ranks
        if not ranks:
            raise source.no_ranks("the table does not contain the number of ranks", table.line)
        if ranks > MAX_FILE_RANKS:
            raise source.fail(f"the number of ranks {ranks} is not valid", table.line)
        curve = (
            {"op": collective[1].lower(), "p": ranks, "root": 0} if collective else {"i": 0, "j": 1}
        )
        samples = table.samples(
            source,
            lambda row: {
                **curve,
                "bytes": source.whole(row["bytes"], "the size"),
                "n": source.whole(row["n"], "the number of repetitions"),
                "seconds": source.micro(row["usec"], "the time") / (2 if pair else 1),
            },
        )
        if pair:
            return Sweep("point-to-point", "half a round trip", 2, samples, {"mode": "blocking"})
        return Sweep("collective", "operation, slowest rank", ranks, samples)


IMPORTER = of_tables("skampi", "the output of SKaMPI", rb'^\s*(?:# )?begin result "', _Tables)
