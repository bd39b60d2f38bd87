"""Hostfile of Hydra, the mpiexec of MPICH, Intel MPI and MVAPICH: lines ``host:ranks``."""

from isochrone.measure.arrangement import Arrangement
from isochrone.measure.placement import Placement


def text(arrangement: Arrangement) -> str:
    """Return a line for each node. Each host comes once: repeated lines would split the node."""
    return "".join(f"{host}:{len(ranks)}\n" for host, ranks in arrangement.ranks())


# Hydra fills the hosts in the order of the file.
PLACEMENT = Placement(
    file="hostfile",
    text=text,
    launcher="mpiexec-mpich",
    words="mpiexec -n {ranks}",
    options=["-f", "{path}"],
)
