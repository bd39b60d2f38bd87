"""The calls of one rank in the order of a trace, with its open requests."""

from collections import Counter
from collections.abc import Sequence

from isochrone.applications.traces.ordering import in_order, with_sources
from isochrone.applications.traces.trace import Event, Trace

_SAID = {
    "parted": "waits for some of the open requests are treated as waits for all",
    "tested": "messages were completed by tests; the trace does not record when",
    "elsewhere": "left out: calls in communicators whose ranks are not known",
    "places": "operations on several processors are put one after the other",
    "threads": "left out: calls of threads other than the first",
    "types": "datatypes whose size is not known count as one byte",
    "nonblocking": "nonblocking collective operations are treated as blocking",
}
"""Warnings by what `Calls.said` counts."""


class Calls:
    """What one rank did so far.

    Computation is what is between calls. A call that is not kept (a test, a question for the
    number of ranks, a wait after which something is still open) lengthens no computation, and
    parts none.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.open: dict[object, None] = {}
        self.said: Counter[str] = Counter()
        self._gap = 0.0
        self._end: float | None = None

    def enter(self, begin: float) -> None:
        """Take down that a call begins, in seconds."""
        if self._end is not None:
            self._gap += max(0.0, begin - self._end)
        self._end = begin

    def leave(self, end: float) -> None:
        """Take down that it ends."""
        self._end = end

    def keep(
        self,
        op: str,
        peer: int = -1,
        size: float = 0.0,
        root: int = -1,
        members: int = 0,
        seconds: float = 0.0,
    ) -> int:
        """Keep the call that is going on; return its place in `events`."""
        self.events.append(Event(op, peer, size, root, members, self._gap, seconds))
        self._gap = 0.0
        return len(self.events) - 1

    def begun(self, request: object) -> None:
        """Take down a request; one that is open still was completed by a test."""
        if request in self.open:
            self.said["tested"] += 1
            self.done([request], 0.0)
        self.open[request] = None

    def done(self, requests: Sequence[object], seconds: float) -> None:
        """Record completed requests; a wait is added when none is open any more."""
        completed = [self.open.pop(r) for r in requests if r in self.open]
        if completed and not self.open:
            self.keep("wait", seconds=seconds)
        elif completed:
            self.said["parted"] += 1

    def tail(self, end: float) -> float:
        """Return the computation after the last call."""
        return self._gap + max(0.0, end - self._end) if self._end is not None else 0.0


def traced(
    ranks: Sequence[Calls], groups: list[tuple[int, ...]], tail: list[float], name: str
) -> Trace:
    """Return the calls of all ranks as a trace."""
    counts = sum((calls.said for calls in ranks), Counter[str]())
    warnings = [f"{counts[key]} {text}" for key, text in _SAID.items() if counts[key]]
    events = [in_order(of_rank) for of_rank in with_sources([calls.events for calls in ranks])]
    return Trace(events, groups, tail, name, warnings)
