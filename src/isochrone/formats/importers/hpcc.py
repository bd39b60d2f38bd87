"""Output of HPC Challenge (hpccoutf.txt): latencies and bandwidths of its ping-pong and its rings.

HPCC measures latencies with 8 bytes, and bandwidths with 2,000,000. Bandwidths of rings are left
out: how often a byte counts there depends on the version.
"""

import re

from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep
from isochrone.formats.log import of_tables
from isochrone.formats.source import MAX_FILE_RANKS, Source
from isochrone.runfile.importer import Wanted

_VALUE = re.compile(r"\s*(\w+)=(\S+)\s*")
_RANKS = re.compile(r"\s*CommWorldProcs=(\d{1,9})\s*")
_LATENCIES = {
    "AvgPingPongLatency_usec": "pingpong",
    "NaturallyOrderedRingLatency_usec": "natural_ring",
    "RandomlyOrderedRingLatency_usec": "random_ring",
}
_BANDWIDTH = "AvgPingPongBandwidth_GBytes"
_SHORT, _LONG = 8, 2_000_000


class _Tables:
    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.source = source

    def begins(self, text: str) -> Results | None:
        ranks = _RANKS.fullmatch(text)
        return ranks and Results("hpcc", self.source.line, int(ranks[1]), ["key", "value"])

    def takes(self, table: Results, text: str) -> None:
        value = _VALUE.fullmatch(text)
        if value and (value[1] in _LATENCIES or value[1] == _BANDWIDTH):
            table.take(self.source, value.groups())

    def sweep(self, table: Results) -> Sweep:
        ranks = table.ranks or 0
        if not 2 <= ranks <= MAX_FILE_RANKS:
            raise self.source.fail(f"the number of ranks {ranks} is not valid", table.line)
        samples = table.samples(self.source, lambda row: _sample(self.source, row, ranks))
        return Sweep("collective", "message, mean of the ranks", ranks, samples)


def _sample(source: Source, row: Row, ranks: int) -> Sample:
    key, value = row["key"], row["value"]
    if key == _BANDWIDTH:
        rate = source.number(value, f"'{key}'") * 1e9
        if not 0 < rate <= 1e18:
            raise source.fail("the bandwidth is not possible")
        return {"op": "pingpong", "p": 2, "bytes": _LONG, "seconds": _LONG / rate, "rate": rate}
    op = _LATENCIES[key]
    p = 2 if op == "pingpong" else ranks
    return {"op": op, "p": p, "bytes": _SHORT, "seconds": source.micro(value, key)}


IMPORTER = of_tables("hpcc", "the output of HPC Challenge", rb"^\s*CommWorldProcs=\d", _Tables)
