"""Traces of DUMPI (SST), as ``dumpi2ascii`` writes them: a text file of each rank.

A call is a line with the time at which it is entered, one for each argument, and a line with the
time at which it returns.
"""

import re
from collections.abc import Sequence
from functools import partial

from isochrone.formats.rank_calls import RankCalls, read_ranks
from isochrone.formats.source import Source
from isochrone.formats.trace import TraceFormat

_TIME = re.compile(
    r"(MPI\w+) (entering|returning) at walltime (\d{1,12})\.(\d{1,9}), cputime .* in thread (\d+)\."
)
_ARGUMENT = re.compile(r"(\w+) (\w+)=(?:\[(.*)\]|(\S+).*)")
_WORLD = "2"
"""MPI_COMM_WORLD."""

_BYTES = dict(enumerate((1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1), start=2))
"""Bytes of DUMPI's datatypes from MPI_CHAR to MPI_PACKED, on 64 bits (dumpi/common/constants.h)."""

_WITHOUT_BUFFERS = ("wait", "init", "comm_", "finalize")


class _Calls(RankCalls):
    form = "dumpi"

    def __init__(self, source: Source, rank: int, ranks: int) -> None:
        super().__init__(source, rank, ranks)
        self._first: int | None = None
        self._began = 0.0
        self._arguments: dict[str, tuple[str, str]] = {}
        self._worlds = {_WORLD}

    def line(self, text: str) -> None:
        if moment := _TIME.fullmatch(text):
            if moment[5] != "0":
                self.said["threads"] += moment[2] == "entering"
                return
            nanoseconds = int(moment[3]) * 10**9 + int(moment[4].ljust(9, "0"))
            self._first = nanoseconds if self._first is None else self._first
            time = (nanoseconds - self._first) / 1e9
            if moment[2] == "entering":
                self._began, self._arguments = time, {}
            else:
                self._returned(moment[1], time)
        elif argument := _ARGUMENT.fullmatch(text):
            value = argument[4] if argument[3] is None else argument[3]
            self._arguments[argument[2]] = argument[1], value

    def _returned(self, name: str, time: float) -> None:
        if name == "MPI_Comm_dup" and self._value("oldcomm") in self._worlds:
            self._worlds.add(self._value("newcomm"))
        fields = [
            "",
            *[""] * (not name.lower().startswith(tuple(f"mpi_{w}" for w in _WITHOUT_BUFFERS))),
        ]
        for key, (kind, value) in self._arguments.items():
            if key == "recvcount" and "recvtag" in self._arguments:
                fields.append("")  # the second buffer of MPI_Sendrecv
            if key not in ("commrank", "commsize"):
                fields.append(self._field(key, kind, value))
        self.take(name, [*fields, ""], self._began, time)

    def _value(self, key: str) -> str:
        return self._arguments.get(key, ("", ""))[1]

    def _field(self, key: str, kind: str, value: str) -> str:
        """Return an argument as `RankCalls` takes it; of counts, their mean."""
        if kind == "MPI_Datatype":
            size = _BYTES.get(self.whole(value))
            self.said["types"] += size is None
            return f"{value},{size or 1},{size or 1}"
        if kind == "MPI_Comm":
            return f"{value},{self.rank},{self.ranks}" if value in self._worlds else f"{value},0,0"
        if kind == "int" and key.endswith("counts"):
            counts = [self.whole(word.strip()) for word in value.split(",") if word.strip()]
            return str(round(sum(counts) / max(1, len(counts))))
        return value

    def completed(self, call: str) -> Sequence[object]:
        """Return what was waited for: all, or those whose places are said."""
        several = "requests" in self._arguments
        words = self._value("requests" if several else "request").split(",")
        requests = [self.whole(word.strip()) for word in words if word.strip()]
        places = {"waitany": "index", "waitsome": "indices"}.get(call)
        if places is None:
            return requests
        chosen = [word.strip() for word in self._value(places).split(",") if word.strip()]
        return [requests[k] for k in map(self.whole, chosen) if 0 <= k < len(requests)]


TRACE = TraceFormat(
    read=partial(read_ranks, reading=_Calls),
    files="ranks",
    says="a trace of DUMPI",
    signature=re.compile(rb"^MPI_Init\w* entering at ", re.MULTILINE),
)
