"""Output of nccl-tests (and rccl-tests): all_reduce_perf, sendrecv_perf and the others.

Columns go by their names, out-of-place first: ``size count type redop root time algbw busbw
#wrong`` and the last four again in place. Which collective it was is said by newer versions only;
otherwise by what a table leaves no doubt of: the reduction, the root, and bus bandwidth over
algorithm bandwidth. A sample is the time out of place; ``in_place`` is the other one, in seconds.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.base.text import printable
from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep, lines_of
from isochrone.formats.source import MAX_RANKS, Source, parse_number
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run

_TEST = re.compile(r"\b(?P<name>[a-z]+(?:_[a-z]+)*)_perf\b")
_RANK = re.compile(r"#\s+Rank\s+(?P<rank>\d{1,7})\s.*?\bPid\s+\d+\s+on\s+(?P<host>\S+)\s.*")
_LIBRARY = re.compile(r"#.*\bnccl-library=(?P<number>\d{1,9})\b.*")
_OPERATIONS = {
    "all_reduce": "allreduce", "all_gather": "allgather", "alltoall": "alltoall",
    "broadcast": "bcast", "gather": "gather", "reduce": "reduce",
    "reduce_scatter": "reduce_scatter_block", "scatter": "scatter", "sendrecv": "sendrecv",
    "hypercube": "hypercube",
}  # fmt: skip
_WIDTHS = {
    "int8": 1, "char": 1, "uint8": 1, "int": 4, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
    "half": 2, "float16": 2, "float": 4, "float32": 4, "double": 8, "float64": 8, "bfloat16": 2,
    "f8e4m3": 1, "f8e5m2": 1, "fp8_e4m3": 1, "fp8_e5m2": 1,
}  # fmt: skip
"""Bytes of an element by the name of its type."""

_UNKNOWN = "N/A"
_NEEDED = ("size", "count", "type", "time")
_IN_PLACE = "in-place "
_CLOSE = 0.1  # of a ratio of two bandwidths, which are printed with two decimals
_ENOUGH = 1.0  # GB/s: two decimals of smaller values are too imprecise


@dataclass
class _Text:
    """The contents of a file: tables, hosts of the ranks, version of the library."""

    tables: list[Results] = field(default_factory=list)
    hosts: dict[int, str] = field(default_factory=dict)
    library: str = ""


def read(path: Path, ranks: int | None = None) -> Run:
    """Read the output of nccl-tests as a sweep of collective operations.

    Parameters
    ----------
    path
        What the test printed.
    ranks
        Number of ranks, if the file does not list them.

    Raises
    ------
    InputError
        If it cannot be read, holds no table or one of an operation that is not known, or a number
        is wrong.
    """
    source = Source.open(path, "nccl-tests")
    text = _read(source)
    tables = [table for table in text.tables if table.rows]
    if not tables:
        raise source.fail("the file has no table of nccl-tests")
    count = max(text.hosts, default=-1) + 1 or ranks
    if not count:
        raise source.no_ranks("the file does not list its ranks")
    if count > MAX_RANKS:
        raise source.fail(f"the number of ranks {count} is not valid")
    return _run(source, text, _samples(source, tables, count), count)


def _run(source: Source, text: _Text, samples: list[Sample], count: int) -> Run:
    sweep = Sweep(
        experiment="collective", seconds_are="operation out of place, mean of the ranks",
        ranks=count, samples=samples,
    )  # fmt: skip
    found = sweep.run(source)
    found.header["memory"] = "device"
    if text.library:
        found.header["mpi"] = {"library": f"NCCL {text.library}"}
    found.ranks = source.ranks(text.hosts)
    return found


def _read(source: Source) -> _Text:
    """Find the tables; what is not part of one is text of other programs and left out."""
    found, name = _Text(), ""
    for line in lines_of(source):
        words = line.split()
        if tested := _TEST.search(line):
            name = tested["name"]
        if names := _columns(words):
            found.tables.append(Results(name, source.line, columns=names))
        elif words[:1] == ["#"]:
            _comment(source, found, line.strip())
        elif found.tables and _is_row(words, found.tables[-1]):
            found.tables[-1].take(source, _with_reduction(words, found.tables[-1]), _check)
    return found


def _with_reduction(words: list[str], table: Results) -> list[str]:
    """Return the words of a row; old versions leave the column empty if there is none."""
    place = table.columns.index("redop") if "redop" in table.columns else 0
    if not place or len(words) != len(table.columns) - 1 or parse_number(words[place]) is None:
        return words
    return [*words[:place], "none", *words[place:]]


def _is_row(words: list[str], table: Results) -> bool:
    """Whether a line is a row, be it a damaged one; a date of a log is none."""
    first = words[0] if words else ""
    return first.isdecimal() or (first[:1].isdecimal() and len(words) == len(table.columns))


def _columns(words: list[str]) -> list[str]:
    """Return the names of the columns if these words are they; those in place get a prefix."""
    if words[:3] != ["#", "size", "count"]:
        return []
    names = []
    for word in words[1:]:
        plain = word.lstrip("#")
        names.append(f"{_IN_PLACE}{plain}" if plain in names else plain)
    return names if len(set(names)) == len(names) and set(_NEEDED) <= set(names) else []


def _comment(source: Source, found: _Text, line: str) -> None:
    """Take the host of a rank, or the version of the library."""
    if rank := _RANK.fullmatch(line):
        host = printable(rank["host"], 200)
        if found.hosts.setdefault(int(rank["rank"]), host) != host:
            raise source.fail(f"rank {rank['rank']} is listed on two hosts")
        if int(rank["rank"]) >= MAX_RANKS:
            raise source.fail(f"rank {rank['rank']} exceeds the limit of {MAX_RANKS}")
    elif version := _LIBRARY.fullmatch(line):
        digits = int(version["number"])  # 22703 is 2.27.3, as NCCL counts since 2.9
        found.library = f"{digits // 10000}.{digits // 100 % 100}.{digits % 100}"


def _check(source: Source, row: Row) -> None:
    for key in ("size", "count"):
        source.whole(row[key], key)
    for key in ("time", f"{_IN_PLACE}time"):
        if row.get(key, _UNKNOWN) != _UNKNOWN:
            source.micro(row[key], key)


def _samples(source: Source, tables: list[Results], p: int) -> list[Sample]:
    """Return a sample a row; the same test again is another repetition."""
    samples = []
    seen: dict[tuple[str, int], int] = {}
    for table in tables:
        op = _operation(source, table, p)
        for source.line, row in table.rows:
            if row["time"] == _UNKNOWN:
                continue
            sample = {"op": op, "p": p, **_timed(source, row)}
            again = seen[op, sample["bytes"]] = seen.get((op, sample["bytes"]), -1) + 1
            samples.append({**sample, "repeat": again})
    source.line = 0
    return samples


def _timed(source: Source, row: Row) -> Sample:
    """Return the bytes and times of a row."""
    seconds = source.micro(row["time"], "time")
    sample = {"bytes": _block(source, row), "seconds": seconds}
    size = source.whole(row["size"], "size")
    if seconds > 0 and size / seconds < 1e17:
        sample["rate"] = size / seconds
    if row.get(f"{_IN_PLACE}time", _UNKNOWN) != _UNKNOWN:
        sample["in_place"] = source.micro(row[f"{_IN_PLACE}time"], "time")
    return sample


def _block(source: Source, row: Row) -> int:
    """Return the bytes of one rank's block, as in the call: the table's size is of all blocks."""
    if row["type"] not in _WIDTHS:
        known = ", ".join(_WIDTHS)
        raise source.fail(
            f"'{printable(row['type'], 40)}' is not a data type of nccl-tests",
            hint=f"data types: {known}",
        )  # fmt: skip
    return source.whole(row["count"], "count") * _WIDTHS[row["type"]]


def _operation(source: Source, table: Results, p: int) -> str:
    """Return the operation, from the file or as implied by the columns."""
    if table.name in _OPERATIONS:
        return _OPERATIONS[table.name]
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
    raise source.fail(
        "the file does not name the operation", line,
        hint="write the command before the table: '# all_gather_perf'",
    )  # fmt: skip


def _bus_over_algorithm(table: Results) -> float | None:
    """Return bus bandwidth over algorithm bandwidth, for rows with enough digits."""
    for _, row in reversed(table.rows):
        bus, algorithm = (parse_number(row.get(key, "")) for key in ("busbw", "algbw"))
        if bus and algorithm and min(bus, algorithm) >= _ENOUGH:
            return bus / algorithm
    return None


IMPORTER = Importer(holds="sweep", read=read, takes_ranks=True)
