"""The collective operations of MPI that are measured, modelled, simulated and recorded."""

from dataclasses import dataclass


@dataclass(frozen=True)
class _Operation:
    """One of them: whether it has a root, whether it adds doubles, and what is taken for it."""

    rooted: bool = False
    reduces: bool = False
    also: tuple[str, ...] = ()


_OPERATIONS = {
    "barrier": _Operation(),
    "bcast": _Operation(rooted=True),
    "reduce": _Operation(rooted=True, reduces=True),
    "allreduce": _Operation(reduces=True),
    "gather": _Operation(rooted=True, also=("gatherv",)),
    "scatter": _Operation(rooted=True, also=("scatterv",)),
    "allgather": _Operation(also=("allgatherv",)),
    "alltoall": _Operation(also=("alltoallv", "alltoallw")),
    "reduce_scatter_block": _Operation(reduces=True, also=("reduce_scatter",)),
    "scan": _Operation(reduces=True, also=("exscan",)),
}

COLLECTIVES = tuple(_OPERATIONS)
"""Those that `measure collective` measures, in small letters without ``MPI_``."""

ROOTED = tuple(name for name, operation in _OPERATIONS.items() if operation.rooted)
"""Those that have a root."""

REDUCING = tuple(name for name, operation in _OPERATIONS.items() if operation.reduces)
"""Those that add doubles."""

CALLED = {
    called: name for name, operation in _OPERATIONS.items() for called in (name, *operation.also)
}  # fmt: skip
"""The recorded name of a call."""
