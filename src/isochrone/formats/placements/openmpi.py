"""Hostfile of Open MPI: lines ``host slots=ranks``."""

from pathlib import Path

from isochrone.measure.arrangement import Arrangement
from isochrone.measure.placement import LaunchPlan, Placement, absolute


def text(arrangement: Arrangement) -> str:
    """Return a line for each node."""
    return "".join(f"{host} slots={len(ranks)}\n" for host, ranks in arrangement.ranks())


def start(path: Path, ranks: int) -> LaunchPlan:
    """Ranks are mapped by slot: the hosts are filled in the order of the file."""
    options = ("--hostfile", absolute(path), "--map-by", "slot")
    return LaunchPlan("mpirun-openmpi", ("mpirun", "-n", str(ranks)), options)


PLACEMENT = Placement(file="hostfile.openmpi", text=text, start=start)
