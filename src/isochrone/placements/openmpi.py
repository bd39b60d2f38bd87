"""Hostfile of Open MPI: lines ``host slots=ranks``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from isochrone.placements import Order, Start, absolute

FILE: Final = "hostfile.openmpi"


def text(order: Order) -> str:
    """Return a line for each node."""
    return "".join(f"{host} slots={len(ranks)}\n" for host, ranks in order.ranks())


def start(path: Path, ranks: int) -> Start:
    """Ranks are mapped by slot: the hosts are filled in the order of the file."""
    options = ("--hostfile", absolute(path), "--map-by", "slot")
    return Start("mpirun-openmpi", ("mpirun", "-n", str(ranks)), options)
