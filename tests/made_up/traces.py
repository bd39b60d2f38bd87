"""Traces of calls that are known, written as tracers write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isochrone.applications.traces.trace import Event

_SENDS = ("send", "isend")
_NAMES = {"isend": "MPI_Isend", "irecv": "MPI_Irecv", "wait": "MPI_Waitall"}
_REQUESTS = 1000
"""Address of the first request of an array."""


def liballprof(folder: Path, ranks: Sequence[Sequence[Event]]) -> list[Path]:
    """Write text files as liballprof does; all in communicators of all ranks."""
    return [_text(folder, rank, events, len(ranks)) for rank, events in enumerate(ranks)]


def _text(folder: Path, rank: int, events: Sequence[Event], ranks: int) -> Path:
    path = folder / f"pmpi-trace-rank-{rank}.txt"
    world = f"91,{rank},{ranks}"
    now = 1.0
    lines = ["# htor's PMPI Tracer 0.9 Output File", "# clockdiff: 0.000000 s", ""]
    lines.append(f"MPI_Init:-:4096:4096:{now * 1e6:.3f}")
    open_ = 0
    for event in events:
        begin = now + event.gap
        now = begin + event.seconds
        between = [f"{_NAMES.get(event.op, 'MPI_' + event.op.capitalize())}:{begin * 1e6:.3f}"]
        size = f"4096:{round(event.bytes)}:1,1,1"
        if event.op in ("send", "recv", "isend", "irecv"):
            between += [size, str(event.peer), "0", world]
            if event.op in ("isend", "irecv"):
                between.append(str(_REQUESTS + 8 * open_))
                open_ += 1
            elif event.op == "recv":
                between.append("4096")
        elif event.op == "wait":
            between += [str(open_), str(_REQUESTS), "4096"]
            open_ = 0
        elif event.op == "bcast":
            between += [size, str(event.root), world]
        elif event.op == "allreduce":
            between += ["4096", size, "3", world]
        elif event.op in ("allgather", "alltoall"):
            between += [size, size, world]
        else:
            assert event.op == "barrier", event.op
            between.append(world)
        lines.append(":".join([*between, f"{now * 1e6:.3f}"]))
    lines += [f"MPI_Comm_rank:{now * 1e6:.3f}:{world}:4096:{now * 1e6:.3f}"]
    lines += [f"MPI_Finalize:{now * 1e6:.3f}:-", ""]
    path.write_text("\n".join(lines))
    return path


def dumpi_call(name: str, begin: float, end: float, arguments: Sequence[str]) -> list[str]:
    """Return the lines of a call as dumpi2ascii writes them."""
    times = [
        f"{name} {word} at walltime {time:.9f}, cputime {time / 1e3:.9f} seconds in thread 0."
        for word, time in (("entering", begin), ("returning", end))
    ]
    return [times[0], *arguments, times[1]]


def dumpi(folder: Path, ranks: Sequence[Sequence[Event]]) -> list[Path]:
    """Write text files as dumpi2ascii does; all in MPI_COMM_WORLD."""
    paths = [folder / f"dumpi-{rank:04}.txt" for rank in range(len(ranks))]
    for path, events in zip(paths, ranks, strict=True):
        now = 1000.0
        lines = ["version=1.0.0", "hostname=n1", "meshdim=0"]
        lines += dumpi_call("MPI_Init", now - 1, now, ["int argc=1"])
        open_: list[str] = []
        for event in events:
            begin = now + event.gap
            now = begin + event.seconds
            size = [f"int count={round(event.bytes)}", "MPI_Datatype datatype=5 (MPI_BYTE)"]
            end = ["MPI_Comm comm=2 (MPI_COMM_WORLD)"]
            if event.op in ("send", "recv", "isend", "irecv"):
                way = "dest" if event.op in _SENDS else "source"
                end = [f"int {way}={event.peer}", "int tag=0", *end]
                if event.op in ("isend", "irecv"):
                    open_.append(str(len(open_) + 2))
                    end.append(f"MPI_Request request=[{open_[-1]}]")
            elif event.op == "wait":
                size = [f"int count={len(open_)}"]
                end, open_ = [f"MPI_Request requests=[{', '.join(open_)}]"], []
            elif event.op == "bcast":
                end = [f"int root={event.root}", *end]
            elif event.op == "allreduce":
                end = ["MPI_Op op=3 (MPI_SUM)", *end]
            name = _NAMES.get(event.op, "MPI_" + event.op.capitalize())
            lines += dumpi_call(name, begin, now, [*size, *end])
        lines += dumpi_call("MPI_Finalize", now, now, [])
        path.write_text("\n".join([*lines, "MPI_Send called 0 times and ignored 0 times", ""]))
    return paths


def simgrid_ti(folder: Path, ranks: Sequence[Sequence[Event]]) -> Path:
    """Write a list and the files of the ranks, for a host of 10^9 operations per second."""
    for rank, events in enumerate(ranks):
        lines, open_ = ["init"], 0
        for event in events:
            lines.append(f"compute {event.gap * 1e9:.10g}")
            size = round(event.bytes)
            if event.op in ("send", "recv", "isend", "irecv"):
                lines.append(f"{event.op} {event.peer} 0 {size} 6")
                open_ += event.op in ("isend", "irecv")
            elif event.op == "wait":
                lines.append(f"waitall {open_}")
                open_ = 0
            elif event.op == "bcast":
                lines.append(f"bcast {size} {event.root} 6")
            else:
                assert event.op == "allreduce", event.op
                lines.append(f"allreduce {size // 8} 0 0")
        text = "".join(f"{rank} {line}\n" for line in [*lines, "finalize"])
        (folder / f"x-rank-{rank}.txt").write_text(text)
    path = folder / "x.ti"
    path.write_text("".join(f"x-rank-{rank}.txt\n" for rank in range(len(ranks))))
    return path


def otf2_archive(
    folder: Path,
    ranks: Sequence[Sequence[Event]],
    groups: Sequence[tuple[int, ...]],
    *,
    receives: bool = True,
    nonblocking: bool = False,
) -> Path:
    """Write an archive and return its anchor file.

    Without `receives` the completion of begun receives is missing, as in archives of EZTrace.
    `nonblocking` collectives are begun and waited for.
    """
    import otf2

    place = folder / "archive"
    with otf2.writer.open(str(place), timer_resolution=10**9) as archive:
        names = archive.definitions
        node = names.system_tree_node("node", parent=None)
        process = [
            names.location_group(
                f"rank {r}",
                system_tree_parent=node,
                location_group_type=otf2.LocationGroupType.PROCESS,
            )
            for r in range(len(ranks))
        ]
        locations = [names.location(f"thread {r}", group=process[r]) for r in range(len(ranks))]
        names.group(
            "",
            group_type=otf2.GroupType.COMM_LOCATIONS,
            paradigm=otf2.Paradigm.MPI,
            members=locations,
        )
        communicators = [
            names.comm(
                f"communicator {k}",
                group=names.group(
                    f"group {k}",
                    group_type=otf2.GroupType.COMM_GROUP,
                    paradigm=otf2.Paradigm.MPI,
                    members=[locations[m] for m in members],
                ),
                parent=None,
            )
            for k, members in enumerate(groups)
        ]
        writing = _Writing(otf2, names, groups, communicators, receives, nonblocking)
        for rank, events in enumerate(ranks):
            writing.write(archive.event_writer_from_location(locations[rank]), rank, events)
    return place / "traces.otf2"


class _Writing:
    """Writes the events of ranks."""

    def __init__(
        self,
        otf2: Any,
        names: Any,
        groups: Sequence[tuple[int, ...]],
        communicators: list[Any],
        receives: bool,
        nonblocking: bool,
    ) -> None:
        self.otf2, self.names, self.groups = otf2, names, groups
        self.communicators, self.receives, self.nonblocking = communicators, receives, nonblocking
        self.request = 0

    def write(self, writer: Any, rank: int, events: Sequence[Event]) -> None:
        now = 1.0
        writer.enter(round(0.9e9), self.names.region("MPI_Init"))
        writer.leave(round(1e9), self.names.region("MPI_Init"))
        open_: list[tuple[int, Event]] = []
        for event in events:
            begin = now + event.gap
            now = begin + event.seconds
            name = _NAMES.get(event.op, "MPI_" + event.op.capitalize())
            inside, leave = round((begin + now) / 2 * 1e9), round(now * 1e9)
            region = self.names.region(name)
            writer.enter(round(begin * 1e9), region)
            self._event(writer, inside, rank, event, open_)
            writer.leave(leave, region)

    def _event(
        self, writer: Any, time: int, rank: int, event: Event, open_: list[tuple[int, Event]]
    ) -> None:
        world = self.communicators[0]
        size = round(event.bytes)
        self.request += 1
        if event.op == "send":
            writer.mpi_send(time, event.peer, world, 0, size)
        elif event.op == "recv":
            writer.mpi_recv(time, event.peer, world, 0, size)
        elif event.op == "isend":
            writer.mpi_isend(time, event.peer, world, 0, size, self.request)
            open_.append((self.request, event))
        elif event.op == "irecv":
            writer.mpi_irecv_request(time, self.request)
            open_.append((self.request, event))
        elif event.op == "wait":
            for request, begun in open_:
                if begun.op == "isend":
                    writer.mpi_isend_complete(time, request)
                elif self.receives:
                    writer.mpi_irecv(time, begun.peer, world, 0, round(begun.bytes), request)
            open_.clear()
        else:
            self._collective(writer, time, event)

    def _collective(self, writer: Any, time: int, event: Event) -> None:
        members = self.groups[event.members]
        ranks = len(members)
        size = round(event.bytes) * (ranks if event.op in ("allgather", "alltoall") else 1)
        op = getattr(self.otf2.CollectiveOp, event.op.upper())
        root = members.index(event.root) if event.root >= 0 else 2**32 - 1
        communicator = self.communicators[event.members]
        if self.nonblocking:
            writer.non_blocking_collective_request(time, self.request)
            writer.non_blocking_collective_complete(
                time, op, communicator, root, size, size, self.request
            )
        else:
            writer.mpi_collective_begin(time)
            writer.mpi_collective_end(time, op, communicator, root, size, size)
