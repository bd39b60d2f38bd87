"""The calls of one rank, as C calls them: names and arguments in their order.

Of a message these are buffer, count, datatype, peer, tag, communicator and request. A datatype is
three numbers (which, size, extent), a communicator too (which, rank, size).
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from isochrone.applications.traces.trace import Trace
from isochrone.base.errors import InputError
from isochrone.base.operations import DESCRIBED, ROOTED
from isochrone.formats.calls_seen import Calls, traced
from isochrone.formats.source import MAX_FILE_RANKS, Source

_RANK = re.compile(r"(\d+)\.[^.]+$")
_SENDS = ("send", "bsend", "ssend", "rsend")
_WAITS = ("wait", "waitall", "waitany", "waitsome")

_WHOLE = re.compile("-?[0-9]{1,19}")


def rank_files(paths: Sequence[Path]) -> list[Path]:
    """Return the file of each rank, which is the last number of its name."""
    if len(paths) == 1 and paths[0].is_dir():
        named = [path for path in sorted(paths[0].iterdir()) if _RANK.search(path.name)]
        paths = [path for path in named if path.suffix != ".bin"] or paths
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


class RankCalls(Calls, ABC):
    """The calls of one rank; a format defines how lines are read, and what is waited for."""

    form = ""
    """Name of the format."""

    def __init__(self, source: Source, rank: int, ranks: int) -> None:
        super().__init__()
        self.source, self.rank, self.ranks = source, rank, ranks
        self.end: float | None = None
        self.fields: list[str] = []
        self.seconds = 0.0

    @abstractmethod
    def line(self, text: str) -> None:
        """Understand one line."""

    @abstractmethod
    def completed(self, call: str) -> Sequence[object]:
        """Return the requests that a call waited for."""

    def take(self, name: str, fields: list[str], begin: float, end: float) -> None:
        """Take a call: ``MPI_Send``, its arguments between two other fields, and its times."""
        call = name.removeprefix("MPI_").lower()
        self.fields = fields
        if call in ("init", "init_thread"):
            self.leave(end)
            return
        if call == "finalize":
            self.end = begin
            return
        self.seconds = end - begin
        self.enter(begin)
        try:
            self._call(call)
        except IndexError as error:
            raise self.source.fail("it has too few fields") from error
        self.leave(end)

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
            self.done(self.completed(call), self.seconds)
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
        peer_rank = self.number(peer)
        if peer_rank < 0 and (peer_rank != -1 or op in ("send", "isend")):
            return  # MPI_PROC_NULL
        if peer_rank >= self.ranks:
            raise self.source.fail(f"rank {peer_rank} of {self.ranks}")
        if request is not None:
            self.begun(self.number(request))
        self.keep(op, peer_rank, self._bytes(2, 3), seconds=self.seconds)

    def _send_and_receive(self, *, replace: bool) -> None:
        """Take it as both begun and waited for."""
        to, source = (4, 6) if replace else (4, 9)
        size_in = self._bytes(2, 3) if replace else self._bytes(7, 8)
        if not self._everyone(self.fields[source + 2]):
            self.said["elsewhere"] += 1
            return
        peers = (
            ("irecv", self.number(source), size_in),
            ("isend", self.number(to), self._bytes(2, 3)),
        )
        transfers = [(op, peer, size) for op, peer, size in peers if peer >= 0]
        for op, peer, size in transfers:
            self.keep(op, peer, size)
        if transfers and not self.open:
            self.keep("wait", seconds=self.seconds)

    def _collective(self, call: str, fields: list[str]) -> None:
        """Take a collective operation: its communicator comes last, a root before it."""
        if not self._everyone(fields[-2]):
            self.said["elsewhere"] += 1
            return
        root = self.whole(fields[-3]) if call in ROOTED and fields[-3].isdecimal() else -1
        self.keep(call, size=self._block(call, fields), root=root, seconds=self.seconds)

    def _block(self, call: str, fields: list[str]) -> float:
        """Return the bytes of a block, from the first datatype and the count before it."""
        kinds = [k for k, text in enumerate(fields[:-2]) if text.count(",") == 2 and k > 1]
        if call == "barrier" or not kinds:
            return 0.0
        at = kinds[-1] if call in ("scatter", "scatterv") else kinds[0]
        if call == "alltoallv":  # buffer, where counts are, counts, where places are, places, type
            counts = [self.whole(c) for c in fields[3].split(",") if c.isdecimal()]
            return sum(counts) / max(len(counts), 1) * self._extent(fields[6])
        if not fields[at - 1].isdecimal():
            return 0.0
        return float(self.whole(fields[at - 1]) * self._extent(fields[at]))

    def _everyone(self, communicator: str) -> bool:
        """Whether a communicator is that of all ranks."""
        fields = communicator.split(",")
        if len(fields) == 1 and fields[0].isdecimal():
            raise self.lacks("ranks of communicators")
        if len(fields) != 3 or not all(field.lstrip("-").isdecimal() for field in fields):
            raise self.source.fail("a communicator is expected")
        if fields[1:] == [str(self.rank), str(self.ranks)]:
            return True
        if self.whole(fields[2]) > self.ranks:
            raise self.source.fail(
                f"a communicator of {fields[2]} ranks, and {self.ranks} files were given",
                hint="give those of all ranks",
            )
        return False

    def _bytes(self, count: int, datatype: int) -> float:
        kind = self.fields[datatype] if datatype < len(self.fields) else ""
        return float(self.number(count) * self._extent(kind))

    def _extent(self, datatype: str) -> int:
        """Return the bytes of a datatype, the second of its three numbers."""
        fields = datatype.split(",")
        if len(fields) == 1 and fields[0].isdecimal():
            raise self.lacks("sizes of datatypes")
        if len(fields) != 3 or not fields[1].isdecimal():
            raise self.source.fail("a datatype is expected")
        return self.whole(fields[1])

    def number(self, at: int) -> int:
        """Return a field that is a whole number."""
        return self.whole(self.fields[at] if at < len(self.fields) else "")

    def whole(self, text: str) -> int:
        """Read a whole number."""
        if not _WHOLE.fullmatch(text):
            raise self.source.fail("a number is expected")
        return int(text)

    def lacks(self, what: str) -> InputError:
        """Return the error to raise if a datatype or a communicator is a number alone."""
        return self.source.fail(f"the trace has no {what}")


def read_ranks(paths: Sequence[Path], reading: type[RankCalls]) -> Trace:
    """Read the files of all ranks.

    Raises
    ------
    InputError
        If one is missing, or a line is no call; names the file and the line.
    """
    files = rank_files(paths)
    ranks, tail = [], []
    for rank, path in enumerate(files):
        source = Source.open(path, reading.form)
        calls = reading(source, rank, len(files))
        for line in source.each(source.data.decode("latin-1").splitlines()):
            if line.strip() and not line.startswith("#"):
                calls.line(line.strip())
        if not calls.events and calls.end is None:
            raise source.fail(
                "the file has no MPI calls", hint=f"is it a text file of {reading.form}?"
            )
        ranks.append(calls)
        tail.append(calls.tail(calls.end) if calls.end is not None else 0.0)
    return traced(ranks, [tuple(range(len(files)))], tail, files[0].resolve().parent.name)
