"""Output of the Intel MPI Benchmarks: IMB-MPI1, P2P, EXT, RMA, NBC, IO and MT; also ``-multi``.

PingPong of two ranks is a point-to-point run. PingPong of several groups of two ranks, and tables
with only a message rate, Uniband and Biband, are bisections. Anything else is a collective, with
the time of the slowest rank (``t_max``).
"""

import re
from dataclasses import dataclass, replace

from isochrone.formats.imported_sweep import PAIR, Results, Row, Sample, Sweep, cells, halves
from isochrone.formats.log import Tables, of_tables
from isochrone.formats.source import MAX_FILE_RANKS, Source, parse_number

_BENCHMARK = re.compile(r"#?\s*Benchmarking\s+(?P<name>\S+)\s*")
_PROCESSES = re.compile(
    r"#\s*\(?\s*#processes\s*=\s*(?P<count>\d{1,9})\b(?:.*\bthreads\D*(?P<threads>\d{1,6}))?.*"
)
_IDLE = re.compile(r"#\s*\(\s*(\d{1,9}) additional process(?:es)? waiting.*")
_GROUPS = re.compile(r"#\s*\(\s*(\d{1,7}) groups of (\d{1,7}) processes.*")
_MODE = re.compile(r"#\s*MODE:\s*(\S+).*")
_NAME = re.compile(r"[A-Za-z][\w-]{1,40}")
_TIMES = ("t_pure[usec]", "t_max[usec]", "t[usec]", "t_avg[usec]")
_MEMBERS = {
    "bytes": "bytes",
    "n": "repetitions",
    "overall": "t_ovrl[usec]",
    "compute": "t_CPU[usec]",
}
"""Columns of the members of a sample."""

_RATE = "Msg/sec"
_GROUP = "Group"
_BANDS = {"uniband": 1, "biband": 2}
"""Messages of a pair at a time."""

_WINDOW = 64
"""Messages in flight in Uniband and Biband (IMB User Guide)."""

_MOVED = {"pingpong": 1, "pingping": 1, "sendrecv": 2, "exchange": 4}
"""Messages that a rank sends and receives in the time that is printed (IMB User Guide)."""


@dataclass
class _Table(Results):
    """``size`` is the number of processes of a group, ``idle`` those that wait."""

    size: int = 0
    idle: int = 0
    groups: int = 1
    variant: str = ""


class _Tables(Tables[_Table]):
    _last: _Table | None = None

    def begins(self, text: str) -> _Table | None:
        last, text = self._last, text.strip()
        if text[:1] not in ("#", "B"):
            return None
        if found := _BENCHMARK.fullmatch(text):
            self._last = _Table(found["name"], self.source.line)
        elif last and last.rows and _MODE.fullmatch(text):  # the same one, in two modes
            self._last = replace(
                last, line=self.source.line, columns=[], rows=[], invalid=[], faults=[]
            )
        else:
            return None
        return self._last

    def takes(self, table: _Table, text: str) -> None:
        text = text.strip()
        words = text.split()
        if "#repetitions" in text and not table.rows:
            table.columns = text.replace("#", " ").split()
        elif text.startswith("#"):
            _comment(table, text)
        elif table.columns and text[:1].isdigit():
            defects = "defects" in table.columns and parse_number(words[-1]) not in (0.0, None)
            table.take(self.source, words, valid=not defects)

    def sweep(self, table: _Table) -> Sweep:
        op = table.test.lower() + table.variant
        if not _NAME.fullmatch(table.test):
            raise self.source.fail(f"'{table.test}' is no benchmark of IMB", table.line)
        table.size = table.size or self.ranks(table)
        if table.size * table.groups + table.idle > MAX_FILE_RANKS:
            raise self.source.fail("the number of processes is not possible", table.line)
        table.ranks = table.size
        of = next((key for key in _TIMES if key in table.columns), "")
        if not of and _RATE in table.columns and op in _BANDS:
            return _band(self.source, table, _BANDS[op])
        if not of:
            raise self.source.fail("the table has no times", table.line)
        return _timed(self.source, table, op, of)


