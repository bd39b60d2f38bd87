"""Isochrone: what communication costs on a parallel machine.

Measure it, model it, predict it, and act on the prediction.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

__version__ = "0.1.0"

__all__ = ["Model", "Run", "fit", "read", "read_model"]

if TYPE_CHECKING:
    from isochrone.models import Model, fit
    from isochrone.models import read as read_model
    from isochrone.runfile.file import read
    from isochrone.runfile.run import Run

_HOMES: Final = {
    "Run": ("isochrone.runfile.run", "Run"),
    "read": ("isochrone.runfile.file", "read"),
    "Model": ("isochrone.models", "Model"),
    "fit": ("isochrone.models", "fit"),
    "read_model": ("isochrone.models", "read"),
}


def __getattr__(name: str) -> Any:
    """Load the public names on first use, so that ``isochrone --help`` needs no numpy."""
    if name in _HOMES:
        module, attribute = _HOMES[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module 'isochrone' has no attribute {name!r}")
