"""Recordings as numbers and as traces: what is said of a program is what was recorded of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.command_line import run_here
from beds.golden import Golden
from isochrone.applications.results import recording
from isochrone.applications.traces.deriving import describe
from isochrone.base.errors import InputError
from isochrone.base.table import TableBuilder
from isochrone.runfile.file import read, write
from isochrone.runfile.run import Run
from made_up.latency_maps import mmpi_example
from made_up.recordings import halo_recording


@pytest.fixture
def halo(tmp_path: Path) -> Run:
    """As it is read from a file."""
    write(halo_recording(2, 4), tmp_path / "run.jsonl")
    return read(tmp_path / "run.jsonl")


def test_the_matrix_holds_what_each_rank_sent(halo: Run, golden: Golden) -> None:
    sent, messages = recording.matrix(halo), recording.matrix(halo, "messages")
    assert sent[0, 1] == 100 * 8192  # to the right
    assert sent[0, 4] == 2 * 100 * 1024  # up and down are the same of two rows
    assert messages[0, 4] == 200
    assert np.array_equal(sent, sent.T)
    assert not np.diag(sent).any()
    with golden.refusal():
        recording.matrix(halo, "colours")


def test_operations_come_by_time_and_ranks_with_their_share(halo: Run) -> None:
    assert [one.op for one in recording.operations(halo)][:2] == ["waitall", "allreduce"]
    shares = [one.share for one in recording.rank_times(halo)]
    assert shares[0] == pytest.approx(0.25)
    assert shares[7] == pytest.approx(0.25 + 0.5 * 7 / 8)


def test_computation_before_a_loop_is_that_of_its_first_turn(halo: Run) -> None:
    """Rank 0 computes 2 ms once, before the first of 100 iterations, which begin with 1 µs."""
    calls = recording.trace(halo).ranks[0]
    begins = [call for k, call in enumerate(calls) if k % 10 == 0]
    assert [call.gap for call in begins] == pytest.approx([2e-3, *[1e-6] * 99])
    assert [call.op for call in calls[:10]] == [
        *["irecv"] * 4,
        *["isend"] * 4,
        "wait",
        "allreduce",
    ]


def test_the_description_of_a_recording_is_that_of_the_program(halo: Run) -> None:
    document, _ = describe(recording.trace(halo))
    (app,) = document["apps"]
    assert (app["name"], app["ranks"]) == ("halo", 8)
    (loop,) = (phase["repeat"] for phase in app["phases"] if "repeat" in phase)
    assert loop["times"] == 100
    (exchange,) = (phase["exchange"] for phase in loop["phases"] if "exchange" in phase)
    assert "halo" in exchange["topology"] or "edges" in exchange["topology"]
    assert any("allreduce" in phase for phase in loop["phases"])


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./halo3d 10", "halo3d"),
        ("/opt/bin/python3.12 -u /home/me/solver.py --n 3", "solver"),
        ("python -m mypkg.main", "mypkg.main"),
        ("", "program"),
    ],
)
def test_a_program_is_named_by_its_file(halo: Run, command: str, name: str) -> None:
    halo.header["notes"] = {"command": command}
    assert recording.program(halo) == name


def call(op: str, **other: object) -> dict[str, object]:
    """Return the members of a record of one call."""
    return {
        "rank": 0,
        "thread": 0,
        "depth": 0,
        "op": op,
        "peer": -1,
        "bytes": 0,
        "source": -1,
        "received": 0,
        "any": False,
        "root": -1,
        "group": -1,
        "requests": 0,
        "open": False,
        "calls": 1,
        "seconds": 1e-6,
        "gap": [1, 1e-3, 1e-3, 1e-3, -30, 1],
        **other,
    }


def traced(tmp_path: Path, *calls: dict[str, object]) -> tuple[list[str], list[str], float]:
    """Return the operations of a trace of these calls, its warnings, and computation left out."""
    run = halo_recording(1, 2)
    run.tables = {k: v for k, v in run.tables.items() if k not in ("call", "loop")}
    builder = TableBuilder()
    for at, one in enumerate(calls):
        builder.add({**one, "at": at})
    run.tables["call"] = builder.build()
    write(run, tmp_path / "few.jsonl")
    trace = recording.trace(read(tmp_path / "few.jsonl"))
    return (
        [f"{c.op}:{c.peer}" for c in trace.ranks[0]],
        trace.warnings,
        trace.tail[0],
    )


def test_calls_become_those_that_a_description_knows(tmp_path: Path, golden: Golden) -> None:
    """A wait with nothing open is none; both halves of a sendrecv are there."""
    ops, warnings, aside = traced(
        tmp_path,
        call("ssend", peer=1),
        call("sendrecv", peer=1, source=0, received=5),
        call("iallreduce", group=0),
        call("wait"),
        call("gatherv", group=0, root=1),
        call("neighbor_alltoall", group=0),
    )
    assert ops == ["send:1", "isend:1", "irecv:0", "wait:-1", "allreduce:-1", "gatherv:-1"]
    golden(warnings)
    assert aside == pytest.approx(1e-3)


def test_waits_that_follow_each_other_are_one(tmp_path: Path) -> None:
    """As a loop of MPI_Wait over requests; the computation before the first one counts."""
    ops, _, aside = traced(
        tmp_path,
        call("irecv", peer=1),
        call("isend", peer=1),
        call("wait", open=True),
        call("wait", gap=[1, 1e-6, 1e-6, 1e-6, -60, 1]),
    )
    assert ops == ["irecv:1", "isend:1", "wait:-1"]
    assert aside == pytest.approx(1e-6)


def test_a_sequence_that_was_given_up_is_no_trace(halo: Run, golden: Golden) -> None:
    text = "the calls of rank 3 do not repeat: their order was dropped, only totals are recorded"
    halo.warnings.append({"code": "no-sequence", "text": text})
    with golden.refusal():
        recording.trace(halo)


@pytest.mark.parametrize("member", ["depth", "gap", "op"])
def test_a_damaged_recording_is_one_line(halo: Run, member: str, golden: Golden) -> None:
    table = halo.tables["call"]
    if member == "depth":
        table.columns["depth"] = table.columns["depth"] + 7
    else:
        del table.columns[member]
    with golden.refusal():
        recording.trace(halo)


def test_a_run_of_another_kind_is_refused() -> None:
    for ask in (recording.edges, recording.operations, recording.rank_times, recording.trace):
        with pytest.raises(InputError, match="isochrone record"):
            ask(mmpi_example())


def test_show_says_matrix_operations_and_shares(halo: Run, tmp_path: Path, golden: Golden) -> None:
    said = run_here("show", tmp_path / "run.jsonl")
    assert said.returncode == 0, said.stderr
    golden(said.stdout)
    assert "25.0% on rank 0 to 68.8% on rank 7" in said.stdout
    assert "allreduce" in said.stdout
    as_json = run_here("show", "--json", tmp_path / "run.jsonl")
    assert '"program": "halo"' in as_json.stdout
    assert '"share": 0.25' in as_json.stdout


@pytest.mark.parametrize("what", ["bytes", "messages", "seconds"])
@pytest.mark.parametrize("shape", [(2, 2), (16, 16)])
def test_the_matrix_is_drawn(what: str, shape: tuple[int, int], tmp_path: Path) -> None:
    write(halo_recording(*shape), tmp_path / "run.jsonl")
    picture = tmp_path / "matrix.svg"
    said = run_here("plot", tmp_path / "run.jsonl", "--value", what, "-o", picture)
    assert said.returncode == 0, said.stderr
    text = picture.read_text()
    assert f"{shape[0] * shape[1]} ranks on" in text
    assert "from rank" in text


def test_a_recording_becomes_a_description_by_import(halo: Run, tmp_path: Path) -> None:
    said = run_here("import", "--from", "recording", tmp_path / "run.jsonl")
    assert said.returncode == 0, said.stderr
    assert "times: 100" in (tmp_path / "run.yaml").read_text()


def test_what_is_no_recording_is_not_imported_as_one(tmp_path: Path) -> None:
    """Nor one whose records lack something; each is one line."""
    write(mmpi_example(), tmp_path / "map.jsonl")
    damaged = halo_recording(2, 2)
    del damaged.tables["rank_time"].columns["tail"]
    write(damaged, tmp_path / "damaged.jsonl")
    for name, words in (("map", "this run is of"), ("damaged", "records of calls are damaged")):
        said = run_here("import", "--from", "recording", tmp_path / f"{name}.jsonl")
        assert said.returncode == 2
        assert words in said.stderr
        assert said.stderr.count("\n") == 1
    text = tmp_path / "text"
    text.write_text("no archive")
    said = run_here("import", "--from", "otf2", text)
    assert said.returncode == 2
    assert "ends in .otf2" in said.stderr
    assert said.stderr.count("\n") == 1
