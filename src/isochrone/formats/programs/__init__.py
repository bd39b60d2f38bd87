"""Programs for simulators of others: ONE FILE = ONE FORMAT, named as after ``export --to``.

A file ends in ``PROGRAM = ProgramFormat(…)`` (`isochrone.formats.program`). To add a format, add a
file; nothing else has to know it.
"""
