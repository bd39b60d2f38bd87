"""Hostfile of Hydra, the mpiexec of MPICH, Intel MPI and MVAPICH: lines ``host:ranks``."""

from pathlib import Path

from isochrone.measure.arrangement import Arrangement
from isochrone.measure.placement import LaunchPlan, Placement, absolute


def text(arrangement: Arrangement) -> str:
    """Return a line for each node. Each host comes once: repeated lines would split the node."""
    return "".join(f"{host}:{len(ranks)}\n" for host, ranks in arrangement.ranks())


def start(path: Path, ranks: int) -> LaunchPlan:
    """Hydra fills the hosts in the order of the file."""
    return LaunchPlan("mpiexec-mpich", ("mpiexec", "-n", str(ranks)), ("-f", absolute(path)))


PLACEMENT = Placement(file="hostfile", text=text, start=start)
