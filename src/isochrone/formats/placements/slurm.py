"""Host of each rank, for Slurm's ``srun -m arbitrary``: a line for each rank."""

from isochrone.measure.placement import Placement, hosts_of_ranks

# srun takes the file from a variable; it must not get a range of nodes (-N) as well.
PLACEMENT = Placement(
    file="slurm-hostfile",
    text=hosts_of_ranks,
    launcher="srun",
    words="srun --ntasks={ranks}",
    options=["-m", "arbitrary"],
    environ={"SLURM_HOSTFILE": "{path}"},
)
