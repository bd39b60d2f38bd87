"""Start-up: each launch gives one sample of its phases, and new communicators are verified."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from beds.mpis import Mpi
from beds.shim import Shim
from isochrone.base.errors import MeasurementError
from isochrone.measure import job
from isochrone.runfile.file import read

CREATIONS = ("comm_split", "comm_dup", "comm_create", "comm_create_group")
REPEATS = 3


@pytest.mark.smoke
def test_a_launch_is_timed_once_and_communicators_of_2_4_and_all_ranks(
    every_mpi: Mpi, tmp_path: Path
) -> None:
    began = time.monotonic()
    run = every_mpi.run("startup", "--repeats", str(REPEATS), ranks=3, out=tmp_path / "run.jsonl")
    wall = time.monotonic() - began
    samples = run.tables["sample"]
    counts: dict[tuple[str, int], int] = {}
    for op, p, times in zip(samples["op"], samples["p"], samples["times"], strict=True):
        counts[op, p] = counts.get((op, p), 0) + 1
        assert times is None or len(times) == p
    assert counts == {
        ("init", 3): 1,
        ("launch", 3): 1,
        ("finalize", 3): 1,
        **{(op, p): REPEATS for op in CREATIONS for p in (2, 3)},
    }
    assert run.complete
    seconds = dict(zip(samples["op"], samples["seconds"].tolist(), strict=True))
    phases = [seconds[op] for op in ("launch", "init", "finalize")]
    assert min(phases) > 0
    assert sum(phases) < wall + phases[1]  # the first rank's main, and the slowest rank's init


def test_the_time_of_a_launch_is_only_known_on_the_host_that_launched(
    mpich: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clocks of two hosts may differ by more than a launch takes."""
    path = mpich.probe.path
    for host, known in ((os.uname().nodename, True), ("elsewhere", False)):
        argv = mpich.argv_of(
            [
                "env",
                f"ISOCHRONE_LAUNCHED={time.time() - 100:.3f} {host}",
                str(path),
                "startup",
                "--repeats",
                "1",
                "--out",
                str(tmp_path / f"{known}.jsonl"),
            ],
            2,
        )
        job.run(argv, timeout=60)
        samples = read(tmp_path / f"{known}.jsonl").tables["sample"]
        launches = [
            s for op, s in zip(samples["op"], samples["seconds"], strict=True) if op == "launch"
        ]
        assert len(launches) == known
        assert not launches or 100 < launches[0] < 160


def test_a_wrong_communicator_is_reported_and_not_timed(mpich_shim: Shim, tmp_path: Path) -> None:
    """Each way to make one is faulty here; halves of two ranks cannot be in wrong order."""
    out = tmp_path / "run.jsonl"
    with pytest.raises(MeasurementError):
        mpich_shim.run("startup", "--repeats", "2", ranks=4, out=out, reversed=1)
    run = read(out)
    wrong = {
        tuple(text["text"].split()[:3:2]) for text in run.warnings if text["code"] == "wrong-result"
    }
    assert wrong == {("comm_split", "4"), *((op, p) for op in CREATIONS[1:] for p in "24")}
    assert set(run.tables["sample"]["op"]) == {"launch", "init", "finalize", "comm_split"}
    assert run.complete
