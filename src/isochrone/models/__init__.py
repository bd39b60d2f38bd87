"""Models of communication time: families of formulas, fitted by weighted least squares.

This folder is the engine; a family is a file in `families` with a `Family` called ``FAMILY``.
"""

from __future__ import annotations

from isochrone.models.file import document, read, write
from isochrone.models.fit import family, fit, load
from isochrone.models.judge import by_group, judge
from isochrone.models.model import Model, Prediction
from isochrone.models.piece import Piece
from isochrone.models.points import Data, Points, of_run
from isochrone.models.regimes import Splits, parse_splits

__all__ = [
    "Data", "Model", "Piece", "Points", "Prediction", "Splits",
    "by_group", "document", "family", "fit", "judge", "load", "of_run", "parse_splits", "read",
    "write",
]  # fmt: skip
