"""A performance log of the mmpi program, complete or with minor damage.

One line per pair: ``host_i i host_j j mean stddev``, both times in µs, the mean being that of whole
round trips. Line ends, tabs, blank lines and the order of the pairs do not matter. Missing header
fields, missing pairs and a last line that was cut give warnings; anything that would make the
numbers doubtful is refused with the number of the line.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isochrone.base.table import TableBuilder
from isochrone.base.text import printable
from isochrone.formats.imported_map import Pairs, pairs_once
from isochrone.formats.source import MAX_FILE_RANKS, Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run

DEFAULT_BYTES = 64
"""The program's own default of MsgLen."""
FIELDS = ("host", "rank", "host", "rank", "mean", "standard deviation")
UNKNOWN_HOST = "?"

_HEADER = {
    "Testing Hostname": re.compile(r"Testing\s+Hostname\s*:\s*(.*\S)"),
    "Processors": re.compile(r"\bProcessors\s*:?\s*([0-9]{1,15})(?![0-9])"),
    "MsgLen": re.compile(r"\bMsgLen\s*:?\s*([0-9]{1,15})(?![0-9])"),
    "Repeats": re.compile(r"\bRepeats\s*:?\s*([0-9]{1,15})(?![0-9])"),
}
_RANK = re.compile(r"[0-9]{1,15}")


def read(path: Path) -> Run:
    """Read a log of the mmpi program as a latency map.

    Raises
    ------
    InputError
        If it cannot be read, is not such a log, or contradicts itself; names the line.
    """
    log = _Log.open(path, "mmpi")
    log.read()
    return log.pairs().run(log)


@dataclass
class _Log(Source):
    """Reads the lines of one log; errors name the line."""

    def __post_init__(self) -> None:
        self.header: dict[str, str] = {}
        self.hosts: dict[int, str] = {}
        self.pair_rows = TableBuilder()
        self.rows = 0
        self.top = (-1, 0)  # the highest rank so far, and its line
        self.decimals = 2

    def read(self) -> None:
        """Take all lines."""
        data = self.data.removeprefix(b"\xef\xbb\xbf")
        ended = data.endswith((b"\n", b"\r"))
        lines = data.splitlines()
        last = max((n for n, raw in enumerate(lines, start=1) if raw.strip()), default=0)
        for raw in self.each(lines):
            text = _decode(raw)
            fields = text.split()
            if not fields:
                continue
            if fields[0].startswith("#"):
                self.comment(text)
            elif self.line == last and self.is_cut(fields, ended):
                self.cut_short()
            else:
                self.row(fields)

    def comment(self, text: str) -> None:
        """Take the header fields that a line beginning with # may hold."""
        for name, pattern in _HEADER.items():
            match = pattern.search(text)
            if match and self.header.setdefault(name, match[1]) != match[1]:
                raise self.fail(
                    f"'{name}' appears again with a different value",
                    hint="import logs separately, one per file",
                )

    def is_cut(self, fields: list[str], ended: bool) -> bool:
        """Whether the last line was truncated by a full disk or a killed job.

        An editor may have ended the cut line, so too few columns count as cut even then, unless all
        rows were there before. Without an end of line a number may lack its last digits, and reads
        well all the same: it must have as many decimals as the row before.
        """
        size = int(self.header.get("Processors", MAX_FILE_RANKS))
        if len(fields) < len(FIELDS):
            return not ended or self.rows < size * (size + 1) // 2
        return not ended and len(fields) == len(FIELDS) and _decimals(fields[-1]) != self.decimals

    def row(self, fields: list[str]) -> None:
        """Take one pair of ranks, in either order, or one rank with itself."""
        if len(fields) != len(FIELDS):
            raise self.fail(
                f"the line has {len(fields)} columns, not {len(FIELDS)}",
                hint="they are: " + ", ".join(FIELDS),
            )
        i, j = self.rank(fields[1], fields[0]), self.rank(fields[3], fields[2])
        mean = self.time(fields[4], "mean")
        stddev = self.time(fields[5], "standard deviation")
        self.decimals = _decimals(fields[5])
        self.rows += 1
        if i == j:
            if mean or stddev:
                self.warn(
                    "diagonal-not-zero",
                    f"line {self.line}: the time of rank {i} with itself is not 0",
                )
            return
        ends = {"i": min(i, j), "j": max(i, j)}
        self.pair_rows.add({**ends, "mean": mean, "stddev": stddev, "line": self.line})

    def rank(self, text: str, host: str) -> int:
        """Read the number of a rank, which must be on one host throughout."""
        if not _RANK.fullmatch(text):
            raise self.fail(f"{printable(text, 40)!r} is not the number of a rank")
        rank = int(text)
        self.same_host(self.hosts, rank, host)
        if rank > self.top[0]:
            self.top = (rank, self.line)
        return rank

    def time(self, text: str, label: str) -> float:
        """Read a time in µs as seconds."""
        value = self.number(text, f"the {label}")
        # the exponent is put in the text, so that 23.20 becomes the double nearest to 2.32e-05;
        # abs, because of -0.00
        return abs(value) / 1e6 if "e" in text.lower() else abs(float(f"{text}e-6"))

    def pairs(self) -> Pairs:
        """Return what was understood, once all lines were taken."""
        size, nbytes, repeats = self.counts()
        columns = pairs_once(self, self.pair_rows)
        for key, value in (("bytes", nbytes), ("n", repeats)):
            if value is not None:
                columns[key] = np.full(len(columns["i"]), value, dtype=np.int64)
        host = self.header.get("Testing Hostname")
        return Pairs(
            size=size,
            hosts={r: name for r, name in self.hosts.items() if name != UNKNOWN_HOST},
            columns=columns,
            repeats=repeats,
            extra={} if host is None or host == UNKNOWN_HOST else {"host": host},
        )

    def counts(self) -> tuple[int, int, int | None]:
        """Return the ranks, bytes and repeats of the header, or what is taken for them."""
        consequences = {
            "Testing Hostname": "the name of the tested machine is unknown",
            "Processors": f"the rows show {self.top[0] + 1} ranks",
            "MsgLen": f"assumed to be {DEFAULT_BYTES} bytes, the default of the program",
            "Repeats": "the number of repetitions is unknown",
        }
        for name, consequence in consequences.items():
            if name not in self.header:
                self.warn("header-field-missing", f"the header has no '{name}': {consequence}")
        size = int(self.header.get("Processors", self.top[0] + 1))
        if size > MAX_FILE_RANKS:
            raise self.fail(f"{size} processors exceed the limit of {MAX_FILE_RANKS}")
        if self.top[0] >= size:
            problem = f"the file has rank {self.top[0]}, but its header {size} processors"
            raise self.fail(problem, self.top[1])
        repeats = int(self.header.get("Repeats", 0))
        return size, int(self.header.get("MsgLen", DEFAULT_BYTES)), repeats or None


def _decode(raw: bytes) -> str:
    """Read a line as UTF-8, or as Latin-1, in which any byte is a character."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _decimals(text: str) -> int:
    """Count the digits after the decimal point."""
    return len(text.partition(".")[2])


IMPORTER = Importer(
    holds="latency-map",
    read=read,
    says="a log of mmpi",
    signature=re.compile(rb"^# Processors: +[0-9]+ MsgLen", re.MULTILINE),
)
