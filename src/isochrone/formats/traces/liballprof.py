"""Traces of liballprof, as LogGOPSim and ATLAHS read them: a text file of each rank.

A line is a call: its name, when it began (µs), its arguments as in C, and when it ended, parted by
colons. A datatype is three numbers (which, size, extent), a communicator too (which, rank, size).
"""

import re
from collections.abc import Sequence
from pathlib import Path

from isochrone.applications.traces.trace import Trace
from isochrone.base.errors import InputError
from isochrone.base.operations import DESCRIBED, ROOTED
from isochrone.formats.calls_seen import Calls, traced
from isochrone.formats.source import MAX_FILE_RANKS, Source, parse_number
from isochrone.formats.trace import TraceFormat

_RANK = re.compile(r"(\d+)\.[^.]+$")
_SENDS = ("send", "bsend", "ssend", "rsend")
_REQUEST_STEPS = (8, 4)
"""Bytes from one request of an array to the next: a pointer, or an int."""

_WAITS = ("wait", "waitall", "waitany", "waitsome")

_WHOLE = re.compile("-?[0-9]{1,19}")

MAX_MICROSECONDS = 1e18
"""No clock has counted to a later moment."""


def read(paths: Sequence[Path]) -> Trace:
    """Read the files of all ranks.

    Raises
    ------
    InputError
        If one is missing, or a line is no call; names the file and the line.
    """
    files = _files(paths)
    ranks, tail = [], []
    for rank, path in enumerate(files):
        source = Source.open(path, "liballprof")
        reading = _Reading(source, rank, len(files))
        for line in source.each(source.data.decode("latin-1").splitlines()):
            if line.strip() and not line.startswith("#"):
                reading.take(line.strip())
        if not reading.events and reading.end is None:
            raise source.fail("the file has no MPI calls", hint="is it a file of liballprof?")
        ranks.append(reading)
        tail.append(reading.tail(reading.end) if reading.end is not None else 0.0)
    return traced(ranks, [tuple(range(len(files)))], tail, files[0].resolve().parent.name)


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return the file of each rank, which is the last number of its name."""
    if len(paths) == 1 and paths[0].is_dir():
        rank_files = [path for path in sorted(paths[0].iterdir()) if _RANK.search(path.name)]
        paths = rank_files or paths
    of_rank = {}
    for path in paths:
        match = _RANK.search(path.name)
        rank = int(match[1]) if match else 0 if len(paths) == 1 else None
        if rank is None or rank in of_rank or rank >= MAX_FILE_RANKS:
            raise InputError(
                "the name of the file has no valid rank",
                where=path,
                hint="name files pmpi-trace-rank-0.txt, pmpi-trace-rank-1.txt …",
            )
        of_rank[rank] = path
    missing = next((r for r in range(len(of_rank)) if r not in of_rank), None)
    if missing is not None:
        raise InputError(
            f"the file of rank {missing} is missing",
            where=paths[0],
            hint="give those of all ranks, or their folder",
        )
    return [of_rank[rank] for rank in range(len(of_rank))]


class _Reading(Calls):
    """The calls of one rank, line by line."""

    def __init__(self, source: Source, rank: int, ranks: int) -> None:
        super().__init__()
        self.source, self.rank, self.ranks = source, rank, ranks
        self.end: float | None = None
        self.fields: list[str] = []
        self.seconds = 0.0

    def take(self, text: str) -> None:
        """Understand one line."""
        name, *self.fields = text.split(":")
        if not name.startswith("MPI_") or len(self.fields) < 2:
            raise self.source.fail("not an MPI call")
        call = name.removeprefix("MPI_").lower()
        begin, end = self.fields[0], self.fields[-1]
        if call in ("init", "init_thread"):
            self.leave(self._time(end))
            return
        if call == "finalize":
            self.end = self._time(begin)
            return
        start, stop = self._time(begin), self._time(end)
        self.seconds = stop - start
        self.enter(start)
        try:
            self._call(call)
        except IndexError as error:
            raise self.source.fail("it has too few fields") from error
        self.leave(stop)

    def _call(self, call: str) -> None:
        blocking = call.removeprefix("i")
        if call in _SENDS:
            self._message("send", 4)
        elif call == "recv":
            self._message("recv", 4)
        elif call.startswith("i") and blocking in _SENDS:
            self._message("isend", 4, request=7)
        elif call == "irecv":
            self._message("irecv", 4, request=7)
        elif call in ("sendrecv", "sendrecv_replace"):
            self._send_and_receive(replace=call.endswith("replace"))
        elif call in _WAITS:
            self._wait(call)
        elif call in DESCRIBED:
            self._collective(call, self.fields)
        elif call.startswith("i") and blocking in DESCRIBED:
            self.said["nonblocking"] += 1
            self._collective(blocking, [*self.fields[:-2], self.fields[-1]])

    def _message(self, op: str, peer: int, request: int | None = None) -> None:
        """Take a message: buffer, count, datatype, peer, tag, communicator, request."""
        if not self._everyone(self.fields[peer + 2] if len(self.fields) > peer + 2 else ""):
            self.said["elsewhere"] += 1
            return
        peer_rank = self._int(peer)
        if peer_rank < 0 and (peer_rank != -1 or op in ("send", "isend")):
            return  # MPI_PROC_NULL
        if peer_rank >= self.ranks:
            raise self.source.fail(f"rank {peer_rank} of {self.ranks}")
        if request is not None:
            self.begun(self._int(request))
        self.keep(op, peer_rank, self._bytes(2, 3), seconds=self.seconds)

    def _send_and_receive(self, *, replace: bool) -> None:
        """Take it as both begun and waited for."""
        to, source = (4, 6) if replace else (4, 9)
        size_in = self._bytes(2, 3) if replace else self._bytes(7, 8)
        if not self._everyone(self.fields[source + 2]):
            self.said["elsewhere"] += 1
            return
        peers = (("irecv", self._int(source), size_in), ("isend", self._int(to), self._bytes(2, 3)))
        transfers = [(op, peer, size) for op, peer, size in peers if peer >= 0]
        for op, peer, size in transfers:
            self.keep(op, peer, size)
        if transfers and not self.open:
            self.keep("wait", seconds=self.seconds)

    def _wait(self, call: str) -> None:
        """Take what is waited for; of a request that was moved since, the oldest one is meant."""
        still = list(self.open)
        count = self._int(1) if call != "wait" else 1
        first = self._int(2 if call != "wait" else 1)
        if call == "waitany":
            completed = still[:1]
        elif call in ("wait", "waitall"):
            completed = _array(still, first, count)
            completed = completed or (still[:count] if call == "waitall" else still[:1])
        else:
            completed = still
        self.done(completed, self.seconds)

    def _collective(self, call: str, fields: list[str]) -> None:
        """Take a collective operation: its communicator comes last, a root before it."""
        if not self._everyone(fields[-2]):
            self.said["elsewhere"] += 1
            return
        root = self._whole(fields[-3]) if call in ROOTED and fields[-3].isdecimal() else -1
        self.keep(call, size=self._block(call, fields), root=root, seconds=self.seconds)

    def _block(self, call: str, fields: list[str]) -> float:
        """Return the bytes of a block, from the first datatype and the count before it."""
        kinds = [k for k, text in enumerate(fields[:-2]) if text.count(",") == 2 and k > 1]
        if call == "barrier" or not kinds:
            return 0.0
        at = kinds[-1] if call in ("scatter", "scatterv") else kinds[0]
        if call == "alltoallv":  # buffer, where counts are, counts, where places are, places, type
            counts = [self._whole(c) for c in fields[3].split(",") if c.isdecimal()]
            return sum(counts) / max(len(counts), 1) * self._extent(fields[6])
        if not fields[at - 1].isdecimal():
            return 0.0
        return float(self._whole(fields[at - 1]) * self._extent(fields[at]))

    def _everyone(self, communicator: str) -> bool:
        """Whether a communicator is that of all ranks."""
        fields = communicator.split(",")
        if len(fields) == 1 and fields[0].isdecimal():
            raise self._old("ranks of communicators")
        if len(fields) != 3 or not all(field.lstrip("-").isdecimal() for field in fields):
            raise self.source.fail("a communicator is expected")
        if fields[1:] == [str(self.rank), str(self.ranks)]:
            return True
        if self._whole(fields[2]) > self.ranks:
            raise self.source.fail(
                f"a communicator of {fields[2]} ranks, and {self.ranks} files were given",
                hint="give those of all ranks",
            )
        return False

    def _bytes(self, count: int, datatype: int) -> float:
        kind = self.fields[datatype] if datatype < len(self.fields) else ""
        return float(self._int(count) * self._extent(kind))

    def _extent(self, datatype: str) -> int:
        """Return the bytes of a datatype, the second of its three numbers."""
        fields = datatype.split(",")
        if len(fields) == 1 and fields[0].isdecimal():
            raise self._old("sizes of datatypes")
        if len(fields) != 3 or not fields[1].isdecimal():
            raise self.source.fail("a datatype is expected")
        return self._whole(fields[1])

    def _old(self, lacking: str) -> InputError:
        return self.source.fail(
            f"the format of an old liballprof, without {lacking}",
            hint="trace the program again, with the liballprof of LogGOPSim",
        )

    def _int(self, at: int) -> int:
        return self._whole(self.fields[at] if at < len(self.fields) else "")

    def _whole(self, text: str) -> int:
        if not _WHOLE.fullmatch(text):
            raise self.source.fail("a number is expected")
        return int(text)

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


TRACE = TraceFormat(read=read, files="ranks")
