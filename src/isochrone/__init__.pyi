from isochrone.api import analyse as analyse
from isochrone.api import compare as compare
from isochrone.api import fit as fit
from isochrone.api import measure as measure
from isochrone.api import plot as plot
from isochrone.api import read as read
from isochrone.models import Model as Model
from isochrone.models import read as read_model
from isochrone.runfile.run import Run as Run

__all__ = [
    "Model", "Run", "analyse", "compare", "fit", "measure", "plot", "read", "read_model",
]  # fmt: skip

__version__: str
