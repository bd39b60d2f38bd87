"""Peculiarities of traces of others: what tracers leave out, and lines that are wrong."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import pytest

from beds.command_line import run_here
from beds.golden import Golden
from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Program
from isochrone.applications.description.reading import parse, read
from isochrone.applications.traces.deriving import describe
from isochrone.applications.traces.trace import Event
from isochrone.base.errors import InputError
from isochrone.formats import trace as traces
from made_up import traces as written
from made_up.programs_run import Seen

HALO = {"exchange": {"topology": {"halo": {"shape": [2, 2], "periodic": False}}, "bytes": 1000}}


def made(phases: list[dict[str, Any]], ranks: int = 4) -> Program:
    app = {"name": "x", "ranks": ranks, "iterations": 30, "phases": phases}
    return program(parse({"isochrone": "app/1", "apps": [app]}, "test"))


def seen(phases: list[dict[str, Any]]) -> tuple[Seen, list[list[Event]]]:
    found = Seen(made(phases), noise=0.0)
    return found, [found.events(rank) for rank in range(4)]


def test_archives_without_completed_receives_are_understood(tmp_path: Path) -> None:
    """EZTrace does not write them: who sent follows from what was sent."""
    program_seen, events = seen([{"compute": "1ms"}, HALO])
    path = written.otf2_archive(tmp_path, events, program_seen.groups, receives=False)
    document, _ = describe(traces.load("otf2").read([path]))
    assert document["apps"][0]["phases"][1]["exchange"]["topology"] == HALO["exchange"]["topology"]


def test_nonblocking_collectives_are_kept_and_said_to_be_taken_as_blocking(
    tmp_path: Path, golden: Golden
) -> None:
    program_seen, events = seen([{"compute": "1ms"}, {"allreduce": {"bytes": 80}}])
    path = written.otf2_archive(tmp_path, events, program_seen.groups, nonblocking=True)
    document, warnings = describe(traces.load("otf2").read([path]))
    assert document["apps"][0]["phases"][1] == {"allreduce": {"bytes": 80}}
    golden(warnings)


def test_communicators_of_an_archive_are_parts_of_the_application(tmp_path: Path) -> None:
    """An archive says which ranks are in a communicator; operations in it are of those ranks."""
    among = [[0, 1], [2, 3]]
    program_seen, events = seen(
        [{"compute": "1ms"}, {"allgather": {"bytes": 80, "among": among}}, {"barrier": {}}]
    )
    path = written.otf2_archive(tmp_path, events, program_seen.groups)
    document, _ = describe(traces.load("otf2").read([path]))
    assert document["apps"][0]["phases"][1] == {"allgather": {"bytes": 80, "among": among}}


def test_a_definition_that_is_given_twice_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EZTrace writes its groups twice, which the package otf2 refuses."""
    import otf2

    once = otf2.definitions.Group.write
    written_again = []

    def twice(self: Any, *args: Any) -> None:
        once(self, *args)
        once(self, *args)
        written_again.append(self)

    _, events = seen([{"compute": "1ms"}, {"barrier": {}}])
    monkeypatch.setattr(otf2.definitions.Group, "write", twice)
    path = written.otf2_archive(tmp_path, events, [(0, 1, 2, 3)])
    assert written_again
    document, _ = describe(traces.load("otf2").read([path]))
    assert document["apps"][0]["ranks"] == 4


def test_without_the_package_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setitem(sys.modules, "otf2", None)
    (tmp_path / "traces.otf2").write_bytes(b"x")
    answer = run_here("import", tmp_path / "traces.otf2", "--from", "otf2")
    assert answer.returncode == 2
    golden(answer.stderr)
    assert answer.stderr.count("\n") == 1


def test_the_command_line_writes_a_description(tmp_path: Path, golden: Golden) -> None:
    """Of a folder of files, one of each rank; the description can be read again."""
    _, events = seen([{"compute": "1ms"}, HALO, {"allreduce": {"bytes": 16}}])
    (tmp_path / "files").mkdir()
    written.liballprof(tmp_path / "files", events)
    out = tmp_path / "app.yaml"
    answer = run_here("import", tmp_path / "files", "--from", "liballprof", "-o", out)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, f"{out}\n", "")
    assert program(read(out)).applications[0].iterations == 30
    answer = run_here("import", tmp_path / "files", "--from", "liballprof", "--ranks", "4")
    assert answer.returncode == 2
    golden(answer.stderr)


