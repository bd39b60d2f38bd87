"""Measuring on a simulated machine, through the command line as a user does it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.platforms import Platform
from isochrone.run import Run, read
from mpis import SCRIPTS


@dataclass
class Simulation:
    """A folder in which machines are simulated."""

    folder: Path
    count: int = field(default=0, init=False)

    def map(self, machine: Platform, *options: str, launcher: tuple[str, ...] = ()) -> Run:
        """Measure a latency map of a machine."""
        return self.measure("latency-map", machine, *options, launcher=launcher)

    def measure(
        self, experiment: str, machine: Platform, *options: str, launcher: tuple[str, ...] = ()
    ) -> Run:
        """Measure on all cores of a machine."""
        self.count += 1
        platform = self.folder / f"{self.count}.xml"
        out = self.folder / f"{self.count}.jsonl"
        platform.write_text(machine.xml())
        platform.with_suffix(".hosts").write_text(machine.hosts())
        ranks = machine.nodes * machine.cores
        argv = [
            SCRIPTS / "isochrone", "measure", experiment, "-n", str(ranks), "--quiet",
            "--launcher", "simgrid", "--platform", platform, "-o", out, *launcher, *options,
        ]  # fmt: skip
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        assert answer.returncode == 0, answer.stderr
        return read(out)


def available() -> bool:
    """Whether SimGrid is installed."""
    return shutil.which("smpicc") is not None and shutil.which("smpirun") is not None
