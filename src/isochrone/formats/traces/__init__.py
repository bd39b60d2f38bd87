"""Traces of programs: ONE FILE = ONE FORMAT, named as the user types it after ``import --from``.

A file ends in ``TRACE = TraceFormat(…)`` (`isochrone.formats.trace`). To add a format, add a file;
nothing else has to know it.
"""
