"""Output of the OSU Micro-Benchmarks, versions 3 to 7: messages, one-sided, all collectives.

Plain, with ``-f`` (min, max, iterations), with ``-z`` (percentiles), with ``-c`` (validation).
OSU does not say how many ranks a collective had.
"""

import re
from dataclasses import dataclass, field

from isochrone.base.log_text import plain
from isochrone.base.operations import OPERATIONS
from isochrone.formats.imported_sweep import (
    PAIR,
    Results,
    Row,
    Sample,
    Sweep,
    cells,
    halves,
    rated,
)
from isochrone.formats.log import Tables, of_tables
from isochrone.formats.osu_access import ABOUT_ACCESS
from isochrone.formats.source import Source, parse_number
from isochrone.runfile.importer import Wanted
from isochrone.sweep.overlap import MEMBERS

_SIGNATURE = rb"^# OSU (?:MPI|\wCCL)"
_OF_MESSAGES = re.compile(r"(?<!Avg )Latency")
"""Tests of collectives, and newer ones of messages, print ``Avg Latency``."""

_TITLE = re.compile(
    r"# OSU (?:MPI|NCCL|RCCL|XCCL|HCCL)(?P<device>-[\w-]+)?[ _](?P<name>.+?) Test"
    r"(?: v(?P<version>\S+))?(?: by isochrone, (?P<ranks>\d{1,9}) ranks)?\s*",
    re.IGNORECASE,
)
_TOPOLOGY = re.compile(r"Time took to create topology graph:")
"""Before a test of neighbours; ``osu_neighbor_alltoallw`` (7.4) has the title of the other one."""

_ACCESS = re.compile(r"# (Window creation|Synchronization): (MPI_Win_\S+)\s*")
_PAIRS = re.compile(r"# \[ pairs: (\d{1,9}) \] \[ window size: (\d{1,9}) \]\s*")
_INIT = re.compile(r"nprocs: (\d{1,7}), min: [\d.]+ ms, max: ([\d.]+) ms, avg: [\d.]+ ms\s*")
_COLLECTIVES = {
    "broadcast": "bcast",
    **{operation.title.lower().replace("_", " "): name for name, operation in OPERATIONS.items()},
    **{f"all to all{kind}": f"alltoall{kind}" for kind in ("", "v", "w")},
}
"""Operations by their names in titles."""

_TITLES = {
    "latency": "latency",
    "bw": "bandwidth",
    "bibw": "bi directional bandwidth",
    **{op: f"{title} latency" for title, op in _COLLECTIVES.items()},
}
"""Titles of the tests that a table without a title may be of."""

_MESSAGES = {
    "": "",
    "partitioned": "",
    "multi threaded": "_mt",
    "multi process": "_mp",
    "put": "",
    "get": "",
    "accumulate": "acc",
    "get accumulate": "get_acc",
    "fetch and op": "fop",
    "compare and swap": "cas",
}
"""What precedes ``Latency`` or ``Bandwidth`` in a title, and its part of the program's name."""

_ONE_SIDED = (
    "put",
    "get",
    "accumulate",
    "get accumulate",
    "fetch and op",
    "compare and swap",
)
_BOTH_WAYS = "exchange of a window in both directions"
_TAILS = {
    "bi directional bandwidth": ("bibw", "bidirectional", _BOTH_WAYS),
    "bandwidth": ("bw", "nonblocking", "message of a window"),
    "latency": ("latency", "blocking", "half a round trip"),
}
_WINDOW = 64
"""Messages in flight by default."""

_NAMES = {
    "size": "size",
    "latency": "mean",
    "avg latency": "mean",
    "min latency": "min",
    "max latency": "max",
    "iterations": "n",
    "p50 tail lat": "median",
    "bandwidth": "rate",
    "bi-bandwidth": "rate",
    "mb/s": "rate",
    "messages/s": "messages",
    "validation": "validation",
    "overall": "overall",
    "pure comm.": "mean",
    "min comm.": "min",
    "max comm.": "max",
    "compute": "compute",
    "coll. init": "post",
    "mpi_wait": "complete",
    "p50 tail bw": "median rate",
}
_UNNAMED = (["size", "mean"], ["size", "mean", "min", "max", "n"])
"""Columns that some versions name, and those that their rows have with ``-f``."""


@dataclass
class _Table(Results):
    kind: str = ""
    mode: str = ""
    meaning: str = ""
    pairs: int = 0
    window: int = 0
    header: dict[str, str] = field(default_factory=dict)
    access: dict[str, str] = field(default_factory=dict)


