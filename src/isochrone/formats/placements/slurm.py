"""Host of each rank, for Slurm's ``srun -m arbitrary``: a line for each rank."""

from pathlib import Path

from isochrone.measure.placement import LaunchPlan, Placement, absolute, hosts_of_ranks


def start(path: Path, ranks: int) -> LaunchPlan:
    """Srun takes the file from a variable; it must not get a range of nodes (``-N``) as well."""
    words = ("srun", f"--ntasks={ranks}")
    return LaunchPlan("srun", words, ("-m", "arbitrary"), {"SLURM_HOSTFILE": absolute(path)})


PLACEMENT = Placement(file="slurm-hostfile", text=hosts_of_ranks, start=start)
