"""A table with commas, semicolons or tabs: one row per pair, columns named in the first line.

``i``, ``j`` and a time are needed; the other columns of ``export --to csv`` are read where they are
there. A time is ``mean`` or ``median`` in seconds, or a column whose name says what it is, such as
``latency_ns``; `NOTES` may name the columns and the unit, also of rates. An empty cell means not
known, a row without values a pair that was not measured. A pair may have a row for each direction.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isochrone.base.column_names import understood
from isochrone.base.csv_escape import text_of
from isochrone.base.errors import InputError
from isochrone.base.table import TableBuilder
from isochrone.base.table_text import decoded, table_of
from isochrone.base.text import listed, printable
from isochrone.formats.imported_map import OF_RATES, Pairs, both_ways, default_bytes, pairs_once
from isochrone.formats.source import Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import DIRECTIONS, PAIR_QUANTITIES, Run
from isochrone.runfile.table_notes import NOTES, RATES, TIMES

_STATISTICS = ("n", *PAIR_QUANTITIES, *DIRECTIONS)
_KNOWN = ("i", "j", "host_i", "host_j", "bytes", *_STATISTICS, "retest")
_WHOLE = re.compile(r"[0-9]{1,15}")
_RATE = re.compile(r"(?i:bw|bandwidth|rate|throughput)[\s_]*\(?(.*?)\)?")
"""A name of a bandwidth, with its unit."""

_FLAGS = {"": False, "0": False, "false": False, "1": True, "true": True}


def read(path: Path) -> Run:
    """Read a comma-separated table as a latency map.

    Raises
    ------
    InputError
        If it cannot be read, is not such a table, or contradicts itself; names the line.
    """
    sheet = _Sheet.open(path, "csv")
    sheet.read()
    return sheet.pairs().run(sheet)


@dataclass
class _Sheet(Source):
    """Reads the rows of one table; errors name the line."""

    def __post_init__(self) -> None:
        self.notes = NOTES.get()
        self.factors: dict[str, float] = {}
        self.rate = False
        self.names: list[str] = []
        self.hosts: dict[int, str] = {}
        self.pair_rows = TableBuilder()
        self.size = 0

    def read(self) -> None:
        """Take all rows."""
        text = decoded(self.data, str(self.path))
        last = 0 if text.endswith(("\n", "\r")) else text.count("\n") + 1
        self.line = 1
        table = table_of(text, str(self.path))
        self.columns(table.names)
        for self.line, cells in table.rows:
            self.row(cells, may_be_cut=self.line == last)
        self.line = 0

    def columns(self, names: list[str]) -> None:
        """Take the names of the columns."""
        names = [self.meant(name) for name in names]
        needed = {"i", "j"} - set(names)
        if needed or not {"mean", "median"} & set(names):
            missing = " and no ".join(f"'{name}'" for name in sorted(needed)) or "'mean'"
            hint = "the first line must name the columns"
            raise self.fail(f"the table has no column {missing}", hint=hint)
        twice = {name for name in names if names.count(name) > 1 and name in _KNOWN}
        if twice:
            raise self.fail(f"the table has two columns '{min(twice)}'")
        unknown = [printable(name, 40) for name in names if name not in _KNOWN]
        if unknown:
            self.warn("columns-ignored", f"unknown columns were ignored: {', '.join(unknown)}")
        self.names = names

    def meant(self, name: str) -> str:
        """Return what a column is called here; keep the unit of times and rates."""
        variable, factor, statistic = self.notes.columns.get(name, ""), 0.0, "mean"
        if variable:
            factor = self.notes.factors.get(variable, 0.0)
        elif name in _KNOWN:
            return name
        elif rate := _RATE.fullmatch(name):
            variable, factor = "rate", RATES.get(rate[1].replace("ps", "/s"), 0.0)
        elif meant := understood(name):
            variable, factor = meant.variable, meant.factor if meant.unit else 0.0
            statistic = meant.statistic or "mean"
        if variable not in ("seconds", "rate"):
            return "bytes" if variable == "b" else variable or name
        self.rate |= variable == "rate"
        units = RATES if self.rate else TIMES
        self.factors[statistic] = factor or units.get(self.notes.unit, 0.0)
        if not self.factors[statistic]:
            hint = f"isochrone import and show take it: --unit {listed([*units], 5)}"
            raise self.fail(f"the column '{printable(name, 40)}' has no unit", hint=hint)
        return statistic

    def row(self, cells: list[str], *, may_be_cut: bool) -> None:
        """Take one pair; the last line of a file may have been cut, even within a number."""
        try:
            if may_be_cut and not cells[-1]:
                raise self.fail("the last cell is empty")
            if len(cells) != len(self.names):
                raise self.fail(f"the line has {len(cells)} columns, not {len(self.names)}")
            self.pair(dict(zip(self.names, cells, strict=True)))
        except InputError:
            if not may_be_cut:
                raise
            self.cut_short()

    def pair(self, cell: dict[str, str]) -> None:
        """Check all cells of a pair, then take them."""
        i, j = (self.index(cell, key) for key in ("i", "j"))
        nbytes = self.index(cell, "bytes") if "bytes" in cell else default_bytes(self.rate)
        values = {key: self.value(cell, key) for key in _STATISTICS if key in cell}
        flag = _FLAGS.get(cell.get("retest", "").lower())
        if flag is None:
            raise self.fail(f"'retest' is {printable(cell['retest'], 40)!r}, not true or false")
        statistics = [key for key, value in values.items() if not math.isnan(value)]
        if statistics and not {"mean", "median"} & set(statistics):
            raise self.fail("the line has neither a mean nor a median")
        for rank, key in ((i, "host_i"), (j, "host_j")):
            self.same_host(self.hosts, rank, text_of(cell.get(key, "")))
        self.size = max(self.size, i + 1, j + 1)
        if i == j or not statistics:
            return
        for key in values.keys() & self.factors.keys():
            values[key] *= self.factors[key]
            if self.rate and values[key]:
                values[key] = nbytes / values[key]
        row = {"i": i, "j": j, "bytes": nbytes, "retest": flag, "line": self.line}
        self.pair_rows.add({**row, **values})

    def index(self, cell: dict[str, str], key: str) -> int:
        """Read a whole number."""
        if not _WHOLE.fullmatch(cell[key]):
            raise self.fail(f"'{key}' is {printable(cell[key], 40)!r}, not a whole number")
        return int(cell[key])

    def value(self, cell: dict[str, str], key: str) -> float:
        """Read a time in seconds, or a count; NaN if the cell is empty."""
        text = cell[key]
        if not text:
            return math.nan
        value = self.number(text, f"'{key}'")
        if key == "n" and not (value.is_integer() and value < 2**53):
            raise self.fail(f"'n' is {printable(text, 40)!r}, not a whole number")
        return abs(value)

    def pairs(self) -> Pairs:
        """Return what was understood, once all rows were taken."""
        columns = pairs_once(self, self.pair_rows)
        columns = both_ways(columns, one_way=self.notes.one_way, rate=self.rate)
        counts = np.unique(columns.get("n", np.nan))
        return Pairs(
            size=self.size,
            # a cut last line may have named a rank of which nothing else is known
            hosts={rank: host for rank, host in self.hosts.items() if rank < self.size},
            columns=columns,
            extra=OF_RATES if self.rate else {},
            repeats=int(counts[0]) if len(counts) == 1 and counts[0] == counts[0] else None,
        )


IMPORTER = Importer(
    holds="latency-map",
    read=read,
    says="a table of pairs",
    signature=re.compile(rb"\Ai,([^\n]*,)?j,"),
    recognises=lambda begin, whole: "i" in NOTES.get().columns.values(),
)
