"""Output of perftest: ib_write_lat, ib_send_bw, ib_read_lat and the others.

Latencies are half a round trip, except of read and atomic, which wait for the answer. ``MB`` are
2**20 bytes, as perftest counts.
"""

import re
from dataclasses import dataclass, field

from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep
from isochrone.formats.log import of_tables
from isochrone.formats.source import Source
from isochrone.runfile.importer import Wanted

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
_MEDIAN, _MEAN = "t_typical", "t_avg"


@dataclass
class _Table(Results):
    """``units`` are those of the columns; ``both`` whether messages go in both directions."""

    units: dict[str, str] = field(default_factory=dict)
    both: bool = False


class _Tables:
    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.source = source
        self._title: re.Match[str] | None = None

    def begins(self, text: str) -> Results | None:
        self._title = _TITLE.fullmatch(text) or self._title
        if not re.match(r"\s*#bytes\s+#iterations\s", text):
            return None
        found = _NAME.finditer(text)
        units = {name["name"].lower(): (name["unit"] or "").lower() for name in found}
        verb = (self._title["verb"] or "atomic").lower() if self._title else "rdma"
        what = "lat" if {_MEDIAN, _MEAN} & units.keys() else "bw"
        both = self._title is not None and bool(self._title["both"])
        return _Table(f"ib_{verb}_{what}", self.source.line, 2, [*units], units=units, both=both)

    def takes(self, table: Results, text: str) -> None:
        if text.strip()[:1].isdigit():
            table.take(self.source, text.split())

    def sweep(self, table: Results) -> Sweep:
        assert isinstance(table, _Table)
        of = next((key for key in (_MEDIAN, _MEAN, "bw average") if key in table.columns), "")
        if not of:
            raise self.source.fail("the table has neither times nor bandwidths", table.line)
        rated = of == "bw average"
        both = 2 if rated and table.both else 1
        samples = table.samples(
            self.source,
            lambda row: (
                _rated(self.source, row, table.units[of], both)
                if rated
                else _timed(self.source, row, of)
            ),
        )
        verb = table.test.split("_")[1]
        if rated:
            words = _BOTH_WAYS if both == 2 else "message of a window"
        else:
            words = f"{verb} until complete" if verb in ("read", "atomic") else "half a round trip"
        options = {"mode": "bidirectional"} if both == 2 else {}
        return Sweep("point-to-point", words, 2, samples, options, means=of != _MEDIAN)


def _timed(source: Source, row: Row, of: str) -> Sample:
    """Return a sample of a row with times."""
    sample = {
        "i": 0,
        "j": 1,
        "bytes": source.whole(row["bytes"], "#bytes"),
        "seconds": source.micro(row[of], of),
        "n": source.whole(row["iterations"], "#iterations"),
    }
    if of == _MEDIAN and _MEAN in row:
        sample["mean"] = source.micro(row[_MEAN], _MEAN)
    return sample


def _rated(source: Source, row: Row, unit: str, both: int) -> Sample:
    """Return a sample of a row with the bandwidth of a number of messages at a time."""
    size = source.whole(row["bytes"], "#bytes")
    rate = source.number(row["bw average"], "'BW average'") * _BYTES_PER_SECOND.get(unit, 0)
    if not size or not 0 < rate <= 1e18:
        raise source.fail("the bandwidth is not possible")
    return {
        "i": 0,
        "j": 1,
        "bytes": size,
        "seconds": both * size / rate,
        "rate": rate,
        "n": source.whole(row["iterations"], "#iterations"),
    }


IMPORTER = of_tables("perftest", "the output of perftest", rb"^\s*#bytes +#iterations ", _Tables)
