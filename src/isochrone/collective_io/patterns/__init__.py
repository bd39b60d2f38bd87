"""Access patterns: ONE FILE = ONE PATTERN, named as its option: ``tiles.py`` is ``--tiles``.

A file ends in ``PATTERN = Pattern(…)`` (`isochrone.collective_io.workload.pattern`). To add a
pattern, add a file.
"""
