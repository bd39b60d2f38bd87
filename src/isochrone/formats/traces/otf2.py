"""Traces in the Open Trace Format 2, as Score-P, EZTrace and TAU write them (extra ``otf2``)."""

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from isochrone.applications.traces.trace import Event, Trace
from isochrone.base.errors import InputError
from isochrone.base.files import check_ordinary
from isochrone.base.operations import DESCRIBED, ROOTED, like
from isochrone.formats.calls_seen import Calls, traced
from isochrone.formats.trace import TraceFormat

Otf2 = Any
"""An object of the package otf2, which declares no types."""

_NO_ROOT = 2**32 - 4
"""Roots from here on are words of OTF2, not ranks."""


def read(paths: Sequence[Path]) -> Trace:
    """Read an archive, of which the file that ends in ``.otf2`` is given.

    Raises
    ------
    InputError
        If it cannot be read, or holds no calls of MPI; if the package otf2 is not installed.
    """
    path = paths[0]
    try:
        import otf2
    except ImportError as error:
        raise InputError(
            "reading OTF2 traces needs the package otf2", hint="try: pip install otf2"
        ) from error
    check_ordinary(path)
    if path.suffix != ".otf2":  # the library would complain on standard error, too
        raise InputError(
            "the file is not the anchor file of an OTF2 archive",
            where=path,
            hint="give the file that ends in .otf2, such as traces.otf2",
        )
    try:
        with _in_silence(), _known_twice(otf2), otf2.reader.open(str(path)) as archive:
            return _Archive(archive, path).read()
    except InputError:
        raise
    except Exception as error:  # the library raises several types for a damaged archive
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"the archive cannot be read: {reason}", where=path) from error


@contextmanager
def _in_silence() -> Iterator[None]:
    """Suppress the output of the library for damaged archives.

    Whether it is damaged is seen by what the library returns.
    """
    sys.stderr.flush()
    ours, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)
        os.close(nowhere)


@contextmanager
def _known_twice(otf2: Otf2) -> Iterator[None]:
    """Let a definition be given twice, as EZTrace does; the first one counts."""
    registry = otf2.registry._RefRegistry
    original = registry._register

    def register(self: Otf2, definition: Otf2) -> None:
        if definition._ref not in self._elements_by_ref:
            original(self, definition)

    registry._register = register
    try:
        yield
    finally:
        registry._register = original


class _Archive:
    """An archive, and what its ranks did."""

    def __init__(self, archive: Otf2, path: Path) -> None:
        self.archive = archive
        self.path = path
        self.second = float(archive.timer_resolution)
        self.groups: list[tuple[int, ...]] = []
        self.numbers: dict[tuple[int, ...], int] = {}
        self.ranks: dict[Otf2, int] = {}

    def read(self) -> Trace:
        """Read all events."""
        locations = self._locations()
        everyone = tuple(range(len(locations)))
        self.ranks = {location: rank for rank, location in enumerate(locations)}
        self._group(everyone)
        seen = [_Rank(self) for _ in everyone]
        last = [0.0] * len(seen)
        for location, event in self.archive.events(locations):
            rank = self.ranks[location]
            time = event.time / self.second
            seen[rank].take(event, time)
            last[rank] = time
        if not any(rank.events for rank in seen):
            raise InputError("the trace has no MPI calls", where=self.path)
        tail = [rank.tail(end) for rank, end in zip(seen, last, strict=True)]
        name = self.path.resolve().parent.name if self.path.stem == "traces" else self.path.stem
        return traced(seen, self.groups, tail, name)

    def _locations(self) -> list[Otf2]:
        """Return the locations of MPI ranks in their order."""
        for group in self.archive.definitions.groups:
            if _word(group.group_type) == "COMM_LOCATIONS" and _word(group.paradigm) == "MPI":
                return list(group.members)
        threads = [
            location
            for location in self.archive.definitions.locations
            if _word(location.type) == "CPU_THREAD"
        ]
        if not threads:
            raise InputError("the trace has no MPI ranks", where=self.path)
        return threads

    def members(self, communicator: Otf2) -> tuple[int, ...] | None:
        """Return the ranks of a communicator; None if not recorded."""
        group = communicator.group
        if group is None or _word(group.group_type) == "COMM_SELF" or group.members is None:
            return None
        ranks = tuple(self.ranks.get(location, -1) for location in group.members)
        return ranks if ranks and min(ranks) >= 0 else None

    def _group(self, members: tuple[int, ...]) -> int:
        """Return the number of a group of ranks."""
        if members not in self.numbers:
            self.numbers[members] = len(self.groups)
            self.groups.append(members)
        return self.numbers[members]

    def number(self, members: tuple[int, ...]) -> int:
        """Return the number of a communicator; the order of all ranks does not matter."""
        if len(members) == len(self.ranks):
            return 0
        return self._group(members)


