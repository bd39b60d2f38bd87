"""Host of each rank, for Flux's ``--taskmap=hostfile:``: a line for each rank."""

from pathlib import Path

from isochrone.measure.placement import LaunchPlan, Placement, absolute, hosts_of_ranks


def start(path: Path, ranks: int) -> LaunchPlan:
    """Flux assigns its tasks to the hosts of the file in turn."""
    words = ("flux", "run", f"--ntasks={ranks}")
    return LaunchPlan("flux", words, (f"--taskmap=hostfile:{absolute(path)}",))


PLACEMENT = Placement(file="flux-taskmap", text=hosts_of_ranks, start=start)
