"""Output of sockperf: half a round trip of messages over sockets.

The size of the message is only in the command, which has to be in the log; without ``-m`` it is 14.
"""

import re
from dataclasses import dataclass

from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep
from isochrone.formats.log import of_tables
from isochrone.formats.source import Source
from isochrone.runfile.importer import Wanted

_COMMAND = re.compile(r"\bsockperf\s+(ping-pong|pp|under-load|ul)\b(?P<words>.*)")
_SIZE = re.compile(r"\s(?:-m|--msg-size)[ =]?\s*(\d+)")
_DEFAULT = "14"
"""Bytes of a message without ``-m`` (sockperf ping-pong --help)."""

_VALUE = re.compile(
    r".*sockperf: (?:Summary: (?P<trip>Latency|Round trip) is (?P<mean>\S+) usec"
    r"|---> percentile 50\.0+ = +(?P<median>\S+)"
    r"|Total (?P<n>\d+) observations\b.*)\s*"
)


@dataclass
class _Table(Results):
    size: str = ""
    trips: int = 1


class _Tables:
    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.source = source
        self._size = ""

    def begins(self, text: str) -> Results | None:
        if command := _COMMAND.search(text):
            size = _SIZE.search(command["words"])
            self._size = size[1] if size else _DEFAULT
        value = _VALUE.fullmatch(text)
        if not value or not value["mean"]:
            return None
        trips = 2 if value["trip"] == "Round trip" else 1
        table = _Table("sockperf", self.source.line, 2, ["mean"], size=self._size, trips=trips)
        table.take(self.source, [value["mean"]])
        return table

    def takes(self, table: Results, text: str) -> None:
        if table.rows and (value := _VALUE.fullmatch(text)):
            table.rows[0][1].update({k: v for k, v in value.groupdict().items() if v})

    def sweep(self, table: Results) -> Sweep:
        assert isinstance(table, _Table)
        if not table.size:
            raise self.source.fail(
                "the size of the message is not in the file",
                table.line,
                hint="write the command before it: sockperf pp -m 64",
            )
        samples = table.samples(self.source, lambda row: self._sample(table, row))
        medians = "median" in table.rows[0][1]
        return Sweep("point-to-point", "half a round trip", 2, samples, means=not medians)

    def _sample(self, table: _Table, row: Row) -> Sample:
        source = self.source
        sample = {"i": 0, "j": 1, "bytes": source.whole(table.size, "-m")}
        mean = source.micro(row["mean"], "Latency") / table.trips
        if "median" not in row:
            return sample | {"seconds": mean}
        seconds = source.micro(row["median"], "percentile 50") / table.trips
        return sample | {"seconds": seconds, "mean": mean}


IMPORTER = of_tables(
    "sockperf", "the output of sockperf", rb"sockperf: Summary: (?:Latency|Round trip) is", _Tables
)
