"""Output of HPC Challenge (hpccoutf.txt): latencies and bandwidths of its ping-pong and its rings.

HPCC measures latencies with 8 bytes, and bandwidths with 2,000,000. Bandwidths of rings are left
out: how often a byte counts there depends on the version.
"""

import re

from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep, rated
from isochrone.formats.log import Tables, of_tables
from isochrone.formats.source import Source

_VALUE = re.compile(r"\s*(\w+)=(\S+)\s*")
_RANKS = re.compile(r"\s*CommWorldProcs=(\d{1,9})\s*")
_LATENCIES = {
    "AvgPingPongLatency_usec": "pingpong",
    "NaturallyOrderedRingLatency_usec": "natural_ring",
    "RandomlyOrderedRingLatency_usec": "random_ring",
}
_BANDWIDTH = "AvgPingPongBandwidth_GBytes"
_SHORT, _LONG = 8, 2_000_000


class _Tables(Tables[Results]):
    def begins(self, text: str) -> Results | None:
        ranks = _RANKS.fullmatch(text)
        return ranks and Results("hpcc", self.source.line, int(ranks[1]), ["key", "value"])

    def takes(self, table: Results, text: str) -> None:
        value = _VALUE.fullmatch(text)
        if value and (value[1] in _LATENCIES or value[1] == _BANDWIDTH):
            table.take(self.source, value.groups())

    def sweep(self, table: Results) -> Sweep:
        ranks = self.ranks(table, least=2)
        samples = table.samples(self.source, lambda row: _sample(self.source, row, ranks))
        return Sweep("collective", "message, mean of the ranks", ranks, samples)


def _sample(source: Source, row: Row, ranks: int) -> Sample:
    key, value = row["key"], row["value"]
    if key == _BANDWIDTH:
        timed = rated(source, _LONG, source.number(value, f"'{key}'") * 1e9)
        return {"op": "pingpong", "p": 2} | timed
    op = _LATENCIES[key]
    p = 2 if op == "pingpong" else ranks
    return {"op": op, "p": p, "bytes": _SHORT, "seconds": source.micro(value, key)}


IMPORTER = of_tables("hpcc", "the output of HPC Challenge", rb"^\s*CommWorldProcs=\d", _Tables)
