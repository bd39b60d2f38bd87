"""Exporters: ONE FILE = ONE FORMAT, named as the user types it after ``export --to``.

A file ends in ``EXPORTER = Exporter(…)`` (`isochrone.formats.exporter`). To add a format, add a
file; nothing else has to know it.
"""
