"""Output of nccl-tests (and rccl-tests): all_reduce_perf, sendrecv_perf and the others.

Columns go by their names, out-of-place first: ``size count type redop root time algbw busbw
#wrong`` and the last four again in place. Which collective it was is said by newer versions only;
otherwise by what a table leaves no doubt of: the reduction, the root, and bus bandwidth over
algorithm bandwidth. A sample is the time out of place; ``in_place`` is the other one, in seconds.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from isochrone.base.record import Members
from isochrone.base.text import printable
from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep, cells
from isochrone.formats.log import Tables, of_tables
from isochrone.formats.source import Source, parse_number
from isochrone.runfile.importer import Wanted

_TEST = re.compile(r"\b(?P<name>[a-z]+(?:_[a-z]+)*)_perf\b")
_RANK = re.compile(r"#\s+Rank\s+(?P<rank>\d{1,7})\s(?:.*?\bPid\s+\d+\s)?\s*on\s+(?P<host>\S+)\s.*")
_LIBRARY = re.compile(r"#.*\bnccl-library=(?P<number>\d{1,9})\b.*")
_OPERATIONS = {
    "all_reduce_perf": "allreduce",
    "all_gather_perf": "allgather",
    "alltoall_perf": "alltoall",
    "alltoallv_perf": "alltoallv",
    "broadcast_perf": "bcast",
    "gather_perf": "gather",
    "reduce_perf": "reduce",
    "reduce_scatter_perf": "reduce_scatter_block",
    "scatter_perf": "scatter",
    "sendrecv_perf": "sendrecv",
    "hypercube_perf": "hypercube",
}
_WIDTHS = {
    "int8": 1,
    "char": 1,
    "uint8": 1,
    "int": 4,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "half": 2,
    "float16": 2,
    "float": 4,
    "float32": 4,
    "double": 8,
    "float64": 8,
    "bfloat16": 2,
    "f8e4m3": 1,
    "f8e5m2": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
}
"""Bytes of an element by the name of its type."""

_UNKNOWN = "N/A"
_UNNAMED = "nccl-tests"
"""The test of a table that does not name it."""

_NEEDED = ("size", "count", "type", "time")
_OLD_NAMES = {"bytes": "size", "N": "count", "op": "redop"}
"""Columns of versions up to 2.4, whose times are in ms, and their names since."""

OUT_OF_PLACE = ("size", "count", "type", "redop", "root", "time", "algbw", "busbw")
"""Columns of a table without the times in place."""

_IN_PLACE = "in-place "
_CLOSE = 0.1  # of a ratio of two bandwidths, which are printed with two decimals
_MIN_EXACT_BANDWIDTH = 1.0  # GB/s: two decimals of smaller values are too imprecise


@dataclass
class _Table(Results):
    """``twice`` is a rank that is listed on two hosts, or -1; ``old`` is up to NCCL 2.4."""

    hosts: dict[int, str] = field(default_factory=dict)
    twice: int = -1
    library: str = ""
    old: bool = False


class _Tables(Tables[_Table]):
    def __init__(self, source: Source, wanted: Wanted) -> None:
        super().__init__(source, wanted)
        self._test = ""
        self._hosts: dict[int, str] = {}
        self._twice = -1
        self._library = ""

    def begins(self, text: str) -> _Table | None:
        if tested := _TEST.search(text):
            self._test = tested[0]
        if not text.startswith("#"):
            return None
        if names := _columns(text.split()):
            return _Table(
                self._test or _UNNAMED,
                self.source.line,
                columns=names,
                hosts=self._hosts,
                twice=self._twice,
                library=self._library,
                old="res" in names,
            )
        self._comment(text.strip())
        return None

    def takes(self, table: _Table, text: str) -> None:
        words = text.split()
        if _is_row(words, table):
            words = _with_reduction(words, table)
            if table.old:
                words = _in_microseconds(words, table.columns)
            # old versions print an error, which rounding makes larger than 0
            wrong = dict(zip(table.columns, words, strict=False)).get("wrong", "0")
            table.take(self.source, words, valid=wrong in ("0", _UNKNOWN))

    def sweep(self, table: _Table) -> Sweep:
        if table.twice >= 0:
            raise self.source.fail(f"rank {table.twice} is listed on two hosts", table.line)
        if table.hosts:  # the lines of some ranks follow the head of the table
            table.ranks = max(table.hosts) + 1
        p = self.ranks(table)
        table.rows = [(line, row) for line, row in table.rows if row["time"] != _UNKNOWN]
        op = _operation(self.source, table, p, self.wanted.ops)
        samples = table.samples(
            self.source, lambda row: {"op": op, "p": p, **_timed(self.source, row)}, repeats=True
        )
        header: Members = {"memory": "device"}
        if table.library:
            header["mpi"] = {"library": f"NCCL {table.library}"}
        return Sweep(
            "collective",
            "operation out of place, mean of the ranks",
            p,
            samples,
            header=header,
            hosts=table.hosts,
        )

    def _comment(self, line: str) -> None:
        """Take the host of a rank, or the version of the library."""
        if line.startswith("# Using devices"):
            self._hosts, self._twice = {}, -1
        elif rank := _RANK.fullmatch(line):
            host, number = printable(rank["host"], 200), int(rank["rank"])
            if self._hosts.setdefault(number, host) != host:
                self._twice = number
        elif version := _LIBRARY.fullmatch(line):
            self._library = _version(int(version["number"]))


def _version(number: int) -> str:
    """Return the version of NCCL as it is written: 22703 is 2.27.3 (since 2.9)."""
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def reader_of(
    source: Source, wanted: Wanted, test: str, hosts: dict[int, str], version: int
) -> tuple[_Tables, _Table]:
    """Return the reader of a table that is not in a log, and the table, still empty.

    Parameters
    ----------
    source, wanted
        The file, and what it may lack.
    test
        Name of the program.
    hosts
        Host of each rank.
    version
        Of NCCL, as a number; 0: not known.
    """
    hosts = {rank: printable(host, 200) for rank, host in hosts.items()}
    ranks = max(hosts, default=-1) + 1
    table = _Table(test or _UNNAMED, 1, ranks or None, list(OUT_OF_PLACE), hosts=hosts)
    table.library = _version(version) if version else ""
    return _Tables(source, wanted), table


def _with_reduction(tokens: list[str], table: Results) -> list[str]:
    """Return the words of a row; old versions leave the column empty if there is none."""
    index = table.columns.index("redop") if "redop" in table.columns else 0
    if not index or len(tokens) != len(table.columns) - 1 or parse_number(tokens[index]) is None:
        return tokens
    return [*tokens[:index], "none", *tokens[index:]]


def _is_row(tokens: list[str], table: Results) -> bool:
    """Whether a line is a row, be it a damaged one; a date of a log is none."""
    first = tokens[0] if tokens else ""
    return first.isdecimal() or (first[:1].isdecimal() and len(tokens) == len(table.columns))


def _in_microseconds(words: list[str], columns: Sequence[str]) -> list[str]:
    """Return the words of a row with times in ms."""
    return [
        f"{1000 * number:.9g}"
        if name.endswith("time") and (number := parse_number(word)) is not None
        else word
        for name, word in zip(columns, words, strict=False)
    ]


def _columns(tokens: list[str]) -> list[str]:
    """Return the names of the columns if these words are they; those in place get a prefix."""
    if tokens[:3] not in (["#", "size", "count"], ["#", "bytes", "N"]):
        return []
    names = []
    for token in tokens[1:]:
        plain = token.lstrip("#")
        plain = _OLD_NAMES.get(plain, plain)
        names.append(f"{_IN_PLACE}{plain}" if plain in names else plain)
    return names if len(set(names)) == len(names) and set(_NEEDED) <= set(names) else []


def _timed(source: Source, row: Row) -> Sample:
    """Return the bytes and times of a row."""
    if row.get(f"{_IN_PLACE}time") == _UNKNOWN:
        del row[f"{_IN_PLACE}time"]
    sample = cells(source, row, bytes="size", seconds="time", in_place=f"{_IN_PLACE}time")
    if sample["seconds"] > 0 and sample["bytes"] / sample["seconds"] < 1e17:
        sample["rate"] = sample["bytes"] / sample["seconds"]
    return sample | {"bytes": _block(source, row)}


def _block(source: Source, row: Row) -> int:
    """Return the bytes of one rank's block, as in the call: the table's size is of all blocks."""
    if row["type"] not in _WIDTHS:
        data_types = ", ".join(_WIDTHS)
        raise source.fail(
            f"'{printable(row['type'], 40)}' is not a data type of nccl-tests",
            hint=f"data types: {data_types}",
        )
    return source.whole(row["count"], "count") * _WIDTHS[row["type"]]


def _operation(source: Source, table: Results, p: int, given: Sequence[str]) -> str:
    """Return the operation, from the file, as implied by the columns, or the one that is given."""
    if table.test in _OPERATIONS:
        return _OPERATIONS[table.test]
    if not table.rows:
        raise source.fail("the table has no times", table.line)
    line, row = table.rows[0]
    reduces = row.get("redop", "none") != "none"
    rooted = parse_number(row.get("root", "-1")) != -1
    if reduces and rooted:
        return "reduce"
    if reduces and p > 1 and (ratio := _bus_over_algorithm(table)) is not None:
        if abs(ratio * p / (p - 1) - 2) < _CLOSE:
            return "allreduce"
        if "root" in row and abs(ratio * p / (p - 1) - 1) < _CLOSE:  # old tables do not have it
            return "reduce_scatter_block"
    if len(given) == 1:
        return given[0]
    raise source.fail("the file does not name the operation", line, hint="say it: --op alltoall")


def _bus_over_algorithm(table: Results) -> float | None:
    """Return bus bandwidth over algorithm bandwidth, for rows with enough digits."""
    for _, row in reversed(table.rows):
        bus, algorithm = (parse_number(row.get(key, "")) for key in ("busbw", "algbw"))
        if bus and algorithm and min(bus, algorithm) >= _MIN_EXACT_BANDWIDTH:
            return bus / algorithm
    return None


IMPORTER = of_tables(
    "nccl-tests",
    "the output of nccl-tests",
    rb"^# +(?:size +count|bytes +N) +type .*\btime +algbw +busbw\b",
    _Tables,
)