class _Tables(Tables[_Table]):
    def __init__(self, source: Source, wanted: Wanted) -> None:
        super().__init__(source, wanted)
        self._neighborhood = False
        self._untitled = wanted.formats and not re.search(
            _SIGNATURE, plain(source.data), re.MULTILINE
        )

    def begins(self, text: str) -> _Table | None:
        title = _TITLE.fullmatch(text.strip()) if text[:1] == "#" else None
        if _TOPOLOGY.match(text):
            self._neighborhood = True
        if title is None:
            return self._pasted(text) if self._untitled else None
        self._untitled = False
        name = title["name"]
        if self._neighborhood and "neighborhood" not in name.lower():
            name = f"Neighborhood {name}"
        self._neighborhood = False
        table = _titled(name, self.source.line)
        if title["ranks"]:
            table.ranks = int(title["ranks"])
        if title["device"]:
            table.header = {"memory": "device"}
        return table

    def _pasted(self, text: str) -> _Table | None:
        """Begin a table without a title: below names of columns, or of two numbers a line.

        Only if the user says that the file is of OSU. The test is the one that is wanted, or the
        one of messages that has such columns.
        """
        columns = _columns(text)
        row = len(numbers := text.split()) == 2 and None not in map(parse_number, numbers)
        names = columns[:2] in (["size", "mean"], ["size", "rate"])
        if not (names or row):
            return None
        self._untitled = False
        usual = "bw" if "rate" in columns else "latency" if _OF_MESSAGES.search(text) else ""
        test = self.wanted.tests[0] if self.wanted.tests else usual
        title = _TITLES.get(test.removeprefix("osu_").lower())
        if title is None:
            raise self.source.fail(
                "the table does not name its test",
                self.source.line,
                hint="say it: --test osu_bcast",
            )
        table = _titled(title, self.source.line)
        what = "rate" if title.endswith("bandwidth") else "mean"
        table.columns = columns if names else ["size", what]
        return table

    def takes(self, table: _Table, text: str) -> None:
        words = text.split()
        if table.columns and words and words[0][0].isdigit():
            if table.columns == _UNNAMED[0] and not table.rows and len(words) == len(_UNNAMED[1]):
                table.columns = _UNNAMED[1]
            right = "validation" not in table.columns or words[-1].lower() == "pass"
            table.take(self.source, words, valid=right)
        elif init := _INIT.fullmatch(text):
            table.ranks, table.columns = int(init[1]), ["milliseconds"]
            table.take(self.source, [init[2]])
        elif sizes := _PAIRS.fullmatch(text.strip()):
            table.pairs, table.window = int(sizes[1]), int(sizes[2])
        elif access := _ACCESS.fullmatch(text.strip()):
            option, names = ABOUT_ACCESS[access[1]]
            if value := next((v for v in names if names[v] == access[2]), None):
                table.access[option] = value
        elif not table.rows and _columns(text)[0] in ("size", "mean", "overall"):
            table.columns = _columns(text)
        # anything else is a warning of the MPI library, or what a batch system adds

    def sweep(self, table: _Table) -> Sweep:
        if table.kind == "collective":
            return self._collective(table)
        if table.kind == "many":
            return self._many(table)
        if table.kind == "pair":
            return self._pair(table)
        raise self.source.fail(f"the test '{table.test}' is not supported", table.line)

    def _need(self, table: _Table, *keys: str) -> None:
        if any(key not in table.columns for key in keys):
            raise self.source.fail("the table lacks columns of its test", table.line)

    def _timed(self, row: Row, of: str) -> Sample:
        """Return size, seconds and repetitions of a row with times; a barrier has no size."""
        others = {member: member for member in ("n", *MEMBERS)}
        mean = {"mean": "mean"} if of == "median" else {}
        return {"bytes": 0} | cells(self.source, row, bytes="size", seconds=of, **mean, **others)

    def _rated(self, row: Row, messages: int) -> Sample:
        """Return a sample of a row with MB/s (10**6, as OSU has it)."""
        rate = self.source.number(row["rate"], "'MB/s'") * 1e6
        return rated(self.source, self.source.whole(row["size"], "size"), rate, messages)

    def _pair(self, table: _Table) -> Sweep:
        directions = 2 if table.mode.startswith("bidirectional") else 1
        is_rated = "rate" in table.columns
        self._need(table, "size", "mean" if "latency" in table.test else "rate")
        median = not is_rated and "median" in table.columns

        def make(row: Row) -> Sample:
            if is_rated:
                return PAIR | self._rated(row, directions)
            return PAIR | self._timed(row, "median" if median else "mean")

        samples = table.samples(self.source, make)
        options = {"mode": table.mode, "window": _WINDOW if is_rated else 1, **table.access}
        return Sweep(
            "point-to-point",
            table.meaning,
            2,
            samples,
            options,
            means=not median,
            header=dict(table.header),
        )

    def _many(self, table: _Table) -> Sweep:
        """Read rates or latencies of many pairs; the pairs are rank k and rank k + pairs."""
        is_rated = table.window != 1 or "rate" in table.columns
        self._need(table, "size", "rate" if is_rated else "mean")
        table.ranks = 2 * table.pairs or table.ranks
        pairs = self.ranks(table, least=2) // 2
        table.ranks = 2 * pairs

        def make(row: Row) -> Sample:
            timed = self._rated(row, pairs) if is_rated else self._timed(row, "mean")
            timed.setdefault("rate", pairs * timed["bytes"] / timed["seconds"])
            return {"p": 2 * pairs, "pairs": pairs} | timed

        samples = table.samples(self.source, make)
        meaning = "message of a window" if is_rated else "half a round trip"
        return Sweep(
            "bisection",
            f"{meaning}, mean of the pairs",
            2 * pairs,
            samples,
            {"pairing": "halves", "window": table.window},
            halves(pairs),
            header=dict(table.header),
        )

    def _collective(self, table: _Table) -> Sweep:
        key = next((key for key in ("max", "median") if key in table.columns), "mean")
        init = table.columns == ["milliseconds"]
        if not init:
            self._need(table, key)
        ranks = self.ranks(table)

        def make(row: Row) -> Sample:
            timed = (
                {"bytes": 0, "seconds": self.source.number(row["milliseconds"], "'max'") / 1e3}
                if init
                else self._timed(row, key)
            )
            return {"op": table.mode, "p": ranks, "root": 0} | timed

        samples = table.samples(self.source, make)
        words = "operation, slowest rank" if key == "max" else "operation, mean of the ranks"
        if "overall" in table.columns:
            words += ", without computation"
        return Sweep(
            "collective",
            table.meaning or words,
            ranks,
            samples,
            {"sync": "barrier"},
            means=key != "median",
            header=dict(table.header),
        )


