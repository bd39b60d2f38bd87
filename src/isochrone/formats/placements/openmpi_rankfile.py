"""Rankfile of Open MPI: the host and the slot of every rank."""

from isochrone.measure.arrangement import Arrangement
from isochrone.measure.placement import Placement, within_option


def text(arrangement: Arrangement) -> str:
    """Return a line for each rank; slots are the cores of a node, counted from 0."""
    return "".join(
        f"rank {rank}={host} slot={slot}\n"
        for host, ranks in arrangement.ranks()
        for slot, rank in enumerate(ranks)
    )


# Each rank is placed by the file; the allocation is that of the batch job or a hostfile.
PLACEMENT = Placement(
    file="rankfile",
    text=text,
    launcher="mpirun-openmpi",
    words="mpirun -n {ranks}",
    options=["--map-by", "rankfile:file={path}"],
    path=within_option,
)
