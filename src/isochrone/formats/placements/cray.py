"""Rank order of Cray MPICH (MPICH_RANK_ORDER): the ranks of each node, in the job's own order."""

from isochrone.measure.arrangement import Arrangement
from isochrone.measure.placement import Placement


def text(arrangement: Arrangement) -> str:
    """Return a line for each node of the job: here the ranks move, the nodes stay."""
    ranks_of = dict(arrangement.ranks())
    lines = (",".join(map(str, ranks_of[host])) for host in arrangement.given.hosts)
    return "".join(f"{line}\n" for line in lines)


# Cray MPICH reorders the ranks itself; srun must not get a distribution (-m).
PLACEMENT = Placement(
    file="MPICH_RANK_ORDER",
    text=text,
    launcher="srun",
    words="srun --ntasks={ranks}",
    environ={"MPICH_RANK_REORDER_METHOD": "3", "MPICH_RANK_REORDER_FILE": "{path}"},
)
