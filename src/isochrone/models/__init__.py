"""Models of communication time: families of formulas, fitted by weighted least squares.

This folder is the engine; a family is a file in `families` with a `Family` called ``FAMILY``. A
fitted `Model` consists of segments (`Segment`): formulas, each with the range where it holds.
"""

from isochrone.models.deviation import deviations_by_group, goodness_of_fit
from isochrone.models.family import Family, Form
from isochrone.models.family import declaration as family
from isochrone.models.file import document, read, write
from isochrone.models.fit import fit
from isochrone.models.load import load, load_usable
from isochrone.models.model import Model
from isochrone.models.observations import Observations, Samples, of_run
from isochrone.models.prediction import Prediction
from isochrone.models.segment import Segment
from isochrone.models.splits import Splits, parse_splits

__all__ = [
    "Family",
    "Form",
    "Model",
    "Observations",
    "Prediction",
    "Segment",
    "Samples",
    "Splits",
    "deviations_by_group",
    "document",
    "family",
    "fit",
    "goodness_of_fit",
    "load",
    "load_usable",
    "of_run",
    "parse_splits",
    "read",
    "write",
]
