"""Launchers: ONE FILE = ONE LAUNCHER, named as the user types it after ``--launcher``.

A file ends in ``LAUNCHER = Launcher(…)`` (`isochrone.measure.launcher`), which names what it can:
at least a function that returns the tokens to start the ranks. To add a launcher, add a file;
nothing else has to know it.
"""
