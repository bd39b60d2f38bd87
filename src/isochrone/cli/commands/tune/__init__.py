"""Find and verify faster collectives or MPI-IO hints for a program."""
