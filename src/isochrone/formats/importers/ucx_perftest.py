"""Output of ucx_perftest: latencies (half a round trip) and bandwidths of UCX.

The size of the message is in the table that ucx_perftest prints first, or in the command before
it (``-s 1024``). ``MB`` are 2**20 bytes. Old versions call the times of all tests a latency.
"""

import re
from dataclasses import dataclass

from isochrone.base.text import whole_number
from isochrone.formats.imported_sweep import PAIR, Results, Row, Sample, Sweep, cells
from isochrone.formats.log import Tables, of_tables
from isochrone.runfile.records import MAX_RATE

_HEAD = re.compile(r"\|\s+\|(?:\s+\|)?\s+(?P<what>latency|overhead) \(usec\)\s+\|.*")
_MEDIAN = re.compile(r"\|.*# iterations \|\s+(?:50\.0%ile|typical)\s+\|.*")
_TEST = re.compile(r"\|\s*Test:\s+(?P<name>.+?)\s*\|\s*")
_SIZE = re.compile(r"\|\s*Message size:\s+(?P<size>\d+)\s*\|\s*")
_COMMAND = re.compile(r"\bucx_perftest\b(?P<words>.*)")
_OPTION = re.compile(r"\s-(?P<key>[ts])\s*(?P<value>\S+)")
_OF_BANDWIDTH = re.compile(r"(?:_bw|bandwidth)$")
_THREAD = "[thread 0]"
_FINAL = "Final:"
_COLUMNS = ["n", "median", "average", "time", "rate now", "rate", "messages now", "messages"]
_DEFAULT = 8
"""Bytes of a message if the command does not say it (ucx_perftest --help)."""


@dataclass
class _Table(Results):
    size: int | None = None
    latency: bool = False
    median: bool = False


class _Tables(Tables[_Table]):
    _name = ""
    _size: int | None = None

    def begins(self, text: str) -> _Table | None:
        text = text.strip()
        if command := _COMMAND.search(text):
            given = {one["key"]: one["value"] for one in _OPTION.finditer(command["words"])}
            self._name = given.get("t", "")
            self._size = whole_number(given.get("s", str(_DEFAULT)))
        elif test := _TEST.fullmatch(text):
            self._name = test["name"].replace(" ", "_")
        elif size := _SIZE.fullmatch(text):
            self._size = int(size["size"])
        elif head := _HEAD.fullmatch(text):
            name = self._name or ("latency" if head["what"] == "latency" else "bandwidth")
            latency = head["what"] == "latency" and not _OF_BANDWIDTH.search(name)
            return _Table(f"ucx_{name}", self.source.line, 2, _COLUMNS, latency=latency)
        return None

    def takes(self, table: _Table, text: str) -> None:
        words = text.strip().removeprefix(_THREAD).split()
        if _MEDIAN.fullmatch(text.strip()):
            table.median = True
        elif words and (words[0] == _FINAL or words[0].isdigit()):
            table.size = self._size
            row = words[words[0] == _FINAL :]
            if len(row) == len(_COLUMNS):
                table.rows = []  # the last row is the result, those before are of part of the time
            table.take(self.source, row)

    def sweep(self, table: _Table) -> Sweep:
        if table.size is None:
            raise self.source.fail(
                "the size of the message is not in the file",
                table.line,
                hint="write the command before it: ucx_perftest -s 8",
            )
        samples = table.samples(self.source, lambda row: self._sample(table, row))
        words = "half a round trip" if table.latency else "message of a window"
        if "get" in table.test and table.latency:
            words = "get until complete"
        return Sweep(
            "point-to-point", words, 2, samples, means=not (table.latency and table.median)
        )

    def _sample(self, table: _Table, row: Row) -> Sample:
        source = self.source
        columns = {"seconds": "time"}
        if table.latency and table.median:
            columns = {"seconds": "median", "mean": "time"}
        sample = PAIR | {"bytes": table.size} | cells(source, row, n="n", **columns)
        rate = 0.0 if table.latency else source.number(row["rate"], "'bandwidth'") * 2**20
        return sample | ({"rate": rate} if 0 < rate <= MAX_RATE else {})


IMPORTER = of_tables(
    "ucx-perftest",
    "the output of ucx_perftest",
    rb"^ *\|\s+\|(?:\s+\|)?\s+(?:latency|overhead) \(usec\)",
    _Tables,
)
