"""The first line of a run file: what kind of result follows, and text as it was given."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from beds.mpis import Mpi
from isochrone.applications.description.program_file import data
from made_up.programs import application, program, ring

QUICK = ("--repeats", "1")
KINDS = {
    "latency-map": (QUICK, "latency-map", None),
    "synthetic": (QUICK, "latency-map", None),
    "point-to-point": ((*QUICK, "--bytes", "8"), "sweep", ["i", "j"]),
    "bisection": ((*QUICK, "--bytes", "8"), "sweep", ["p", "pairs"]),
    "collective": ((*QUICK, "--op", "barrier"), "sweep", ["op", "p"]),
    "compute": ((*QUICK, "--bytes", "8KiB"), "sweep", ["op", "p"]),
    "startup": (QUICK, "sweep", ["op", "p"]),
    "matching": ((*QUICK, "--entries", "2"), "sweep", ["op", "entries"]),
    "hotspot": ((*QUICK, "--bytes", "8"), "hotspot", None),
    "tile-io": ((*QUICK, "--phase", "exchange", "--tile", "8x8"), "tile-io", None),
    "app": ((), "emulation", None),
    "clock-sync": (("--seconds", "0"), "clocks", None),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("experiment", KINDS)
def test_the_header_says_what_kind_of_result_it_is(
    mpich: Mpi, tmp_path: Path, experiment: str
) -> None:
    """A reader needs no names of experiments; members that tell curves apart are in the samples."""
    options, kind, by = KINDS[experiment]
    if experiment == "app":
        (tmp_path / "ring").write_bytes(data(program(application(ring(2), 3))))
        options = ("--program", str(tmp_path / "ring"))
    run = mpich.run(experiment, *options, ranks=2, out=tmp_path / "run.jsonl")
    assert run.header["kind"] == kind
    assert run.header.get("by") == by
    assert all(key in run.tables["sample"].columns for key in by or ())


def test_every_experiment_has_a_kind(mpich: Mpi) -> None:
    """The list above is whole."""
    help_ = subprocess.run([mpich.probe.path, "--help"], capture_output=True, text=True, check=True)
    listed = help_.stdout.partition("experiments:\n")[2].partition("\n\n")[0]
    assert {line.split()[0] for line in listed.splitlines()} == KINDS.keys()


def test_the_first_rank_of_a_host_has_its_model_of_processor(mpich: Mpi, tmp_path: Path) -> None:
    """Hosts of one model are the peers of a new one; see `check --baseline`."""
    run = mpich.run("latency-map", *QUICK, ranks=2, out=tmp_path / "map.jsonl")
    models = [rank.processor for rank in run.ranks]
    assert models == [run.header["machine"].get("processor", ""), ""]


def test_made_up_times_are_said_to_be(mpich: Mpi, tmp_path: Path) -> None:
    null = mpich.run("synthetic", *QUICK, ranks=2, out=tmp_path / "null.jsonl")
    real = mpich.run("latency-map", *QUICK, ranks=2, out=tmp_path / "map.jsonl")
    assert null.header["made_up"] is True
    assert "made_up" not in real.header


@pytest.mark.parametrize("text", ["Müller", "東京", "a🙂b", "\x7f", "\u0080\ud7ff\ue000\U0010ffff"])
def test_a_note_reads_back_as_it_was_written(mpich: Mpi, tmp_path: Path, text: str) -> None:
    """Each byte of it was taken for a character."""
    run = mpich.run(
        "synthetic", *QUICK, "--note", f"who={text}", ranks=1, out=tmp_path / "null.jsonl"
    )
    assert run.header["notes"] == {"who": text}


BAD = [
    (b"M\xfcller", "M\ufffdller"),  # Latin-1
    (b"\xc3", "\ufffd"),  # cut in the middle
    (b"\xe6\x9d", "\ufffd\ufffd"),
    (b"\xc0\xaf", "\ufffd\ufffd"),  # longer than need be
    (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),  # half of a surrogate pair
    (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),  # beyond the last character
    (b'\xff"', '\ufffd"'),
]


@pytest.mark.parametrize(("text", "expected"), BAD, ids=[repr(text) for text, _ in BAD])
def test_bytes_that_are_no_text_leave_the_file_json(mpich: Mpi, text: bytes, expected: str) -> None:
    """Names of hosts and notes come from elsewhere, and not always in UTF-8."""
    argv = [
        os.fsencode(mpich.probe.path),
        b"synthetic",
        b"--repeats",
        b"1",
        b"--note",
        b"who=" + text,
    ]
    answer = subprocess.run(argv, capture_output=True, timeout=60, check=True)
    header = json.loads(answer.stdout.splitlines()[0].decode("utf-8"))
    assert header["notes"] == {"who": expected}
