"""Tuning files of MPI libraries: ONE FILE = ONE FORMAT, named as typed after ``tune --to``.

A file ends in ``TUNING_FILE = TuningFile(…)`` (`isochrone.collectives.tuning_file`). To add a
format, add a file; nothing else has to know it.
"""
