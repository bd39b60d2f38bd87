"""Algorithms of MPI libraries: ONE FILE = ONE FAMILY OF LIBRARIES.

A file ends in ``ALGORITHMS = Algorithms(…)`` (`isochrone.measure.algorithm`). To add a family, add
a file; nothing else has to know it.
"""
