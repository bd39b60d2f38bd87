"""Output of the Intel MPI Benchmarks, IMB-MPI1: PingPong, Sendrecv, Bcast and the others.

A file may have several tables. PingPong alone is a point-to-point run; anything else makes a
collective one, in which the time is that of the slowest rank (``t_max``).
"""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from isochrone.base.text import printable
from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep, lines_of, samples_of
from isochrone.formats.source import MAX_RANKS, Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run

_BENCHMARK = re.compile(r"#\s*Benchmarking\s+(?P<name>\S+)\s*")
_PROCESSES = re.compile(r"#\s*#processes\s*=\s*(?P<count>\d{1,9})\b.*")
_IDLE = re.compile(r"#\s*\(\s*(\d{1,9}) additional process(?:es)? waiting.*")
_GROUPS = re.compile(r"#\s*\(\s*\d+ groups of \d+ processes.*")
_NAME = re.compile(r"[A-Za-z][A-Za-z_]{1,30}")
_TIMES = ("t_max[usec]", "t[usec]", "t_avg[usec]")
_MOVED = {"pingpong": 1, "pingping": 1, "sendrecv": 2, "exchange": 4}
"""Messages that a rank sends and receives in the time that is printed (IMB User Guide)."""


@dataclass
class _Table(Results):
    ranks: int = 0
    idle: int = 0
    grouped: bool = False


def read(path: Path) -> Run:
    """Read the output of IMB-MPI1 as a sweep.

    Raises
    ------
    InputError
        If it cannot be read, holds no table, or a number is wrong; names the line.
    """
    source = Source.open(path, "imb")
    tables = _tables(source)
    readable = [t for t in tables if t.rows and not t.grouped and _NAME.fullmatch(t.name)]
    left_out = sorted({t.name for t in tables if t.rows and t not in readable})
    if left_out:
        names = printable(", ".join(left_out), 200)
        text = f"tables of several groups at once, or not from IMB-MPI1, were left out: {names}"
        source.warn("benchmarks-ignored", text)
    if not readable:
        raise source.fail("the file has no table of IMB-MPI1")
    alone = {table.name for table in readable} == {"PingPong"} and all(
        t.ranks == 2 for t in readable
    )
    sweep = Sweep(
        experiment="point-to-point" if alone else "collective",
        seconds_are="half a round trip" if alone else "operation, slowest rank",
        ranks=max(table.ranks + table.idle for table in readable),
        samples=samples_of(source, readable, partial(_sample, source, alone)),
        options={"mode": "blocking"} if alone else {},
    )  # fmt: skip
    return sweep.run(source)


def _tables(source: Source) -> list[_Table]:
    """Find the tables; other text is left out."""
    tables: list[_Table] = []
    for text in map(str.strip, lines_of(source)):
        if found := _BENCHMARK.fullmatch(text):
            tables.append(_Table(found["name"], source.line))
        elif not tables:
            continue
        elif text.startswith("#"):
            _comment(source, tables[-1], text)
        elif tables[-1].columns and text[:1].isdigit():
            tables[-1].take(source, text.split(), _check)
    return tables


def _comment(source: Source, table: _Table, text: str) -> None:
    """Take the number of processes or the names of the columns."""
    if found := _PROCESSES.fullmatch(text):
        table.ranks = int(found["count"])
    elif found := _IDLE.fullmatch(text):
        table.idle = int(found[1])
    elif _GROUPS.fullmatch(text):
        table.grouped = True
    elif text.startswith(("#bytes", "#repetitions")) and not table.rows:
        table.columns = text.replace("#", " ").split()
        if not 1 <= table.ranks + table.idle <= MAX_RANKS and not table.grouped:
            raise source.fail("the table has no number of processes")


def _check(source: Source, row: Row) -> None:
    for key in ("bytes", "repetitions"):
        if key in row:
            source.whole(row[key], f"#{key}")
    for key in _TIMES:
        if key in row:
            source.micro(row[key], key)


def _sample(source: Source, alone: bool, table: _Table, row: Row) -> Sample:
    of = next((key for key in _TIMES if key in row), "")
    if not of:
        raise source.fail("the table has no times", table.line)
    size = source.whole(row.get("bytes", "0"), "#bytes")
    seconds = source.micro(row[of], of)
    op = table.name.lower()
    sample: Sample = {"i": 0, "j": 1} if alone else {"op": op, "p": table.ranks}
    sample |= {"bytes": size, "seconds": seconds}
    if "repetitions" in row:
        sample["n"] = source.whole(row["repetitions"], "#repetitions")
    if not alone and seconds > 0 and size / seconds < 1e17:
        sample["rate"] = _MOVED.get(op, 1) * size / seconds
    return sample


IMPORTER = Importer(holds="sweep", read=read)
