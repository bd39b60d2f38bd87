"""The benchmarks of OSU Micro-Benchmarks 7.5, and the measurement of the same quantity.

The names are those of its programs for MPI in C: pt2pt, one-sided, collective, congestion, startup.
``docs/osu-and-imb.md`` is tested against this table.
"""

_BLOCKING = (
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scatter",
    "scatterv",
)
_NEIGHBOUR = tuple(
    f"neighbor_{op}" for op in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
)
_PERSISTENT = tuple(op for op in _BLOCKING if op != "reduce_scatter_block")


def _collectives(pattern: str, ops: tuple[str, ...], form: str) -> dict[str, str]:
    """Return the command of each operation in one form.

    OSU adds elements of MPI_CHAR, and its ranks have the two neighbours of a ring.
    """
    option = "" if form == "blocking" else f" --form {form}"
    return {
        pattern.format(op): f"collective --op {op}{option}"
        + " --type char" * ("reduce" in op)
        + " --neighbours 2" * ("neighbor" in op)
        for op in ops
    }


OSU = {
    "osu_latency": "point-to-point",
    "osu_latency_persistent": "point-to-point --mode persistent",
    "osu_latency_mt": "point-to-point --threads 2",
    "osu_latency_mp": "",
    "osu_partitioned_latency": "point-to-point --mode partitioned",
    "osu_bw": "point-to-point --mode nonblocking --window 64",
    "osu_bw_persistent": "point-to-point --mode persistent --window 64",
    "osu_bibw": "point-to-point --mode bidirectional --window 64",
    "osu_bibw_persistent": "point-to-point --mode bidirectional_persistent --window 64",
    "osu_multi_lat": "bisection",
    "osu_mbw_mr": "bisection --mode nonblocking --window 64",
    "osu_put_latency": "point-to-point --mode put --rma-window allocate",
    "osu_put_bw": "point-to-point --mode put --window 64 --rma-window allocate",
    "osu_put_bibw": (
        "point-to-point --mode bidirectional_put --window 64 --rma-window allocate --rma-sync pscw"
    ),
    "osu_get_latency": "point-to-point --mode get --rma-window allocate",
    "osu_get_bw": "point-to-point --mode get --window 64 --rma-window allocate",
    "osu_acc_latency": "point-to-point --mode accumulate --rma-window allocate",
    "osu_get_acc_latency": "point-to-point --mode get_accumulate --rma-window allocate",
    "osu_fop_latency": "point-to-point --mode fetch_and_op --rma-window allocate",
    "osu_cas_latency": "point-to-point --mode compare_and_swap --rma-window allocate",
    **_collectives("osu_{}", _BLOCKING, "blocking"),
    **_collectives("osu_{}", _NEIGHBOUR, "blocking"),
    **_collectives("osu_i{}", _BLOCKING, "nonblocking"),
    **_collectives("osu_i{}", _NEIGHBOUR, "nonblocking"),
    **_collectives("osu_{}_persistent", _PERSISTENT, "persistent"),
    "osu_bw_fan_in": "hotspot --balance free",
    "osu_bw_fan_out": "hotspot --balance free",
    "osu_init": "startup",
    "osu_hello": "startup",
}
"""What follows ``isochrone measure``, by name; empty where there is nothing of the kind."""