def lines(rank: int, *calls: str) -> str:
    return "\n".join(["MPI_Init:-:1:1:0", *calls, f"MPI_Finalize:{10_000_000 + rank}:-", ""])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("MPI_Send:1:4096:8:1,1,1:1:0:91,0,2:x", "a time is expected"),
        ("MPI_Send:1:4096:8:1,1,1:7:0:91,0,2:2", "rank 7 of 2"),
        ("MPI_Send:1:4096:8:1,1:1:0:91,0,2:2", "a datatype is expected"),
        ("MPI_Send:1:4096:8:11:1:0:91,0,2:2", "without sizes of datatypes"),
        ("MPI_Send:1:4096:8:1,1,1:1:0:91:2", "without ranks of communicators"),
        ("MPI_Send:1:4096:8:1,1,1:1:0:91,0:2", "a communicator is expected"),
        ("MPI_Send:1:4096:8:1,1,1:1:0:91,0,64:2", "a communicator of 64 ranks"),
        ("Hello", "not an MPI call"),
        ("MPI_Iallreduce:1:2", ""),
        ("MPI_Bcast:1:2", ""),
        ("MPI_Sendrecv:1:4096:8:1,1,1:1:2", ""),
    ],
)
def test_a_wrong_line_is_named(line: str, what: str, tmp_path: Path) -> None:
    """File, line, and what is wrong with it."""
    for rank in range(2):
        (tmp_path / f"pmpi-trace-rank-{rank}.txt").write_text(lines(rank, line))
    with pytest.raises(InputError, match=rf"pmpi-trace-rank-0.txt:2: .*{what}"):
        traces.load("liballprof").read([tmp_path])


def test_a_missing_rank_is_named(tmp_path: Path, golden: Golden) -> None:
    for rank in (0, 2):
        (tmp_path / f"pmpi-trace-rank-{rank}.txt").write_text(lines(rank))
    with golden.refusal():
        traces.load("liballprof").read(sorted(tmp_path.iterdir()))


def test_sends_and_receives_in_one_become_an_exchange(tmp_path: Path) -> None:
    """MPI_Sendrecv around a ring, with ends that have no neighbour (MPI_PROC_NULL, -2)."""
    for rank in range(3):
        to, source = (rank + 1 if rank < 2 else -2), (rank - 1 if rank else -2)
        calls = [
            f"MPI_Sendrecv:{k}:1:8:1,1,1:{to}:0:1:8:1,1,1:{source}:0:91,{rank},3:1:{k + 10}"
            for k in range(1000, 30_000, 1000)
        ]
        (tmp_path / f"pmpi-trace-rank-{rank}.txt").write_text(lines(rank, *calls))
    document, _ = describe(traces.load("liballprof").read([tmp_path]))
    (app,) = document["apps"]
    assert app["phases"][0]["repeat"]["times"] == 29
    loop = app["phases"][0]["repeat"]["phases"]
    exchange = next(phase["exchange"] for phase in loop if "exchange" in phase)
    assert exchange["topology"] in ("pipeline", {"edges": [[0, 1], [1, 2]]})


def test_requests_that_are_waited_for_one_by_one_are_one_wait(
    tmp_path: Path, golden: Golden
) -> None:
    """And that is said, because what was computed between them is put together."""
    for rank in range(2):
        calls = []
        for k in range(1, 30):
            at = 1000 * k
            calls += [
                f"MPI_Irecv:{at}:1:8:1,1,1:{1 - rank}:0:91,{rank},2:500:{at + 1}",
                f"MPI_Isend:{at + 2}:1:8:1,1,1:{1 - rank}:0:91,{rank},2:508:{at + 3}",
                f"MPI_Wait:{at + 4}:500:1:{at + 5}",
                f"MPI_Wait:{at + 6}:508:1:{at + 7}",
            ]
        (tmp_path / f"pmpi-trace-rank-{rank}.txt").write_text(lines(rank, *calls))
    trace = traces.load("liballprof").read([tmp_path])
    golden(trace.warnings)
    document, _ = describe(trace)
    exchange = next(
        p["exchange"]
        for p in document["apps"][0]["phases"][0]["repeat"]["phases"]
        if "exchange" in p
    )
    assert (exchange["flow"], exchange["bytes"]) == ("exchange", 8)


def test_a_line_of_too_few_fields_is_said_to_be_one(tmp_path: Path) -> None:
    """Of every call that is read, cut after every field."""
    names = (
        "Send",
        "Recv",
        "Isend",
        "Irecv",
        "Sendrecv",
        "Sendrecv_replace",
        "Wait",
        "Waitall",
        "Waitany",
        "Waitsome",
        "Barrier",
        "Bcast",
        "Allreduce",
        "Alltoallv",
        "Scatter",
        "Gather",
        "Iallreduce",
        "Ibcast",
        "Ibarrier",
    )
    fields = ["4096", "8", "1,1,1", "0", "0", "91,0,1", "1000", "4096", "8", "1,1,1", "0", "91,0,1"]
    file = tmp_path / "pmpi-trace-rank-0.txt"
    reader = traces.load("liballprof")
    for name in names:
        for count in range(len(fields)):
            line = ":".join([f"MPI_{name}", "10.0", *fields[:count], "20.0"])
            file.write_text(
                f"# htor's PMPI Tracer\nMPI_Init:-:1:1:1.0\n{line}\nMPI_Finalize:30:-\n"
            )
            with contextlib.suppress(InputError):
                reader.read([file])
