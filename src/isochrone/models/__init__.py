"""Models of communication time: families of formulas, fitted by weighted least squares.

This folder is the engine; a family is a file in `families` with a `Family` called ``FAMILY``. A
fitted `Model` consists of segments (`Segment`): formulas, each with the range where it holds.
"""

from isochrone.models.data.load import load, load_usable
from isochrone.models.data.observations import Observations, Samples, of_run
from isochrone.models.fit import fit
from isochrone.models.formulas.family import Family, Form
from isochrone.models.formulas.family import declaration as family
from isochrone.models.formulas.segment import Segment
from isochrone.models.prediction.deviation import deviations_by_group, goodness_of_fit
from isochrone.models.prediction.file import document, read, write
from isochrone.models.prediction.model import Model
from isochrone.models.prediction.predicted import Prediction
from isochrone.models.selection.splits import Splits, parse_splits

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
