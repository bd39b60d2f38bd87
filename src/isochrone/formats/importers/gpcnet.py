"""Output of GPCNet: latencies and bandwidths of a network, alone and with congestion.

The tests with congestion are a run of their own: imported, the two runs can be compared.
"""

import re
from dataclasses import dataclass

from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep, cells, rated
from isochrone.formats.log import Tables, of_tables
from isochrone.formats.source import Source

_RANKS = re.compile(r"\s*Test with (\d{1,9}) MPI ranks .*")
_TITLE = re.compile(
    r"\|\s*(?P<title>Isolated Network Tests|Isolated Congestion Tests"
    r"|Network Tests running with Congestion Tests)\s*(?:\(\s*(?P<victim>.+?) Network Test\))?\s*\|"
)
_NAMES = {
    "Isolated Network Tests": "gpcnet",
    "Isolated Congestion Tests": "gpcnet_congestors",
    "Network Tests running with Congestion Tests": "gpcnet_congested",
}
_OP = re.compile(r"(?P<op>.+?) \((?P<bytes>\d+) B\)")
_TIME, _RATE = "usec", "MiB/s/rank"
_CONGESTED = "with congestion"


@dataclass
class _Table(Results):
    victim: str = ""


class _Tables(Tables[_Table]):
    _ranks: int | None = None

    def begins(self, text: str) -> _Table | None:
        if ranks := _RANKS.fullmatch(text):
            self._ranks = int(ranks[1])
        title = _TITLE.fullmatch(text.strip())
        return title and _Table(
            _NAMES[title["title"]], self.source.line, self._ranks, victim=title["victim"] or ""
        )

    def takes(self, table: _Table, text: str) -> None:
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
        if cells[0] == "Name" and cells[-1] == "Units" and not table.rows:
            table.columns = cells
        elif len(cells) == len(table.columns) and _OP.fullmatch(cells[0]):
            table.take(self.source, cells)

    def sweep(self, table: _Table) -> Sweep:
        ranks = self.ranks(table)
        if "Avg" not in table.columns:
            raise self.source.fail("the table has no averages", table.line)
        samples = table.samples(self.source, lambda row: _sample(self.source, row, ranks))
        congested = table.test == _NAMES["Network Tests running with Congestion Tests"]
        network = f"{_CONGESTED} {table.victim}".rstrip()
        header = {"notes": {"network": network}} if congested else {}
        return Sweep("collective", "operation, mean of the ranks", ranks, samples, header=header)


def _sample(source: Source, row: Row, ranks: int) -> Sample:
    name = _OP.fullmatch(row["Name"])
    assert name is not None
    op = re.sub(r"\W+", "_", name["op"].lower())
    size = source.whole(name["bytes"], "B")
    of_op = {"op": op, "p": ranks, "bytes": size}
    if row["Units"] == _TIME:
        return of_op | cells(source, row, seconds="Avg")
    unit = 2**20 if row["Units"] == _RATE else 0
    return of_op | rated(source, size, source.number(row["Avg"], "'Avg'") * unit)


IMPORTER = of_tables(
    "gpcnet",
    "the output of GPCNet",
    rb"^\|\s*(?:Isolated|Network) Network Tests|^\|\s*Isolated (?:Network|Congestion) Tests",
    _Tables,
)
