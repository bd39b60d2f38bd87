"""Isochrone: what communication costs on a parallel machine.

Measure it, model it, predict it, and act on the prediction. ``__init__.pyi`` has the types.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

__all__ = [
    "Model",
    "Run",
    "analyse",
    "compare",
    "fit",
    "measure",
    "plot",
    "read",
    "read_model",
]

_HOMES = {
    "Run": ("isochrone.runfile.run", "Run"),
    "read": ("isochrone.runfile.any_file", "read"),
    "Model": ("isochrone.models", "Model"),
    "read_model": ("isochrone.models", "read"),
    **{name: ("isochrone.api", name) for name in ("analyse", "compare", "fit", "plot")},
}


def __getattr__(name: str) -> Any:
    """Load the public names on first use, so that ``isochrone --help`` needs no numpy."""
    if name == "measure":  # the package of this name, which can be called
        return import_module("isochrone.measure")
    if name in _HOMES:
        module, attribute = _HOMES[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module 'isochrone' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, also those that were not loaded yet."""
    return sorted({*globals(), *__all__})
