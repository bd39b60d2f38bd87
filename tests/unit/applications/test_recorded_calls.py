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
    "record": "call", "rank": 0, "thread": 0, "at": 0, "depth": 0, "op": "send", "peer": -1,
    "bytes": 8, "source": -1, "received": 0, "any": False, "root": -1, "group": -1, "requests": 0,
    "open": False, "calls": 1, "seconds": 1e-5, "gap": [1, 1e-6, 1e-6, 1e-6, -60, 1],
}  # fmt: skip
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
