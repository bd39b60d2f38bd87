"""Why the MPI-IO of a recorded program is slow."""
