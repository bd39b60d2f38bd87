"""Host of each rank, for Slurm's ``srun -m arbitrary``: a line for each rank."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from isochrone.placements import Order, Start, absolute

FILE: Final = "slurm-hostfile"


def text(order: Order) -> str:
    """Return a line for each rank."""
    return "".join(f"{host}\n" for host in order.hosts())


def start(path: Path, ranks: int) -> Start:
    """Srun takes the file from a variable; it must not get a range of nodes (``-N``) as well."""
    words = ("srun", f"--ntasks={ranks}")
    return Start("srun", words, ("-m", "arbitrary"), {"SLURM_HOSTFILE": absolute(path)})
