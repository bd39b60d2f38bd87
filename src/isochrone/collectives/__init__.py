"""Collective operations: algorithms on grids of ranks, tuning tables and their choice."""
