"""How well the ranks' clocks agree: right after they were synchronised, and at any time later."""

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.documents import IfKnown
from isochrone.base.record import Record
from isochrone.base.stats import INTERVAL_HALF, median_of
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
    error
        By how much a clock may be off at any time, `clock_errors`; None if that is not known.
    """

    synchronised: int
    residual_median: float
    residual_max: float
    drift_max: float
    offset: IfKnown[Offsets] = None
    error: IfKnown[float] = None


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
            comparisons=len(offsets),
            median=median_of(offsets),
            max=float(offsets[worst]),
            bound=median_of(_column(run, "offset", "bound")),
            worst_pair=(int(i), int(j)),
            worst_age=age,
        )
    error = sum(clock_errors(run))
    return Clocks(
        synchronised=len(run.tables["sync"]),
        residual_median=median_of(_column(run, "sync", "residual_median")),
        residual_max=float(_column(run, "sync", "residual_max").max()),
        drift_max=float(_column(run, "sync", "drift_max")[-1]),
        offset=offset,
        error=error if np.isfinite(error) else None,
    )


def clock_errors(run: Run) -> tuple[float, float]:
    """Return by how many seconds the clock of a rank may be off: 0 if none was synchronised.

    The first is the largest difference that two ranks saw just after a synchronisation, and the
    bound of that comparison. The second is what it may have drifted until the next one, at 95 %, by
    the standard error of the drift that is known least. Both are infinite if they are not recorded.
    """
    if not has_clocks(run):
        return 0.0, 0.0
    if not {"at", "bound_max", "drift_error"} <= run.tables["sync"].columns.keys():
        return np.inf, np.inf
    at = _column(run, "sync", "at")
    ages = np.diff(at, append=max((run.end or {}).get("seconds", 0.0), at[-1]))
    steady = np.abs(_column(run, "sync", "residual_max")) + _column(run, "sync", "bound_max")
    drift = INTERVAL_HALF * _column(run, "sync", "drift_error") * ages
    return float(steady.max()), float(drift.max())


def _column(run: Run, name: str, key: str) -> Floats:
    return np.asarray(run.tables[name][key], dtype=np.float64)
