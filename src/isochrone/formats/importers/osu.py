"""Output of the OSU Micro-Benchmarks: latency, bandwidth, message rate and collectives.

``osu_latency``, ``osu_bw``, ``osu_bibw``, ``osu_put_latency``, ``osu_get_latency``, ``osu_mbw_mr``
and blocking collectives, plain, with ``-f`` (min, max, iterations) and with ``-z`` (percentiles).
A file may hold other text around the tables, and several tables of one kind. OSU does not say how
many ranks a collective had.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from isochrone.base.text import listed, printable
from isochrone.formats.imported_sweep import Results, Row, Sample, Sweep, lines_of, samples_of
from isochrone.formats.source import MAX_RANKS, Source
from isochrone.runfile.columns import MAX_SECONDS
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run

_TITLE = re.compile(
    r"# OSU MPI(?:-[\w-]+)?[ _](?P<name>.+?) Test(?: v(?P<version>\S+))?(?: by isochrone,"
    r" (?P<ranks>\d{1,9}) ranks)?\s*"
)
_PAIRS = re.compile(r"# \[ pairs: (\d{1,9}) \] \[ window size: (\d{1,9}) \]\s*")
_COLLECTIVES = {
    "Barrier": "barrier", "Broadcast": "bcast", "Reduce": "reduce", "Allreduce": "allreduce",
    "Gather": "gather", "Scatter": "scatter", "Allgather": "allgather",
    "All-to-All Personalized Exchange": "alltoall", "Reduce_scatter": "reduce_scatter",
    "Reduce_scatter_block": "reduce_scatter_block", "Scan": "scan", "Allgatherv": "allgatherv",
    "Gatherv": "gatherv", "Scatterv": "scatterv",
    "All-to-Allv Personalized Exchange": "alltoallv",
}  # fmt: skip
_PAIR_TESTS = {
    "Latency": ("blocking", 1, "half a round trip"),
    "Bandwidth": ("nonblocking", 64, "message of a window"),
    "Bi-Directional Bandwidth": ("bidirectional", 64, "exchange of a window in both directions"),
    "Put Latency": ("put", 1, "put until complete"),
    "Get Latency": ("get", 1, "get until complete"),
}
_MANY = "Multiple Bandwidth / Message Rate"
_NAMES = {
    "size": "size", "latency": "mean", "avg latency": "mean", "min latency": "min",
    "max latency": "max", "iterations": "n", "p50 tail lat": "median", "bandwidth": "rate",
    "mb/s": "rate", "messages/s": "messages", "validation": "validation",
}  # fmt: skip


@dataclass
class _Table(Results):
    pairs: int = 0
    window: int = 0


def read(path: Path, ranks: int | None = None) -> Run:
    """Read the output of OSU benchmarks as a sweep.

    Parameters
    ----------
    path
        What the benchmark printed.
    ranks
        Number of ranks of a collective, if not in the file.

    Raises
    ------
    InputError
        If it cannot be read, holds no table or one of several kinds, or a number is wrong.
    """
    source = Source.open(path, "osu")
    tables = [table for table in _tables(source) if table.rows]
    if not tables:
        raise source.fail("the file has no table of the OSU benchmarks")
    kinds = {_kind(source, table) for table in tables}
    if len(kinds) > 1:
        tests = ", ".join(sorted({printable(table.name, 40) for table in tables}))
        raise source.fail(
            f"the file has several tests: {tests}", hint="split them into separate files"
        )
    kind = kinds.pop()
    if kind == "collective":
        sweep = _collectives(source, tables, ranks)
    elif kind == _MANY:
        sweep = _many(source, tables)
    else:
        sweep = _pair(source, tables, kind)
    return sweep.run(source)


def _kind(source: Source, table: _Table) -> str:
    """Return the kind of a test; those of one kind become one run."""
    name = table.name
    if name.endswith(" Latency") and name.removesuffix(" Latency") in _COLLECTIVES:
        return "collective"
    if name == _MANY or name in _PAIR_TESTS:
        return name
    raise source.fail(
        f"the test '{printable(name, 60)}' is not supported", table.line,
        hint=f"supported: {', '.join(_PAIR_TESTS)}, {_MANY}, blocking collectives",
    )  # fmt: skip


def _tables(source: Source) -> list[_Table]:
    """Find the tables; what is not part of one is text of other programs and left out."""
    tables: list[_Table] = []
    for text in lines_of(source):
        if title := _TITLE.fullmatch(text.strip()):
            ranks = int(title["ranks"]) if title["ranks"] else None
            tables.append(_Table(_named(title["name"]), source.line, ranks))
        elif tables and text.startswith("#"):
            _comment(tables[-1], text)
        elif tables and tables[-1].columns and text.strip()[:1].isdigit():
            # anything else is a warning of the MPI library, or what a batch system adds
            tables[-1].take(source, text.split(), _check)
    failed = [line for table in tables for line, row in table.rows if _is_wrong(row)]
    if failed:
        lines = listed([str(line) for line in failed], 3)
        source.warn("invalid-data", f"rows with wrong data are left out: lines {lines}")
    for table in tables:
        table.rows = [(line, row) for line, row in table.rows if not _is_wrong(row)]
    return tables


def _named(name: str) -> str:
    """Return the name of a test in the spelling of this file; versions differ in upper case."""
    latency = [f"{one} Latency" for one in _COLLECTIVES]
    known = {one.lower(): one for one in (*_PAIR_TESTS, _MANY, *latency)}
    return known.get(name.lower(), name)


def _is_wrong(row: Row) -> bool:
    """Whether the benchmark found wrong data in the messages of a row."""
    return row.get("validation", "Pass").lower() != "pass"


def _comment(table: _Table, text: str) -> None:
    """Take the names of the columns, or the numbers of pairs and messages in flight."""
    if found := _PAIRS.fullmatch(text):
        table.pairs, table.window = int(found[1]), int(found[2])
    names = [name.strip() for name in re.split(r"\s{2,}", text.lstrip("# ").strip())]
    keys = [_NAMES.get(name.partition("(")[0].rstrip().lower(), "") for name in names]
    if keys[0] in ("size", "mean") and not table.rows:
        table.columns = [key or name for key, name in zip(keys, names, strict=True)]


def _check(source: Source, row: Row) -> None:
    for key in ("mean", "min", "max", "median", "rate"):
        if key in row:
            source.number(row[key], f"'{key}'")
    source.whole(row.get("size", "0"), "size")


def _timed(source: Source, row: Row, of: str) -> Sample:
    """Return size, seconds and repetitions of a row with times."""
    sample = {
        "bytes": source.whole(row.get("size", "0"), "size"),
        "seconds": source.micro(row[of], of),
    }
    if of == "median" and "mean" in row:
        sample["mean"] = source.micro(row["mean"], "mean")
    if "n" in row:
        sample["n"] = source.whole(row["n"], "Iterations")
    return sample


def _need(source: Source, tables: list[_Table], *keys: str) -> None:
    for table in tables:
        for key in keys:
            if key not in table.columns:
                raise source.fail("the table lacks columns of its test", table.line)


def _pair(source: Source, tables: list[_Table], kind: str) -> Sweep:
    mode, window, meaning = _PAIR_TESTS[kind]
    both = 2 if mode == "bidirectional" else 1
    rated = "Bandwidth" in kind
    _need(source, tables, "size", "rate" if rated else "mean")
    medians = not rated and all("median" in table.columns for table in tables)

    def make(table: _Table, row: Row) -> Sample:
        ends = {"i": 0, "j": 1}
        if not rated:
            return ends | _timed(source, row, "median" if medians else "mean")
        return ends | _rated(source, row, both)

    samples = samples_of(source, tables, make)
    options = {"mode": mode, "window": window}
    return Sweep("point-to-point", meaning, 2, samples, options, means=not medians)


def _rated(source: Source, row: Row, times: int) -> Sample:
    """Return a sample of a row with MB/s (10**6, as OSU has it); ``times`` messages at a time."""
    size = source.whole(row["size"], "size")
    rate = source.number(row["rate"], "'MB/s'") * 1e6
    if not size or not 0 < rate <= 1e18 or times * size / rate > MAX_SECONDS:
        raise source.fail("the bandwidth is not possible")
    return {"bytes": size, "seconds": times * size / rate, "rate": rate}


def _many(source: Source, tables: list[_Table]) -> Sweep:
    """Read message rates of many pairs; the pairs are rank k and rank k + pairs."""
    _need(source, tables, "size", "rate")
    pairs = tables[0].pairs
    if not 1 <= pairs <= MAX_RANKS // 2 or any(table.pairs != pairs for table in tables):
        raise source.fail("the number of pairs is missing or ambiguous", tables[0].line)

    def make(table: _Table, row: Row) -> Sample:
        return {"p": 2 * pairs, "pairs": pairs} | _rated(source, row, pairs)

    samples = samples_of(source, tables, make)
    cuts = [{"i": k, "j": k + pairs} for k in range(pairs)]
    options = {"pairing": "halves", "window": tables[0].window}
    words = "message of a window, mean of the pairs"
    return Sweep("bisection", words, 2 * pairs, samples, options, cuts)


def _collectives(source: Source, tables: list[_Table], ranks: int | None) -> Sweep:
    _need(source, tables, "mean")
    slowest = all("max" in table.columns for table in tables)
    medians = not slowest and all("median" in table.columns for table in tables)
    key = "max" if slowest else "median" if medians else "mean"
    for table in tables:
        if table.ranks is None and ranks is None:
            raise source.no_ranks("the file does not contain the number of ranks", table.line)
        count = table.ranks or ranks or 0
        if not 1 <= count <= MAX_RANKS:
            raise source.fail(f"the number of ranks {count} is not valid", table.line)

    def make(table: _Table, row: Row) -> Sample:
        op = _COLLECTIVES[table.name.removesuffix(" Latency")]
        timed = _timed(source, row, key)
        return {"op": op, "p": table.ranks or ranks, "root": 0} | timed

    samples = samples_of(source, tables, make)
    words = "operation, slowest rank" if slowest else "operation, mean of the ranks"
    most = max(table.ranks or ranks or 0 for table in tables)
    options = {"sync": "barrier"}
    return Sweep("collective", words, most, samples, options, means=not medians)


IMPORTER = Importer(holds="sweep", read=read, takes_ranks=True)
