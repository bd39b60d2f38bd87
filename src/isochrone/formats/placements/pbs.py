"""Node file as PBS writes it ($PBS_NODEFILE), reordered: a line for each rank."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from isochrone.measure.arrangement import Arrangement
from isochrone.measure.placement import LaunchPlan, Placement, within_option


def text(arrangement: Arrangement) -> str:
    """Return a line for each rank."""
    return "".join(f"{host}\n" for host in arrangement.hosts())


def start(path: Path, ranks: int) -> LaunchPlan:
    """Open MPI puts a rank on the host of each line; Hydra would make a node of each line.

    As a hostfile it would not do: Open MPI 5 fills hosts that are repeated in an order of its own.
    """
    options = ("--map-by", f"seq:file={within_option(path)}")
    return LaunchPlan("mpirun-openmpi", ("mpirun", "-n", str(ranks)), options)


PLACEMENT: Final = Placement(file="pbs-nodefile", text=text, start=start)
