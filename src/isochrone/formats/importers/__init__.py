"""Importers: ONE FILE = ONE FORMAT that is read into a run, named as after ``import --from``.

A file ends in ``IMPORTER = Importer(…)`` (`isochrone.runfile.importer`). To add a format, add a
file; nothing else has to know it.
"""
