"""Rankfile of Open MPI: the host and the slot of every rank."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from isochrone.placements import Order, Start, absolute

FILE: Final = "rankfile"


def text(order: Order) -> str:
    """Return a line for each rank; slots are the cores of a node, counted from 0."""
    return "".join(
        f"rank {rank}={host} slot={slot}\n"
        for host, ranks in order.ranks()
        for slot, rank in enumerate(ranks)
    )


def start(path: Path, ranks: int) -> Start:
    """Each rank goes where the file says; the allocation is that of the batch job or a hostfile."""
    options = ("--map-by", f"rankfile:file={absolute(path)}")
    return Start("mpirun-openmpi", ("mpirun", "-n", str(ranks)), options)
