"""The curves of a sweep, all sizes or one, for the formats that hold sweeps."""

from __future__ import annotations

from dataclasses import replace

from isochrone.base.errors import InputError
from isochrone.results.sweep.curves import Curve, curves
from isochrone.runfile.run import Run

__all__ = ["curves_to_export"]


def curves_to_export(run: Run, nbytes: int | None) -> list[Curve]:
    """Return the curves with all their sizes, or with the one the user names.

    Raises
    ------
    InputError
        If the run is no sweep, or nothing was measured with this size.
    """
    found = curves(run)
    if nbytes is None:
        return found
    kept = []
    for curve in found:
        points = tuple(point for point in curve.points if point.bytes == nbytes)
        kept += [replace(curve, points=points)] if points else []
    if not kept:
        known = sorted({size for curve in found for size in curve.bytes.tolist()})
        raise InputError(
            f"no samples of {nbytes} bytes", where=str(run.path or ""),
            hint=f"there are: {', '.join(map(str, known))}",
        )  # fmt: skip
    return kept
