"""What is said of each kind of result: ONE FILE = ONE KIND, named as in the header of a run.

A module ends in ``PAGE``, a `isochrone.pages.page.Kind`. It says everything once, as data; how it
looks is up to `isochrone.pages.terminal` and `isochrone.pages.html`.
"""
