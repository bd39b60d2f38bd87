"""Output of the Intel MPI Benchmarks, IMB-MPI1: PingPong, Sendrecv, Bcast and the others.

Several tables may stand in one file. PingPong alone is a point-to-point run; anything else makes a
collective one, in which the time is that of the slowest rank (``t_max``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.formats.imported_sweep import Sweep, cut_short, decoded_lines, micro, whole
from isochrone.formats.source import MAX_RANKS, Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run

__all__ = ["IMPORTER", "read"]


_BENCHMARK: Final = re.compile(r"#\s*Benchmarking\s+(?P<name>\S+)\s*")
_PROCESSES: Final = re.compile(r"#\s*#processes\s*=\s*(?P<count>\d{1,9})\b.*")
_IDLE: Final = re.compile(r"#\s*\(\s*(\d{1,9}) additional process(?:es)? waiting.*")
_GROUPS: Final = re.compile(r"#\s*\(\s*\d+ groups of \d+ processes.*")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z_]{1,30}")
_TIMES: Final = ("t_max[usec]", "t[usec]", "t_avg[usec]")
_MOVED: Final = {"pingpong": 1, "pingping": 1, "sendrecv": 2, "exchange": 4}
"""Messages that a rank sends and receives in the time that is printed (IMB User Guide)."""


@dataclass
class _Table:
    """One table: benchmark, processes, columns, rows."""

    name: str
    line: int
    p: int = 0
    idle: int = 0
    grouped: bool = False
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def read(path: Path) -> Run:
    """Read the output of IMB-MPI1 as a sweep.

    Raises
    ------
    InputError
        If it cannot be read, holds no table, or a number is wrong; names the line.
    """
    source = Source.open(path, "imb")
    warnings: list[dict[str, Any]] = []
    tables, cut = _tables(source, warnings)
    kept = [t for t in tables if t.rows and not t.grouped and _NAME.fullmatch(t.name)]
    left_out = sorted({t.name for t in tables if t.rows and t not in kept})
    if left_out:
        names = printable(", ".join(left_out), 200)
        text = f"tables of several groups at once, or not from IMB-MPI1, were left out: {names}"
        warnings.append({"code": "benchmarks-ignored", "text": text})
    if not kept:
        raise source.fail("it holds no table of IMB-MPI1 that can be read")
    alone = {table.name for table in kept} == {"PingPong"} and all(t.p == 2 for t in kept)
    sweep = Sweep(
        experiment="point-to-point" if alone else "collective",
        seconds_are="half a round trip" if alone else "operation, slowest rank",
        ranks=max(table.p + table.idle for table in kept),
        samples=_samples(source, kept, alone=alone),
        options={"mode": "blocking"} if alone else {},
        warnings=warnings, cut=cut,
    )  # fmt: skip
    return sweep.run(source)


def _tables(source: Source, warnings: list[dict[str, Any]]) -> tuple[list[_Table], bool]:
    """Find the tables; other text is left out."""
    lines = decoded_lines(source)
    tables: list[_Table] = []
    for number, text in enumerate(lines, start=1):
        text = text.strip()
        if found := _BENCHMARK.fullmatch(text):
            tables.append(_Table(found["name"], number))
        elif not tables:
            continue
        elif text.startswith("#"):
            _comment(source, tables[-1], text, number)
        elif tables[-1].columns and text[:1].isdigit():
            cells = text.split()
            try:
                _check(source, tables[-1], cells, number)
            except InputError as error:
                if number < len(lines):
                    raise
                cut_short(error, number, warnings)
                return tables, True
            tables[-1].rows.append((number, cells))
    return tables, False


def _comment(source: Source, table: _Table, text: str, line: int) -> None:
    """Take the number of processes or the names of the columns."""
    if found := _PROCESSES.fullmatch(text):
        table.p = int(found["count"])
    elif found := _IDLE.fullmatch(text):
        table.idle = int(found[1])
    elif _GROUPS.fullmatch(text):
        table.grouped = True
    elif text.startswith(("#bytes", "#repetitions")) and not table.rows:
        table.columns = text.replace("#", " ").split()
        if not 1 <= table.p + table.idle <= MAX_RANKS and not table.grouped:
            raise source.fail("a table without a number of processes", line)


def _check(source: Source, table: _Table, cells: list[str], line: int) -> None:
    if len(cells) != len(table.columns):
        raise source.fail(f"{len(cells)} columns, not {len(table.columns)}", line)
    row = dict(zip(table.columns, cells, strict=True))
    for key in ("bytes", "repetitions"):
        if key in row:
            whole(source, row[key], f"#{key}", line)
    for key in _TIMES:
        if key in row:
            micro(source, row[key], key, line)


def _samples(source: Source, tables: list[_Table], *, alone: bool) -> list[dict[str, Any]]:
    """Return a sample a row; the same benchmark with as many processes is another repetition."""
    samples: list[dict[str, Any]] = []
    seen: dict[tuple[str, int], int] = {}
    for table in tables:
        of = next((key for key in _TIMES if key in table.columns), "")
        if not of:
            raise source.fail("a table without times", table.line)
        repeat = seen[table.name, table.p] = seen.get((table.name, table.p), -1) + 1
        sizes: set[int] = set()
        for line, cells in table.rows:
            row = dict(zip(table.columns, cells, strict=True))
            sample = _sample(source, table, row, of, line, alone=alone)
            if sample["bytes"] in sizes:
                raise source.fail(f"{sample['bytes']} bytes appear twice in one table", line)
            sizes.add(sample["bytes"])
            samples.append({**sample, "repeat": repeat})
    return samples


def _sample(
    source: Source, table: _Table, row: dict[str, str], of: str, line: int, *, alone: bool
) -> dict[str, Any]:
    size = whole(source, row.get("bytes", "0"), "#bytes", line)
    seconds = micro(source, row[of], of, line)
    op = table.name.lower()
    sample: dict[str, Any] = {"i": 0, "j": 1} if alone else {"op": op, "p": table.p}
    sample |= {"bytes": size, "seconds": seconds}
    if "repetitions" in row:
        sample["n"] = whole(source, row["repetitions"], "#repetitions", line)
    if not alone and seconds > 0 and size / seconds < 1e17:
        sample["rate"] = _MOVED.get(op, 1) * size / seconds
    return sample


IMPORTER: Final = Importer(holds="sweep", read=read)
