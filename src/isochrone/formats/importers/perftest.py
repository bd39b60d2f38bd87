"""Output of perftest: ib_write_lat, ib_send_bw, ib_read_lat and the others.

Latencies are half a round trip, except of read and atomic, which wait for the answer. ``MB`` are
2**20 bytes, as perftest counts.
"""

import re
from dataclasses import dataclass, field

from isochrone.formats.imported_sweep import PAIR, Results, Row, Sample, Sweep, cells, rated
from isochrone.formats.log import Tables, of_tables

_TITLE = re.compile(
    r"\s*(?:(?:RDMA_)?(?P<verb>Write|Read|Send)|(?P<atomic>Atomic\w*|(?:Fetch|Compare)\w*))"
    r"(?:\w| )*? (?P<both>Bidirectional )?(?P<what>BW|Latency|Bandwidth) Test\s*"
)
_NAME = re.compile(
    r"#?(?P<name>bytes|iterations|(?:BW|TPS) \w+|MsgRate|tps average|t_\w+|\d+(?:\.\d+)?% \w+)"
    r"(?:\[(?P<unit>[^\]]+)\])?",
    re.IGNORECASE,
)
_BYTES_PER_SECOND = {"mb/sec": 2**20, "gb/sec": 1e9 / 8, "mib/sec": 2**20, "gib/sec": 2**30}
_BOTH_WAYS = "exchange of a window in both directions"
_MEDIAN, _MEAN, _RATE = "t_typical", "t_avg", "bw average"


@dataclass
class _Table(Results):
    """``units`` are those of the columns; ``both`` whether messages go in both directions."""

    units: dict[str, str] = field(default_factory=dict)
    both: bool = False


class _Tables(Tables[_Table]):
    _title: re.Match[str] | None = None

    def begins(self, text: str) -> _Table | None:
        self._title = _TITLE.fullmatch(text) or self._title
        if not re.match(r"\s*#bytes\s+#iterations\s", text):
            return None
        found = _NAME.finditer(text)
        units = {name["name"].lower(): (name["unit"] or "").lower() for name in found}
        verb = (self._title["verb"] or "atomic").lower() if self._title else "rdma"
        what = "lat" if {_MEDIAN, _MEAN} & units.keys() else "bw"
        both = self._title is not None and bool(self._title["both"])
        return _Table(f"ib_{verb}_{what}", self.source.line, 2, [*units], units=units, both=both)

    def takes(self, table: _Table, text: str) -> None:
        if text.strip()[:1].isdigit():
            table.take(self.source, text.split())

    def sweep(self, table: _Table) -> Sweep:
        of = next((key for key in (_MEDIAN, _MEAN, _RATE) if key in table.columns), "")
        if not of:
            raise self.source.fail("the table has neither times nor bandwidths", table.line)
        samples = table.samples(self.source, lambda row: self._sample(table, row, of))
        verb = table.test.split("_")[1]
        if of == _RATE:
            words = _BOTH_WAYS if table.both else "message of a window"
        else:
            words = f"{verb} until complete" if verb in ("read", "atomic") else "half a round trip"
        options = {"mode": "bidirectional"} if of == _RATE and table.both else {}
        return Sweep("point-to-point", words, 2, samples, options, means=of != _MEDIAN)

    def _sample(self, table: _Table, row: Row, of: str) -> Sample:
        source = self.source
        sample = PAIR | cells(source, row, bytes="bytes", n="iterations")
        if of == _RATE:
            rate = source.number(row[of], f"'{of}'") * _BYTES_PER_SECOND.get(table.units[of], 0)
            return sample | rated(source, sample["bytes"], rate, 1 + table.both)
        mean = {"mean": _MEAN} if of == _MEDIAN else {}
        return sample | cells(source, row, seconds=of, **mean)


IMPORTER = of_tables("perftest", "the output of perftest", rb"^\s*#bytes +#iterations ", _Tables)
