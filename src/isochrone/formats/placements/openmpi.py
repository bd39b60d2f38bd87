"""Hostfile of Open MPI: lines ``host slots=ranks``."""

from isochrone.measure.arrangement import Arrangement
from isochrone.measure.placement import Placement


def text(arrangement: Arrangement) -> str:
    """Return a line for each node."""
    return "".join(f"{host} slots={len(ranks)}\n" for host, ranks in arrangement.ranks())


# Ranks are mapped by slot: the hosts are filled in the order of the file.
PLACEMENT = Placement(
    file="hostfile.openmpi",
    text=text,
    launcher="mpirun-openmpi",
    words="mpirun -n {ranks}",
    options=["--hostfile", "{path}", "--map-by", "slot"],
)
