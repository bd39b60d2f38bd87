"""The probe's samples of every mode and window against a plain loop, on real MPI."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from beds.loops import Loop, compare_loops
from isochrone.measure import launcher as launchers
from isochrone.measure.probe import Probe

BLOCKS, SAMPLES = 400, 6
"""Short blocks, in turns: some of them are not disturbed by what else the machine does."""


def loops(mpicc: Path, built: Probe, folder: Path) -> None:
    """Compare the median of the samples with elapsed time over operations."""
    program = compare_loops(mpicc, folder)
    print(f"\nMedian of the samples / plain loop, {BLOCKS} blocks in turns, in each mode")
    print("with windows of 1, 4 and 64 (limits: 0.9 to 1.1):")
    for nbytes in (8, 65536):
        found = compared(mpicc, built, program, nbytes)
        for mode in dict.fromkeys(loop.mode for loop in found):
            ratios = [f"{loop.probe / loop.plain:.3f}" for loop in found if loop.mode == mode]
            print(f"  {nbytes:7d} B  {mode:13s} {'  '.join(ratios)}")


def compared(mpicc: Path, built: Probe, program: Path, nbytes: int) -> list[Loop]:
    """Run both loops of all modes and windows between two ranks."""
    launcher = launchers.load(launchers.choose({}, built.library))
    job = launchers.Job(
        ranks=2,
        program=(str(program), str(BLOCKS), str(SAMPLES), str(nbytes)),
        mpicc=mpicc,
        processors=len(os.sched_getaffinity(0)),
    )
    answer = subprocess.run(
        launcher.command(job), check=True, timeout=300, capture_output=True, text=True
    )
    return [Loop.parse(line) for line in answer.stdout.splitlines()]
