"""Text of DUMPI: sizes, requests, communicators and datatypes."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.applications.traces.trace import Event, Trace
from isochrone.formats.traces.dumpi import TRACE
from made_up.traces import dumpi_call

WORLD = "MPI_Comm comm=2 (MPI_COMM_WORLD)"
MINE = "MPI_Comm comm=4 (user-defined-comm)"
DOUBLE = "MPI_Datatype datatype=14 (MPI_DOUBLE)"


def of(folder: Path, *calls: tuple[str, tuple[str, ...]]) -> Trace:
    for rank in range(2):
        lines = ["version=1.0.0", "hostname=n1"]
        for k, (name, arguments) in enumerate([*calls, ("MPI_Finalize", ())]):
            lines += dumpi_call(name, 1e3 + k * 1e-6, 1e3 + k * 1e-6 + 4e-7, arguments)
        text = "\n".join(lines).replace("OTHER", str(1 - rank))
        (folder / f"dumpi-{rank:04}.txt").write_text(text + "\n")
    return TRACE.read([folder])


def short(events: list[Event]) -> list[tuple[str, int, float]]:
    return [(e.op, e.peer, e.bytes) for e in events]


def test_requests_are_waited_for_by_their_numbers(tmp_path: Path) -> None:
    message = ("int count=3", DOUBLE, "int {}=OTHER", "int tag=0", WORLD)
    begin, end = (tuple(a.format(w) for a in message) for w in ("source", "dest"))
    wait = ("int count=2", "MPI_Request requests=[7, 9]", "int index=1", "MPI_Status status=[{}]")
    trace = of(
        tmp_path,
        ("MPI_Irecv", (*begin, "MPI_Request request=[7]")),
        ("MPI_Isend", (*end, "MPI_Request request=[9]")),
        ("MPI_Waitany", wait),
        ("MPI_Wait", ("MPI_Request request=[7]", "MPI_Status status=<IGNORED>")),
    )
    assert short(trace.ranks[0]) == [("irecv", 1, 24), ("isend", 1, 24), ("wait", -1, 0)]
    assert len(trace.warnings) == 1  # one wait for a part
    assert [e.gap for e in trace.ranks[0]] == pytest.approx([0, 6e-7, 1.2e-6], abs=1e-7)


def test_sizes_of_collectives_and_both_directions(tmp_path: Path) -> None:
    """A duplicate of the world is as good as it; calls of other communicators are left out."""
    counts = "int {}counts=[2, 4]"
    both = (
        "int sendcount=1",
        "MPI_Datatype sendtype=9 (MPI_INT)",
        "int dest=OTHER",
        "int sendtag=0",
        "int recvcount=2",
        "MPI_Datatype recvtype=9 (MPI_INT)",
        "int source=OTHER",
        "int recvtag=0",
        WORLD,
    )
    trace = of(
        tmp_path,
        ("MPI_Comm_dup", ("MPI_Comm oldcomm=2 (MPI_COMM_WORLD)", "MPI_Comm newcomm=4 (user)")),
        ("MPI_Bcast", ("int count=10", DOUBLE, "int root=1", MINE)),
        (
            "MPI_Reduce_scatter",
            ("int commsize=2", counts.format("recv"), DOUBLE, "MPI_Op op=3", MINE),
        ),
        ("MPI_Sendrecv", both),
        ("MPI_Barrier", ("MPI_Comm comm=5 (user-defined-comm)",)),
        (
            "MPI_Allreduce",
            ("int count=5", "MPI_Datatype datatype=40 (user-defined)", "MPI_Op op=3", WORLD),
        ),
    )
    found = [(e.op, e.bytes, e.root) for e in trace.ranks[0]]
    assert found == [
        ("bcast", 80, 1),
        ("reduce_scatter", 24, -1),
        ("irecv", 8, -1),
        ("isend", 4, -1),
        ("wait", 0, -1),
        ("allreduce", 5, -1),
    ]
    assert len(trace.warnings) == 2
