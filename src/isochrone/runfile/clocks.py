"""How well the ranks' clocks agree: right after they were synchronised, and at any time later."""

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.documents import IfKnown
from isochrone.base.record import Record
from isochrone.base.stats import median_of
from isochrone.runfile.run import Run

KIND = "clocks"


class Offsets(Record):
    """Comparisons of the clocks of two ranks, at any time after they were synchronised. Seconds.

    Attributes
    ----------
    comparisons
        How many.
    median, max
        Of the absolute difference.
    bound
        Median over the comparisons of how wrong each may be.
    worst_pair, worst_age
        The ranks of the largest difference, and how long ago the clocks had been synchronised.
    """

    comparisons: int
    median: float
    max: float
    bound: float
    worst_pair: tuple[int, int]
    worst_age: float


class Clocks(Record):
    """The ``sync`` and ``offset`` records of a run, in seconds.

    Attributes
    ----------
    synchronised
        How often.
    residual_median, residual_max
        Difference to the clock of rank 0 just after; over all ranks and times.
    drift_max
        Of any rank against rank 0, in seconds per second, as known at the end.
    offset
        None if no clocks were compared later.
    """

    synchronised: int
    residual_median: float
    residual_max: float
    drift_max: float
    offset: IfKnown[Offsets] = None


def has_clocks(run: Run) -> bool:
    """Whether the clocks of the ranks were synchronised; runs of any kind may have done so."""
    return "sync" in run.tables


def clocks(run: Run) -> Clocks:
    """Summarise how well the clocks of a run agreed."""
    offset = None
    if "offset" in run.tables:
        # a clock behind is as wrong as one ahead
        offsets = np.abs(_column(run, "offset", "seconds"))
        worst = int(np.argmax(offsets))
        i, j, age = (float(_column(run, "offset", key)[worst]) for key in ("i", "j", "age"))
        offset = Offsets(
            comparisons=len(offsets), median=median_of(offsets), max=float(offsets[worst]),
            bound=median_of(_column(run, "offset", "bound")),
            worst_pair=(int(i), int(j)), worst_age=age,
        )  # fmt: skip
    return Clocks(
        synchronised=len(run.tables["sync"]),
        residual_median=median_of(_column(run, "sync", "residual_median")),
        residual_max=float(_column(run, "sync", "residual_max").max()),
        drift_max=float(_column(run, "sync", "drift_max")[-1]),
        offset=offset,
    )


def _column(run: Run, name: str, key: str) -> Floats:
    return np.asarray(run.tables[name][key], dtype=np.float64)
