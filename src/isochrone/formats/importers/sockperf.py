"""Output of sockperf: half a round trip of messages over sockets.

The size of the message is only in the command, which has to be in the log; without ``-m`` it is 14.
"""

import re
from dataclasses import dataclass

from isochrone.formats.imported_sweep import PAIR, Results, Row, Sample, Sweep, cells
from isochrone.formats.log import Tables, of_tables

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


class _Tables(Tables[_Table]):
    _size = ""

    def begins(self, text: str) -> _Table | None:
        if command := _COMMAND.search(text):
            size = _SIZE.search(command["words"])
            self._size = size[1] if size else _DEFAULT
        value = _VALUE.fullmatch(text)
        if not value or not value["mean"]:
            return None
        return _Table("sockperf", self.source.line, 2, size=self._size)

    def takes(self, table: _Table, text: str) -> None:
        if value := _VALUE.fullmatch(text):
            if not table.rows:
                table.take(self.source, [])
            table.rows[0][1].update({k: v for k, v in value.groupdict().items() if v})

    def sweep(self, table: _Table) -> Sweep:
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
        trips = 2 if row["trip"] == "Round trip" else 1
        times = cells(self.source, row, mean="mean", seconds="median")
        sample = {member: seconds / trips for member, seconds in times.items()}
        if "seconds" not in sample:
            sample["seconds"] = sample.pop("mean")
        return PAIR | sample | {"bytes": self.source.whole(table.size, "-m")}


IMPORTER = of_tables(
    "sockperf", "the output of sockperf", rb"sockperf: Summary: (?:Latency|Round trip) is", _Tables
)
