"""Models of communication time: ONE FILE = ONE FAMILY, fitted by weighted least squares.

A family is a module with a `Family` called ``FAMILY``; the first line of its docstring is its help
text. Listing the families needs no numpy; fitting and predicting do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from isochrone.models._file import document, read, write
    from isochrone.models._fit import family, fit, load
    from isochrone.models._judge import by_group, judge
    from isochrone.models._model import Model, Piece, Prediction
    from isochrone.models._points import Data, Points, of_run
    from isochrone.models._regimes import Splits, parse_splits

__all__ = [
    "Data", "Model", "Piece", "Points", "Prediction", "Splits",
    "by_group", "document", "family", "fit", "judge", "load", "of_run", "parse_splits", "read",
    "write",
]  # fmt: skip

_HOMES: Final = {
    "Model": "_model", "Piece": "_model", "Prediction": "_model",
    "Data": "_points", "Points": "_points", "of_run": "_points",
    "Splits": "_regimes", "parse_splits": "_regimes",
    "document": "_file", "read": "_file", "write": "_file",
    "by_group": "_judge", "judge": "_judge",
    "family": "_fit", "fit": "_fit", "load": "_fit",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the public names on first use, so that listing the families needs no numpy."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"isochrone.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'isochrone.models' has no attribute {name!r}")
