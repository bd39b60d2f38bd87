"""What the OSU Micro-Benchmarks print about one-sided modes, for our modes and options."""

CALLS = {
    "put": "Put",
    "get": "Get",
    "bidirectional_put": "Put",
    "bidirectional_get": "Get",
    "accumulate": "Accumulate",
    "get_accumulate": "Get_accumulate",
    "fetch_and_op": "Fetch_and_op",
    "compare_and_swap": "Compare_and_swap",
}
"""The call in the title, by the mode."""

ABOUT_ACCESS = {
    "Window creation": (
        "rma-window",
        {
            "create": "MPI_Win_create",
            "allocate": "MPI_Win_allocate",
            "dynamic": "MPI_Win_create_dynamic",
            "shared": "MPI_Win_allocate_shared",
        },
    ),
    "Synchronization": (
        "rma-sync",
        {
            "flush": "MPI_Win_flush",
            "flush_local": "MPI_Win_flush_local",
            "lock": "MPI_Win_lock/unlock",
            "lock_all": "MPI_Win_lock_all/unlock_all",
            "fence": "MPI_Win_fence",
            "pscw": "MPI_Win_post/start/complete/wait",
        },
    ),
}
"""Lines below the title: the option of each, and what is printed for its values."""
