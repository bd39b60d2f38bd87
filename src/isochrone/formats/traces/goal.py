"""GOAL, the schedules of LogGOPSim and ATLAHS (text), as `isochrone export` writes them too.

A send or receive is waited for where an operation requires it. What nothing puts in order is taken
in the order of the file: operations on other processors one after the other.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from isochrone.applications.traces.trace import Trace
from isochrone.formats.calls_seen import Calls, traced
from isochrone.formats.source import MAX_FILE_RANKS, Source
from isochrone.formats.trace import TraceFormat

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RANKS = re.compile(r"num_ranks (\d{1,9})")
_RANK = re.compile(r"rank (\d{1,9}) ?\{")
_OPERATION = re.compile(
    r"(?:(?P<label>[A-Za-z]\w*) ?: ?)?"
    r"(?:calc (?P<calc>\d{1,18})|(?P<verb>send|recv) (?P<bytes>\d{1,18}) ?b "
    r"(?:to|from) (?P<peer>-1|\d{1,9}))(?: (?:tag (?:-1|\d+)|(?:cpu|nic) (?P<place>\d+)))*"
)
_REQUIRES = re.compile(r"(?P<label>[A-Za-z]\w*) (?P<start>i?)requires (?P<other>[A-Za-z]\w*)")

_Operation = re.Match[str]


class _Rank(Calls):
    """The operations of one rank."""

    def __init__(self, source: Source, ranks: int) -> None:
        super().__init__()
        self.source, self.ranks = source, ranks
        self.operations: dict[str, _Operation] = {}
        self.required: dict[str, list[str]] = {}
        self.now = 0.0
        self.leave(0.0)

    def take(self, text: str) -> None:
        """Take one line of its block."""
        if operation := _OPERATION.fullmatch(text):
            label = operation["label"] or f" {len(self.operations)}"
            if label in self.operations:
                raise self.source.fail(f"the label '{label[:40]}' is there twice")
            if operation["peer"] and int(operation["peer"]) >= self.ranks:
                raise self.source.fail(f"rank {operation['peer']} of {self.ranks}")
            self.said["places"] += int(operation["place"] or 0) > 0
            self.operations[label] = operation
        elif requires := _REQUIRES.fullmatch(text):
            for label in (requires["label"], requires["other"]):
                if label not in self.operations:
                    raise self.source.fail(f"the label '{label[:40]}' is not known")
            if not requires["start"]:
                self.required.setdefault(requires["label"], []).append(requires["other"])
        else:
            raise self.source.fail("neither an operation nor a dependency")

    def play(self) -> None:
        """Put the operations in order: each after those that it requires, else as in the file."""
        done: set[str] = set()
        for first in self.operations:
            ways = [first]
            while ways:
                label = ways[-1]
                missing = [r for r in self.required.get(label, ()) if r not in done]
                if label in done or not missing:
                    ways.pop()
                    if label not in done:
                        done.add(label)
                        self._operation(label)
                elif missing[0] in ways:
                    raise self.source.fail(f"'{label}' requires itself")
                else:
                    ways.append(missing[0])
        self._wait(list(self.open))

    def _operation(self, label: str) -> None:
        self._wait([r for r in self.required.get(label, ()) if r in self.open])
        operation = self.operations[label]
        if operation["calc"]:
            self.now += int(operation["calc"]) / 1e9
            return
        self.enter(self.now)
        self.leave(self.now)
        self.begun(label)
        peer = int(operation["peer"])
        self.keep(f"i{operation['verb']}", peer, float(operation["bytes"]))

    def _wait(self, labels: Sequence[object]) -> None:
        """Wait for messages; one that is waited for at once was not begun and completed apart."""
        if labels:
            begun = self.tail(self.now) == 0 and len(self.open) == 1
            self.enter(self.now)
            self.leave(self.now)
            if begun:
                self.open.clear()
                self.events[-1] = self.events[-1]._replace(op=self.events[-1].op.removeprefix("i"))
            else:
                self.done(labels, 0.0)


def read(paths: Sequence[Path]) -> Trace:
    """Read a schedule.

    Raises
    ------
    InputError
        If it cannot be read, or contradicts itself; names the line.
    """
    source = Source.open(paths[0], "goal")
    text = source.data.decode("latin-1")
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    ranks: dict[int, _Rank] = {}
    current: _Rank | None = None
    size = 0
    for line in source.each(text.splitlines()):
        words = " ".join(line.partition("//")[0].split())
        if not words:
            continue
        if not size:
            size = int(count[1]) if (count := _RANKS.fullmatch(words)) else 0
            if not 0 < size <= MAX_FILE_RANKS:
                raise source.fail("a schedule begins with num_ranks and a number")
        elif current is not None and words != "}":
            current.take(words)
        elif current is not None:
            current = None
        elif rank := _RANK.fullmatch(words):
            current = ranks.setdefault(int(rank[1]), _Rank(source, size))
        else:
            raise source.fail("a block such as 'rank 0 {' is expected")
    if current is not None:
        raise source.fail("the last block has no end: the file is cut off")
    readings = [ranks.get(rank) or _Rank(source, size) for rank in range(size)]
    if max(ranks, default=-1) >= size:
        raise source.fail(f"there is a rank {max(ranks)} of {size}")
    for reading in readings:
        reading.play()
    if not any(reading.events for reading in readings):
        raise source.fail("the schedule has no messages")
    tail = [reading.tail(reading.now) for reading in readings]
    return traced(readings, [tuple(range(size))], tail, paths[0].resolve().stem)


TRACE = TraceFormat(
    read=read,
    says="a schedule of GOAL",
    signature=re.compile(rb"^num_ranks \d", re.MULTILINE),
)
