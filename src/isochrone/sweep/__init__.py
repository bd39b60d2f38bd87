"""A sweep: the time of one operation over message sizes.

`curves` summarises the repetitions: one curve for each pair of ranks, bisection or collective, one
point for each size. `switches` finds where a curve changes its slope or jumps, because the MPI
library changes its protocol.
"""
