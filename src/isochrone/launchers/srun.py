"""Slurm: srun inside an allocation (salloc, sbatch)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from isochrone.launchers import Job, on_path

PRIORITY: Final = 10


def detect(environ: Mapping[str, str], library: str) -> bool:
    """Tell by the allocation."""
    return "SLURM_JOB_ID" in environ and on_path("srun", environ)


def command(job: Job) -> list[str]:
    """Return the tokens of ``srun --ntasks=RANKS``."""
    return ["srun", f"--ntasks={job.ranks}", *job.extra, *job.program]
