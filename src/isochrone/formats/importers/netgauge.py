"""Output of Netgauge: half a round trip by size (patterns ``one_one`` and ``loggp``).

Times are medians. The short lines of ``one_one`` have the least time, and the bandwidth of the
median, which is used.
"""

import re

from isochrone.formats.imported_sweep import PAIR, Results, Row, Sample, Sweep, cells
from isochrone.formats.log import Tables, of_tables
from isochrone.formats.source import Source

_SHORT = re.compile(r"\s*(\d+) bytes\s+-> (\S+) us\s+== (\S+) Mbit/s\s*")
_LONG = re.compile(r"\s*\d+ - [\d. ]+(?:\([\d. ]+\) )?- [\d. ]+(?:\([\d. ]+\) )?- [\d. ]+")
_LOGGP = re.compile(r"# size n PRTT\(1,0,s\) .*")
_COLUMNS = {
    _SHORT: ["bytes", "least", "rate"],
    _LONG: ["bytes", "least", "mean", "median"],
    _LOGGP: ["bytes", "n", "trip"],
}


class _Tables(Tables[Results]):
    _open = -1, ""

    def begins(self, text: str) -> Results | None:
        form = next((f for f in _COLUMNS if f.fullmatch(text)), None)
        if form is None:
            return None
        size = -1 if form is _LOGGP else int(text.split()[0])
        again = self._open[1] == form.pattern and size > self._open[0]
        self._open = size, form.pattern
        name = "netgauge_loggp" if form is _LOGGP else "netgauge_one_one"
        return None if again else Results(name, self.source.line, 2, _COLUMNS[form])

    def takes(self, table: Results, text: str) -> None:
        if short := _SHORT.fullmatch(text):
            table.take(self.source, short.groups())
        elif _LONG.fullmatch(text):
            size, _, times, _ = text.split("-")
            table.take(self.source, [size.strip(), *times.split()[:3]])
        elif "trip" in table.columns and text[:1].isdigit():
            table.take(self.source, text.split()[:3])

    def sweep(self, table: Results) -> Sweep:
        samples = table.samples(self.source, lambda row: _sample(self.source, row))
        return Sweep("point-to-point", "half a round trip", 2, samples, means=False)


def _sample(source: Source, row: Row) -> Sample:
    sample = PAIR | cells(source, row, bytes="bytes", seconds="median", mean="mean")
    if "trip" in row:
        sample["seconds"] = source.micro(row["trip"], "PRTT(1,0,s)") / 2
    if "rate" in row:
        megabits = source.number(row["rate"], "Mbit/s")
        of_rate = 8 * sample["bytes"] / (megabits * 1e6) if megabits else 0.0
        sample["seconds"] = of_rate or source.micro(row["least"], "us")
    return sample


IMPORTER = of_tables(
    "netgauge",
    "the output of Netgauge",
    rb"^\s*\d+ bytes\s+-> \S+ us\s+== \S+ Mbit/s|^## A\.\.\.message size|^# size n PRTT\(1,0,s\)",
    _Tables,
)
