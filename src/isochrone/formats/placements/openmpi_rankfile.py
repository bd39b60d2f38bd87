"""Rankfile of Open MPI: the host and the slot of every rank."""

from pathlib import Path

from isochrone.measure.arrangement import Arrangement
from isochrone.measure.placement import LaunchPlan, Placement, within_option


def text(arrangement: Arrangement) -> str:
    """Return a line for each rank; slots are the cores of a node, counted from 0."""
    return "".join(
        f"rank {rank}={host} slot={slot}\n"
        for host, ranks in arrangement.ranks()
        for slot, rank in enumerate(ranks)
    )


def start(path: Path, ranks: int) -> LaunchPlan:
    """Each rank is placed by the file; the allocation is that of the batch job or a hostfile."""
    options = ("--map-by", f"rankfile:file={within_option(path)}")
    return LaunchPlan("mpirun-openmpi", ("mpirun", "-n", str(ranks)), options)


PLACEMENT = Placement(file="rankfile", text=text, start=start)
