"""Output of ReproMPI: the time of every repetition of an operation, or their mean or median."""

import re
from dataclasses import dataclass

from isochrone.base.text import whole_number
from isochrone.base.units import MAX_SECONDS
from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep, cells
from isochrone.formats.log import Tables, of_tables
from isochrone.formats.source import Source
from isochrone.runfile.importer import Wanted

_SETTING = re.compile(r"#@(nprocs|datatype_extent_bytes|datatype_size_bytes|datatype)=(\S+)\s*")
_WIDTHS = {
    "MPI_BYTE": 1,
    "MPI_CHAR": 1,
    "MPI_INT": 4,
    "MPI_FLOAT": 4,
    "MPI_DOUBLE": 8,
}
_TIMES = ("runtime_sec", "median_sec", "mean_sec")


@dataclass
class _Table(Results):
    """``width`` is the number of bytes of an element, or 0."""

    width: int = 0


class _Tables(Tables[_Table]):
    def __init__(self, source: Source, wanted: Wanted) -> None:
        super().__init__(source, wanted)
        self._said: dict[str, str] = {}

    def begins(self, text: str) -> _Table | None:
        if setting := _SETTING.fullmatch(text):
            self._said[setting[1]] = setting[2]
        words = text.split()
        if words[:1] != ["test"] or "count" not in words or not {*_TIMES} & {*words}:
            return None
        ranks, size = (
            whole_number(self._said.get(key, "")) for key in ("nprocs", "datatype_size_bytes")
        )
        width = size or _WIDTHS.get(self._said.get("datatype", ""), 0)
        return _Table("repro_mpi", self.source.line, ranks, words, width=width)

    def takes(self, table: _Table, text: str) -> None:
        if text.lstrip().startswith("MPI_"):
            table.take(self.source, text.split())

    def sweep(self, table: _Table) -> Sweep:
        ranks = self.ranks(table)
        if not table.width:
            raise self.source.fail("the file does not contain #@datatype", table.line)
        of = next(key for key in _TIMES if key in table.columns)
        samples = table.samples(
            self.source, lambda row: _sample(self.source, row, of, ranks, table.width), repeats=True
        )
        return Sweep("collective", "operation, slowest rank", ranks, samples, means=of == _TIMES[2])


def _sample(source: Source, row: Row, of: str, ranks: int, width: int) -> Sample:
    seconds = source.number(row[of], f"'{of}'")
    if seconds > MAX_SECONDS:
        raise source.fail(f"'{of}' is not a time")
    op = row["test"].removeprefix("MPI_").lower()
    count = source.whole(row["count"], "count")
    sample = {"op": op, "p": ranks, "bytes": count * width, "seconds": seconds}
    return sample | cells(source, row, n="valid_nrep")


IMPORTER = of_tables(
    "repro-mpi",
    "the output of ReproMPI",
    rb"^\s*test\s.*\bcount\s.*\b(?:runtime|mean|median)_sec\b",
    _Tables,
)