def _comment(table: _Table, text: str) -> None:
    """Take the number of processes."""
    if match := _PROCESSES.fullmatch(text):
        table.size = int(match["count"])
        if match["threads"]:
            table.variant = f"-{match['threads']}-threads"
    elif match := _IDLE.fullmatch(text):
        table.idle = int(match[1])
    elif match := _GROUPS.fullmatch(text):
        table.groups, table.size = int(match[1]), int(match[2])
    elif (match := _MODE.fullmatch(text)) and not table.rows:
        table.variant = "-" + match[1].lower()


def _timed(source: Source, table: _Table, op: str, of: str) -> Sweep:
    pair = op == "pingpong" and table.size == 2
    pairs = table.groups if op == "multi-pingpong" and table.size == 2 else 0
    of_curve = (
        PAIR if pair else {"p": 2 * pairs, "pairs": pairs} if pairs else {"op": op, "p": table.size}
    )
    slowest = _slowest(source, table, of) if _GROUP in table.columns else {}

    def make(row: Row) -> Sample:
        timed = {"bytes": 0} | cells(source, row, seconds=of, **_MEMBERS)
        size, seconds = timed["bytes"], slowest.get(timed["bytes"]) or timed["seconds"]
        sample: Sample = {**of_curve, **timed, "seconds": seconds}
        if not pair and seconds > 0 and size / seconds < 1e17:
            sample["rate"] = (pairs or _MOVED.get(op, 1)) * size / seconds
        return sample

    if pair:
        return Sweep(
            "point-to-point",
            "half a round trip",
            2,
            table.samples(source, make),
            {"mode": "blocking"},
        )
    words = "operation, slowest rank" + ", without computation" * (of == "t_pure[usec]")
    ranks = table.size * table.groups + table.idle
    if pairs:
        return Sweep(
            "bisection",
            "half a round trip, slowest pair",
            ranks,
            table.samples(source, make),
            {"pairing": "neighbours", "mode": "blocking"},
            [{"i": 2 * k, "j": 2 * k + 1} for k in range(pairs)],
        )
    return Sweep("collective", words, ranks, table.samples(source, make))


def _slowest(source: Source, table: _Table, of: str) -> dict[int, float]:
    """Return the time of the slowest group for each size; the table keeps one row of each."""
    slowest: dict[int, float] = {}
    rows = []
    for source.line, row in table.rows:
        size = source.whole(row.get("bytes", "0"), "#bytes")
        if size not in slowest:
            rows.append((source.line, row))
        slowest[size] = max(slowest.get(size, 0.0), source.micro(row[of], of))
    table.rows = rows
    return slowest


def _band(source: Source, table: _Table, directions: int) -> Sweep:
    """Read message rates, the sum over all pairs; bytes are counted anew: a Mbyte may be 2**20."""
    pairs = table.size // 2
    if not pairs:
        raise source.fail("the table has too few processes", table.line)

    def make(row: Row) -> Sample:
        size = source.whole(row["bytes"], "#bytes")
        messages = source.number(row[_RATE], f"'{_RATE}'")
        if not 0 < messages < 1e15 or size * messages > 1e18:
            raise source.fail("the message rate is not possible")
        sample = {
            "p": 2 * pairs,
            "pairs": pairs,
            "bytes": size,
            "seconds": directions * pairs / messages,
            "n": source.whole(row["repetitions"], "#repetitions"),
        }
        return sample | ({"rate": size * messages} if size else {})

    samples = table.samples(source, make)
    options = {"pairing": "halves", "window": _WINDOW}
    words = "message of a window, mean of the pairs"
    if directions == 2:
        words = "exchange of a window in both directions, mean of the pairs"
        options["mode"] = "bidirectional"
    return Sweep("bisection", words, table.size + table.idle, samples, options, halves(pairs))


IMPORTER = of_tables(
    "imb",
    "the output of the Intel MPI Benchmarks",
    rb"Intel ?\(R\) MPI Benchmarks|^# MPI Thread Environment|^# *\(? *#processes *="
    rb"|^# *\( *\d+ groups of|^ *#bytes +#repetitions",
    _Tables,
)
