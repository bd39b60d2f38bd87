"""Find faster collective algorithms or MPI-IO hints for a program, and verify them."""
