"""Node file as PBS writes it ($PBS_NODEFILE), reordered: a line for each rank.

Open MPI puts a rank on the host of each line; Hydra would make a node of each line. As a hostfile
it would not do: Open MPI 5 fills hosts that are repeated in an order of its own.
"""

from isochrone.measure.placement import Placement, hosts_of_ranks, within_option

PLACEMENT = Placement(
    file="pbs-nodefile",
    text=hosts_of_ranks,
    launcher="mpirun-openmpi",
    words="mpirun -n {ranks}",
    options=["--map-by", "seq:file={path}"],
    path=within_option,
)
