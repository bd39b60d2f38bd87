"""The curves of a sweep, all sizes or one, for the formats that hold sweeps."""

from __future__ import annotations

from isochrone.results.sweep.curves import Curve, curves, of_size
from isochrone.runfile.run import Run

__all__ = ["curves_to_export"]


def curves_to_export(run: Run, nbytes: int | None) -> list[Curve]:
    """Return the curves with all their sizes, or with the one size the user names.

    Of a run with grids these are the whole operations; its phases are in a CSV.

    Raises
    ------
    InputError
        If the run is not a sweep, or nothing was measured with this size.
    """
    return of_size([curve for curve in curves(run) if curve.whole], nbytes, run.where)
