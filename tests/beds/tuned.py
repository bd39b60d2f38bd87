"""Programs that know nothing of Isochrone, started with and without a tuning table."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beds.mpis import CROWDED, PATIENCE, SCRIPTS, Mpi
from isochrone.collectives.grid_collectives import OPERATIONS
from isochrone.collectives.tuning_table import mpi_name
from isochrone.measure import launcher as launchers
from isochrone.measure.launcher import Job

Answer = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Ranks:
    """Ranks of a program on this machine, on an MPI."""

    mpi: Mpi
    count: int
    program: tuple[str, ...]

    def command(self, **environ: str) -> list[str]:
        """Return the tokens that start them, with variables for the ranks alone."""
        library = self.mpi.probe.library
        launcher = launchers.load(launchers.choose({}, library))
        job = Job(ranks=self.count, program=self.program, mpicc=self.mpi.probe.mpicc, processors=1)
        first, *others = launcher.command(job)
        return [first, *(launcher.environment(environ) or []), *others]

    def alone(self, **environ: str) -> Answer:
        """Run them without Isochrone."""
        return started(self.command(**environ))

    def tuned(self, table: Path, *options: str) -> Answer:
        """Run them with a table, as a user does."""
        words = [str(SCRIPTS / "isochrone"), "exec", "--tuning", str(table), *options, "--"]
        return started([*words, *self.command()])


def started(words: Sequence[str]) -> Answer:
    """Run a command to its end."""
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, **CROWDED},
    )


def said(answer: Answer) -> list[str]:
    """Return the lines of the library: launchers print, too."""
    lines = answer.stderr.splitlines()
    return [line for line in lines if line.startswith("isochrone-grid: ")]


def rules(ranks: int, grid: str, low: int, high: int, **other: Any) -> list[dict[str, Any]]:
    """Return a rule for each operation."""
    common = {"ranks": ranks, "grid": grid, "bytes": [low, high], "points": [[64, 3e-5, 1e-5]]}
    return [{"op": op, **common, **other} for op in OPERATIONS]


def table(path: Path, mpi: Mpi | str, found: Sequence[dict[str, Any]]) -> Path:
    """Write a table for an MPI, or one of this name."""
    name = mpi if isinstance(mpi, str) else mpi_name(mpi.probe.library)
    path.write_text(json.dumps({"record": "tuning", "format": 1, "mpi": name, "rules": found}))
    return path
