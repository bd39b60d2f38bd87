"""Host of each rank, for Flux's ``--taskmap=hostfile:``: a line for each rank."""

from isochrone.measure.placement import Placement, hosts_of_ranks

# Flux assigns its tasks to the hosts of the file in turn.
PLACEMENT = Placement(
    file="flux-taskmap",
    text=hosts_of_ranks,
    launcher="flux",
    words="flux run --ntasks={ranks}",
    options=["--taskmap=hostfile:{path}"],
)
