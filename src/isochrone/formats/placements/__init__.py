"""Placement files: ONE FILE = ONE FORMAT, named as the user types it after ``place nodes --to``.

A file ends in ``PLACEMENT = Placement(…)`` (`isochrone.measure.placement`). To add a format, add a
file; nothing else has to know it.
"""
