"""Recorded calls as a trace: what has no place in a description is said and left out."""

from __future__ import annotations

import json
from pathlib import Path

from beds.golden import Golden
from isochrone.applications.traces.deriving import describe
from isochrone.formats.traces import recording
from isochrone.runfile import file as runs
from made_up.recordings import halo_recording

SENT = {
    "record": "call",
    "rank": 0,
    "thread": 0,
    "at": 0,
    "depth": 0,
    "op": "send",
    "peer": -1,
    "bytes": 8,
    "source": -1,
    "received": 0,
    "any": False,
    "root": -1,
    "group": -1,
    "requests": 0,
    "open": False,
    "calls": 1,
    "seconds": 1e-5,
    "gap": [1, 1e-6, 1e-6, 1e-6, -60, 1],
}
"""A message to a process that MPI_Comm_spawn has started: it has no rank in the program."""


def test_messages_to_processes_of_other_programs_are_left_out(
    tmp_path: Path, golden: Golden
) -> None:
    path = tmp_path / "run.jsonl"
    runs.write(halo_recording(2, 2), path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    first = next(k for k, line in enumerate(lines) if line["record"] in ("loop", "call"))
    for line in lines[first:]:
        if line["record"] in ("loop", "call") and line["rank"] == 0:
            line["at"] += 1
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in [*lines[:first], SENT, *lines[first:]])
    )
    document, warnings = describe(recording.read([path]))
    assert document["apps"]
    golden(warnings)


def test_a_wait_for_messages_leaves_a_nonblocking_collective_open(tmp_path: Path) -> None:
    """It ends at its own wait, after what is computed meanwhile; a wait for all ends both."""
    path = tmp_path / "run.jsonl"
    runs.write(halo_recording(2, 2), path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    first = next(k for k, line in enumerate(lines) if line["record"] in ("loop", "call"))
    end = [line for line in lines[first:] if line["record"] not in ("loop", "call")]
    own = {"peer": -1, "bytes": 0}
    ring = [("irecv", {}), ("isend", {})]
    calls = [
        ("iallreduce", {**own, "bytes": 8, "group": 0}),
        *ring,
        ("waitall", {**own, "requests": 2, "open": True}),
        ("wait", {**own, "requests": 1}),
        ("iallreduce", {**own, "bytes": 16, "group": 0}),
        *ring,
        ("waitall", {**own, "requests": 3}),
    ]
    made = [
        {**SENT, "peer": 1 - rank, "rank": rank, "at": k, "op": op, **more}
        for rank in (0, 1)
        for k, (op, more) in enumerate(calls)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines[:first], *made, *end]))
    found = [event.op for event in recording.read([path]).ranks[0]]
    assert found == [
        "irecv",
        "isend",
        "wait",
        "allreduce",
        "irecv",
        "isend",
        "allreduce",
        "wait",
    ]