def _columns(text: str) -> list[str]:
    """Return the names of the columns, if a line has names; comments are of one column."""
    names = [name.strip() for name in re.split(r"\s{2,}|\t", text.lstrip("# ").strip())]
    return [_NAMES.get(name.partition("(")[0].rstrip().lower(), name) for name in names]


def _titled(name: str, line: int) -> _Table:
    """Return a table of the test of a title; versions differ in upper case, dashes and ``_``."""
    words = " ".join(word for word in re.split(r"[\s_-]+", name.lower()) if word != "persistent")
    persistent = "persistent" in name.lower()
    if words == "multiple bandwidth / message rate":
        return _Table("osu_mbw_mr", line, kind="many")
    if words == "multi latency":
        return _Table("osu_multi_lat", line, kind="many", window=1)
    if words == "init":
        return _Table(
            "osu_init", line, kind="collective", mode="init", meaning="operation, slowest rank"
        )
    for tail, (program, mode, meaning) in _TAILS.items():
        before = words.removesuffix(tail).strip()
        if words.endswith(tail) and before in _MESSAGES:
            return _messages(before, program, mode, meaning, line, persistent=persistent)
    kind = ("i" if "non blocking " in words else "") + ("neighbor_" if "neighbor" in words else "")
    base = re.sub(r"\b(?:non blocking|neighbou?r(?:hood)?) ", "", words)
    base = base.removesuffix(" latency").removesuffix(" personalized exchange")
    if base not in _COLLECTIVES:
        return _Table(name, line)
    op = f"{kind}{_COLLECTIVES[base]}" + "_persistent" * persistent
    return _Table(f"osu_{op}", line, kind="collective", mode=op)


def _messages(
    before: str, program: str, mode: str, meaning: str, line: int, *, persistent: bool
) -> _Table:
    short = _MESSAGES[before]
    if short.startswith("_"):
        test = f"osu_{program}{short}"
    else:
        test = "_".join(filter(None, ("osu", short or before, program)))
    if persistent:
        test += "_persistent"
        mode = "bidirectional_persistent" if mode == "bidirectional" else "persistent"
    elif before == "partitioned":
        mode = before
    if before in _ONE_SIDED:
        name = before.replace(" ", "_")
        meaning = f"{before} until complete" if program == "latency" else f"{before}, {meaning}"
        mode = f"{mode}_{name}" if mode == "bidirectional" else name
    elif before:
        meaning = f"{meaning}, {before}"
    return _Table(test, line, ranks=2, kind="pair", mode=mode, meaning=meaning)


IMPORTER = of_tables("osu", "the output of an OSU benchmark", _SIGNATURE, _Tables)
