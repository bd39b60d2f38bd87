"""Time-independent traces of SimGrid: a list of the files of the ranks, or a file with all ranks.

A line is ``rank action arguments``. Computation is in operations, of which a host does
`DEFAULT_SPEED` in a second. The trace has no times of calls.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from isochrone.applications.traces.trace import Trace
from isochrone.base.operations import DESCRIBED, ROOTED
from isochrone.formats.calls_seen import Calls, traced
from isochrone.formats.program import DEFAULT_SPEED
from isochrone.formats.source import MAX_FILE_RANKS, Source, parse_number
from isochrone.formats.trace import TraceFormat

_WIDTHS = {"0": 8, "1": 4, "2": 1, "3": 2, "4": 8, "5": 4, "6": 1}
"""Bytes of SimGrid's datatypes: double, int, char, short, long, float, byte."""

_NAMES = {"reducescatter": "reduce_scatter_block"}
_LINE = re.compile(r"(\d{1,9})\s+([A-Za-z_]+)\s*(.*)")


def read(paths: Sequence[Path]) -> Trace:
    """Read the files of all ranks.

    Raises
    ------
    InputError
        If one is missing, or a line is no action; names the file and the line.
    """
    ranks: dict[int, _Reading] = {}
    for path in paths:
        source = Source.open(path, "simgrid-ti")
        for file, number, action, arguments in _actions(source):
            if number >= MAX_FILE_RANKS:
                raise file.fail(f"rank {number} is not valid")
            reading = ranks.setdefault(number, _Reading(file))
            reading.source = file
            reading.take(action, arguments.split())
    last = max(ranks, default=-1)
    if len(ranks) != last + 1:
        missing = next(rank for rank in range(last + 1) if rank not in ranks)
        raise source.fail(f"the trace has a rank {last}, but no rank {missing}")
    readings = [ranks[rank] for rank in range(last + 1)]
    if not any(reading.events for reading in readings):
        raise source.fail("the file has no action of MPI")
    for reading in readings:
        reading.check_peers(last)
    tail = [reading.tail(reading.now) for reading in readings]
    return traced(readings, [tuple(range(last + 1))], tail, paths[0].resolve().stem)


def _actions(source: Source, *, listing: bool = True) -> Iterator[tuple[Source, int, str, str]]:
    """Yield file, rank, action and arguments of the lines of a file.

    With ``listing``, a line may instead name the file of a rank, which has actions only.
    """
    for line in source.each(source.data.decode("latin-1").splitlines()):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if match := _LINE.fullmatch(text):
            yield source, int(match[1]), match[2].lower(), match[3]
            continue
        path = source.path.parent / text
        if not listing or len(text) > 255 or not text.isprintable() or not path.is_file():
            kinds = "neither an action nor a file of the trace" if listing else "not an action"
            raise source.fail(kinds)
        yield from _actions(Source.open(path, "simgrid-ti"), listing=False)


class _Reading(Calls):
    """The actions of one rank, line by line."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source, self.now, self.width = source, 0.0, 1
        self.leave(0.0)

    def check_peers(self, last: int) -> None:
        """Refuse messages to ranks that the trace does not have."""
        for event in self.events:
            if max(event.peer, event.root) > last:
                raise self.source.fail(f"rank {max(event.peer, event.root)} of {last + 1}")

    def take(self, action: str, words: list[str]) -> None:
        """Understand one action."""
        name = _NAMES.get(action, action)
        if action == "init":
            self.width = 8 if words else 1  # SimGrid's default: doubles of MPE, bytes of TAU
        elif action in ("compute", "sleep"):
            self.now += self._number(words, 0) / (DEFAULT_SPEED if action == "compute" else 1)
        elif action in ("send", "isend", "recv", "irecv"):
            self._enter()
            peer = int(self._number(words, 0))
            if action in ("isend", "irecv"):
                self.begun((action, peer, words[1] if len(words) > 1 else "", len(self.events)))
            self.keep(action, peer, self._bytes(words, 2, 3))
        elif action == "sendrecv":
            self._enter()
            self.keep("irecv", int(self._number(words, 3)), self._bytes(words, 2, 5))
            self.keep("isend", int(self._number(words, 1)), self._bytes(words, 0, 4))
            self.keep("wait")
        elif action in ("wait", "waitall"):
            self._enter()
            self.done(list(self.open)[:1] if action == "wait" else list(self.open), 0.0)
        elif name.removesuffix("v") in DESCRIBED:
            self._enter()
            self._collective(name.removesuffix("v"), words)
        elif action not in ("finalize", "test", "location") and not action.startswith("comm_"):
            raise self.source.fail(f"the action '{action[:40]}' is not known")

    def _collective(self, op: str, words: list[str]) -> None:
        if op == "barrier":
            self.keep(op)
            return
        at = {"bcast": 1, "reduce": 2, "gather": 2, "scatter": 2}.get(op)
        root = int(self._number(words, at)) if at is not None and len(words) > at else 0
        kind = {"bcast": 2, "reduce": 3, "gather": 3, "scatter": 3, "alltoall": 2, "allgather": 2}
        of_type = len(words) - 1 if op == "reduce_scatter_block" else kind.get(op, 2)
        self.keep(op, size=self._bytes(words, 0, of_type), root=root if op in ROOTED else -1)

    def _enter(self) -> None:
        self.enter(self.now)
        self.leave(self.now)

    def _bytes(self, words: list[str], count: int, kind: int) -> float:
        width = _WIDTHS.get(words[kind], self.width) if len(words) > kind else self.width
        return self._number(words, count) * width

    def _number(self, words: list[str], at: int) -> float:
        value = parse_number(words[at]) if len(words) > at else None
        if value is None or not 0 <= value <= 1e18:
            raise self.source.fail("a number is expected")
        return value


TRACE = TraceFormat(read=read, says="a trace of SimGrid", signature=re.compile(rb"\A0 init\b"))
