"""Isochrone: what communication costs on a parallel machine.

Measure it, model it, predict it, and act on the prediction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Run", "read"]

if TYPE_CHECKING:
    from isochrone.run import Run, read


def __getattr__(name: str) -> Any:
    """Load the public names on first use, so that ``isochrone --help`` needs no numpy."""
    if name in __all__:
        from isochrone import run

        return getattr(run, name)
    raise AttributeError(f"module 'isochrone' has no attribute {name!r}")
