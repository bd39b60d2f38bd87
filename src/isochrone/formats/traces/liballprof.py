"""Traces of liballprof, as LogGOPSim and ATLAHS read them: a text file of each rank.

A line is a call: its name, when it began (µs), its arguments as in C, and when it ended, parted by
colons.
"""

import re
from collections.abc import Sequence
from functools import partial

from isochrone.base.errors import InputError
from isochrone.formats.rank_calls import RankCalls, read_ranks
from isochrone.formats.source import parse_number
from isochrone.formats.trace import TraceFormat

_REQUEST_STEPS = (8, 4)
"""Bytes from one request of an array to the next: a pointer, or an int."""

MAX_MICROSECONDS = 1e18
"""No clock has counted to a later moment."""


class _Calls(RankCalls):
    form = "liballprof"

    def line(self, text: str) -> None:
        name, *fields = text.split(":")
        if not name.startswith("MPI_") or len(fields) < 2:
            raise self.source.fail("not an MPI call")
        begin, end = fields[0], fields[-1]
        begins = not name.startswith("MPI_Init")  # of which only the end counts
        ends = name != "MPI_Finalize"
        self.take(
            name, fields, self._time(begin if begins else end), self._time(end if ends else begin)
        )

    def completed(self, call: str) -> Sequence[object]:
        """Return what was waited for; if a request was moved since, the oldest is meant."""
        still = list(self.open)
        count = self.number(1) if call != "wait" else 1
        first = self.number(2 if call != "wait" else 1)
        if call in ("waitany", "waitsome"):
            return still[:1] if call == "waitany" else still
        return _array(still, first, count) or (still[:count] if call == "waitall" else still[:1])

    def lacks(self, what: str) -> InputError:
        return self.source.fail(
            f"the format of an old liballprof, without {what}",
            hint="trace the program again, with the liballprof of LogGOPSim",
        )

    def _time(self, text: str) -> float:
        value = parse_number(text)
        if value is None or abs(value) > MAX_MICROSECONDS:
            raise self.source.fail("a time is expected")
        return value / 1e6


def _array(requests: Sequence[object], first: int, count: int) -> list[object]:
    """Return which requests are in an array of so many, that begins at an address."""
    matching: list[object] = []
    for step in _REQUEST_STEPS:
        addresses = range(first, first + count * step, step)
        matching = max(matching, [request for request in requests if request in addresses], key=len)
    return matching


TRACE = TraceFormat(
    read=partial(read_ranks, reading=_Calls),
    files="ranks",
    says="a trace of liballprof",
    signature=re.compile(rb"^MPI_\w+:-?[\d.]*:", re.MULTILINE),
)
