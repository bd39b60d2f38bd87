"""Collective operations: realisations on grids of ranks, tuning tables, and which one to use."""
