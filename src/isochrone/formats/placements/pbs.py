"""Node file as PBS writes it ($PBS_NODEFILE), reordered: a line for each rank."""

from pathlib import Path

from isochrone.measure.placement import LaunchPlan, Placement, hosts_of_ranks, within_option


def start(path: Path, ranks: int) -> LaunchPlan:
    """Open MPI puts a rank on the host of each line; Hydra would make a node of each line.

    As a hostfile it would not do: Open MPI 5 fills hosts that are repeated in an order of its own.
    """
    options = ("--map-by", f"seq:file={within_option(path)}")
    return LaunchPlan("mpirun-openmpi", ("mpirun", "-n", str(ranks)), options)


PLACEMENT = Placement(file="pbs-nodefile", text=hosts_of_ranks, start=start)
