"""Measuring: the probe, how it is started, what is measured, and for how long.

``isochrone.measure("latency-map", ranks=4)`` measures: the package can be called, as the function
`isochrone.api.run_experiment.measure`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = []


class _Package(ModuleType):
    """A package that can be called: users of Python look for a function of its name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Measure: see `isochrone.api.run_experiment.measure`."""
        return import_module("isochrone.api.run_experiment").measure(*args, **options)


sys.modules[__name__].__class__ = _Package
