"""MPICH: control variables (CVARs) in the environment of the ranks."""

from collections.abc import Mapping

from isochrone.measure.algorithm import Algorithms, Forced, Mpi, Names
from isochrone.measure.library import holds, library_file

_NAMES = {
    "barrier": ("nb", "smp", "k_dissemination", "recexch"),
    "bcast": (
        "binomial",
        "nb",
        "smp",
        "scatter_recursive_doubling_allgather",
        "scatter_ring_allgather",
        "pipelined_tree",
        "tree",
    ),
    "reduce": ("binomial", "nb", "smp", "reduce_scatter_gather"),
    "allreduce": (
        "nb",
        "smp",
        "recursive_doubling",
        "recursive_multiplying",
        "reduce_scatter_allgather",
        "tree",
        "recexch",
        "ring",
        "k_reduce_scatter_allgather",
    ),
    "gather": ("binomial", "nb"),
    "scatter": ("binomial", "nb"),
    "allgather": (
        "brucks",
        "k_brucks",
        "nb",
        "recursive_doubling",
        "ring",
        "recexch_doubling",
        "recexch_halving",
    ),
    "alltoall": ("brucks", "k_brucks", "nb", "pairwise", "scattered"),
    "reduce_scatter_block": (
        "noncommutative",
        "recursive_doubling",
        "pairwise",
        "recursive_halving",
        "nb",
    ),
    "scan": ("nb", "smp", "recursive_doubling"),
}
"""Values of MPIR_CVAR_<OPERATION>_INTRA_ALGORITHM in MPICH 5.0 (``src/mpi/coll/cvars.txt``) but for
``auto``, which chooses nothing, and what is for MPI_IN_PLACE only. Older ones have fewer."""


def fits(mpi: Mpi) -> bool:
    """Detect by the library; its derivatives have their own selection tables."""
    return mpi.library.startswith("MPICH")


def known(mpi: Mpi) -> Names:
    """Return those whose names are in the library file: a value it does not know ends MPI_Init."""
    file = library_file(mpi.program)
    if file is None:
        return dict(_NAMES)
    texts = {name.encode() for names in _NAMES.values() for name in names}
    present = holds(file, texts)
    return {
        operation: tuple(name for name in names if name.encode() in present)
        for operation, names in _NAMES.items()
    }


def force(algorithms: Mapping[str, str], mpi: Mpi) -> Forced:
    """Return the variables.

    Within a node the device would otherwise take the operation before it comes to the algorithm,
    and an algorithm that cannot be used, such as recursive doubling for 3 ranks, would be replaced
    in silence: here it ends the job.
    """
    environ = {"MPIR_CVAR_COLLECTIVE_FALLBACK": "error"}
    for operation, name in algorithms.items():
        environ[f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM"] = name
        environ[f"MPIR_CVAR_{operation.upper()}_DEVICE_COLLECTIVE"] = "0"
    return Forced(environ, refusal="User set collective algorithm is not usable")


ALGORITHMS = Algorithms(fits=fits, known=known, force=force)
