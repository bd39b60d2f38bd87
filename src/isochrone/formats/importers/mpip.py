"""Reports of mpiP: time of each rank in MPI, and of each place of the program that calls it.

mpiP prints three digits. Of a report without ``Callsite Time statistics`` (``-d``), the twenty
call sites with most time are known.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from isochrone.base.record import Members
from isochrone.base.text import whole_number
from isochrone.base.units import MAX_SECONDS
from isochrone.formats.imported_recording import recording
from isochrone.formats.imported_sweep import lines_of
from isochrone.formats.source import MAX_FILE_RANKS, Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run

_TITLE = re.compile(r"@--- (?P<title>[A-Za-z/ -]*[A-Za-z])(?P<rest>.*)")
_NOTE = re.compile(r"@ (?P<name>Command|Start time|MPI Task Assignment) *: (?P<value>.*?)\s*")
_STARTED = re.compile(r"(\d{4}) (\d\d) (\d\d) (\d\d:\d\d:\d\d)")
_SITE = re.compile(r"\s*(\d+)\s+0\s+(\S+)(?:\s+(\d+))?\s+(.*?)\s+(\w+)\s*")
_TIMES = "MPI Time"
_CALLS, _TOP, _CONCISE = "Callsite Time statistics", "Aggregate Time", "all callsites"
_SENT = (
    "Callsite Message Sent statistics",
    "Callsite I/O statistics",
    "Callsite RMA statistics",
    "Aggregate Sent Message Size",
)
_UNORDERED = "mpiP counts the calls of each place of the program, and does not record their order"

Key = tuple[str, str]
"""Name of the call, and number of its call site."""


class _Report:
    """What is in a report."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.notes: dict[str, str] = {}
        self.hosts: dict[int, str] = {}
        self.times: dict[int, tuple[float, float]] = {}
        self.calls: dict[int, int] = defaultdict(int)
        self.sites: dict[str, str] = {}
        self.operations: dict[Key, Members] = {}
        self.sent: dict[Key, tuple[int, float]] = {}
        section = ""
        for text in lines_of(source):
            if title := _TITLE.match(text):
                section = title["title"]
                if section == _TIMES and self.times:
                    source.warn("lines-ignored", f"line {source.line}: another report begins")
                    break
                if _CONCISE in title["rest"]:
                    section = ""
            elif note := _NOTE.fullmatch(text):
                self._note(note["name"], note["value"])
            elif words := text.split():
                self._row(section, words, text)
        source.line = 0

    def _note(self, name: str, value: str) -> None:
        rank, _, host = value.partition(" ")
        if name != "MPI Task Assignment":
            self.notes.setdefault(name, value)
        elif (number := whole_number(rank)) is not None:
            self.source.same_host(self.hosts, number, host.strip())

    def _row(self, section: str, words: list[str], text: str) -> None:
        number, count = self.source.number, len(words)
        if section == _TIMES and words[0].isdecimal() and count == 4:
            rank = self.source.whole(words[0], "Task")
            if rank >= MAX_FILE_RANKS:
                raise self.source.fail(f"rank {rank} is not valid")
            self.times[rank] = self._seconds(words[1]), self._seconds(words[2])
        elif section == "Callsites" and (site := _SITE.fullmatch(text)):
            line = f":{site[3]}" if site[3] else ""
            function = f" ({site[4]})" if site[4] != "[unknown]" else ""
            self.sites[site[1]] = f"{site[2]}{line}{function}"
        elif count < 5 or not words[1].isdecimal():
            return
        elif section == _CALLS and count == 9:
            calls = self.source.whole(words[3], "Count")
            if words[2] != "*":
                self.calls[self.source.whole(words[2], "Rank")] += calls
                return
            self._operation(words, calls, calls * self._seconds(words[5], 1e-3), words[4])
        elif section == _TOP and (words[0].lower(), words[1]) not in self.operations:
            calls = self.source.whole(words[5], "Count") if count == 7 else 0
            self._operation(words, calls, self._seconds(words[2], 1e-3), "0")
        elif section in _SENT and (count == 6 or words[2] == "*"):
            at = (2, 4, 3) if count == 6 else (3, 5, 7)  # of number, mean and sum
            mean, total = (number(words[k], "bytes") for k in at[1:])
            self.sent[words[0].lower(), words[1]] = round(mean), total

    def _operation(self, words: list[str], calls: int, seconds: float, longest: str) -> None:
        self.operations[words[0].lower(), words[1]] = {
            "calls": calls,
            "seconds": seconds,
            "most": self._seconds(longest, 1e-3),
        }

    def _seconds(self, text: str, unit: float = 1.0) -> float:
        seconds = self.source.number(text, "a time") * unit
        if seconds > MAX_SECONDS:
            raise self.source.fail(f"{text[:40]!r} is not a time")
        return seconds

    def ranks(self) -> Iterator[Members]:
        """Yield the times of the ranks."""
        for rank, (total, communication) in sorted(self.times.items()):
            yield {
                "rank": rank,
                "seconds": total,
                "communication": communication,
                "computation": max(0.0, total - communication),
                "recording": 0.0,
                "calls": self.calls[rank],
                "threads": 1,
            }

    def rows(self) -> Iterator[Members]:
        """Yield the calls of each call site."""
        for key, times in self.operations.items():
            mean, total = self.sent.get(key, (0, 0.0))
            code = self.sites.get(key[1], f"call site {key[1]}")
            sent = {"bytes": mean, "moved": total, "code": code}
            yield {"op": key[0], "group": -1, "members": 0, **times, **sent}


def read(path: Path) -> Run:
    """Read a report as a recording without the order of the calls.

    Raises
    ------
    InputError
        If it cannot be read, or has no times of all ranks.
    """
    source = Source.open(path, "mpip")
    report = _Report(source)
    if not report.times:
        hint = "run the program without -c in MPIP"
        raise source.fail("the report has no times of the ranks", hint=hint)
    ranks = max(report.times) + 1
    if ranks != len(report.times):
        missing = next(rank for rank in range(ranks) if rank not in report.times)
        raise source.fail(f"the report has times of rank {ranks - 1}, but none of rank {missing}")
    source.warn("no-sequence", _UNORDERED)
    started = _STARTED.fullmatch(report.notes.get("Start time", ""))
    return recording(
        source,
        "recording",
        report.hosts,
        {"rank_time": [*report.ranks()], "operation": [*report.rows()]},
        ranks=ranks,
        command=report.notes.get("Command", ""),
        seconds_are="wall-clock time in calls of MPI, and between them",
        seconds=max(total for total, _ in report.times.values()),
        started="{}-{}-{}T{}Z".format(*started.groups()) if started else "",
    )


IMPORTER = Importer(
    holds="recording",
    read=read,
    says="a report of mpiP",
    signature=re.compile(rb"^@--- (?:MPI Time|Task Time Statistics) \(seconds\)", re.MULTILINE),
)