class _Rank(Calls):
    """Events of one rank. Calls are regions whose names begin with ``MPI_``."""

    def __init__(self, archive: _Archive) -> None:
        super().__init__()
        self.archive = archive
        self.region = ""
        self.receives: dict[object, int] = {}
        self.completed: list[object] = []
        self.completes = False  # whether it records which receives are completed
        self.began = 0.0

    def take(self, event: Otf2, time: float) -> None:
        """Understand one event."""
        kind = type(event).__name__
        if kind in ("Enter", "Leave"):
            name = event.region.name or ""
            if not name.startswith("MPI_"):
                return
            if kind == "Enter":
                self.region, self.began = name, time
                self.enter(time)
            else:
                self._leave(time)
            return
        if not kind.startswith(("Mpi", "NonBlocking")):
            return
        if not self.region:  # an archive without regions: an event is a call
            self.enter(time)
        self._message(kind, event, time)
        if not self.region:
            self._waited(time)
            self.leave(time)

    def _leave(self, time: float) -> None:
        call = self.region.removeprefix("MPI_").lower()
        if call in ("wait", "waitall") and not self.completes:
            # EZTrace does not write which receives are completed
            still = [request for request in self.open if request not in self.completed]
            self.completed += still if call == "waitall" else still[: not self.completed]
        self._waited(time)
        self.leave(time)
        self.region = ""

    def _waited(self, time: float) -> None:
        if self.completed:
            self.done(self.completed, time - self.began)
            self.completed = []

    def _message(self, kind: str, event: Otf2, time: float) -> None:
        if kind in ("MpiSend", "MpiRecv", "MpiIsend"):
            peer = self._world(
                event.communicator, event.receiver if "end" in kind else event.sender
            )
            if peer is None:
                self.said["elsewhere"] += 1
                return
            if self.region.lower().startswith("mpi_sendrecv"):
                self._both(kind, peer, float(event.msg_length))
                return
            if kind == "MpiIsend":
                self.begun(event.request_id)
            self.keep(kind[3:].lower(), peer, float(event.msg_length), seconds=time - self.began)
        elif kind == "MpiIrecvRequest":
            self.begun(event.request_id)
            self.receives[event.request_id] = self.keep("irecv")
        elif kind == "MpiIrecv":
            self.completes = True
            index = self.receives.pop(event.request_id, None)
            peer = self._world(event.communicator, event.sender)
            if index is not None and peer is not None:
                receive = self.events[index]
                self.events[index] = receive._replace(peer=peer, bytes=float(event.msg_length))
            self.completed.append(event.request_id)
        elif kind in ("MpiIsendComplete", "MpiRequestCancelled"):
            self.completed.append(event.request_id)
        elif kind == "NonBlockingCollectiveRequest":
            self.receives["collective", event.request_id] = self.keep("barrier")
        elif kind == "NonBlockingCollectiveComplete":
            index = self.receives.pop(("collective", event.request_id), None)
            collective = self._collective(event, time)
            if index is not None and collective is not None:
                self.said["nonblocking"] += 1
                begun = self.events[index]
                self.events[index] = collective._replace(gap=begun.gap, seconds=0.0)
        elif kind == "MpiCollectiveEnd":
            ended = self._collective(event, time)
            if ended is not None:
                self.keep(ended.op, -1, ended.bytes, ended.root, ended.members, ended.seconds)

    def _both(self, kind: str, peer: int, size: float) -> None:
        """Take a send and receive in one as both begun and waited for."""
        self.begun((self.region, kind))
        self.keep("isend" if kind == "MpiSend" else "irecv", peer, size)
        self.completed.append((self.region, kind))

    def _world(self, communicator: Otf2, rank: int) -> int | None:
        members = self.archive.members(communicator)
        return members[rank] if members is not None and rank < len(members) else None

    def _collective(self, event: Otf2, time: float) -> Event | None:
        """Return a collective operation; a nonblocking one is recorded where it started."""
        op = _word(event.collective_op).lower()
        members = self.archive.members(event.communicator)
        if op not in DESCRIBED or members is None:
            self.said["elsewhere"] += 1
            return None
        root = -1
        if (
            op in ROOTED
            and isinstance(event.root, int)
            and event.root < min(_NO_ROOT, len(members))
        ):
            root = members[event.root]
        size = _block(op, float(event.size_sent), float(event.size_received), len(members))
        group = self.archive.number(members)
        return Event(op, -1, size, root, group, 0.0, time - self.began)


def _word(value: Otf2) -> str:
    """Return the name of one of the words of OTF2, which print as ``GroupType.COMM_SELF``."""
    return str(value).rpartition(".")[2]


def _block(op: str, sent: float, received: float, ranks: int) -> float:
    """Return the bytes of a block, of what a rank sent to and received from all."""
    op = like(op)
    if op in ("allgather", "alltoall"):
        return (received or sent) / ranks
    if op in ("bcast", "scatter", "reduce_scatter_block"):
        return received or sent / ranks
    if op == "allreduce":
        return min(sent, received) or max(sent, received)
    return 0.0 if op == "barrier" else sent


TRACE = TraceFormat(read=read)
