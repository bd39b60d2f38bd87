"""The repetitions themselves, of each size of each curve: how they are spread, not only where."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isochrone.results.sweep.curves import Curve, curves, samples
from isochrone.runfile.run import Run
from isochrone.runfile.samples import points, repetitions

__all__ = ["repetitions_of"]


def repetitions_of(run: Run) -> list[tuple[Curve, dict[int, NDArray[np.float64]]]]:
    """Return each curve with the seconds of its repetitions by size, in the order of the file.

    Sizes of which only summaries are known, as from programs that print nothing but means, are
    left out.

    Raises
    ------
    InputError
        If the run is not a sweep, holds no sample, or its samples are damaged.
    """
    table = samples(run)
    grouped: dict[tuple[object, ...], dict[int, NDArray[np.float64]]] = {}
    for key, rows in points(table, (*run.by, "bytes")).items():
        *of, (_, nbytes) = key
        sizes = grouped.setdefault(tuple(of), {})
        if repetitions(table, rows) == len(rows):
            sizes[int(nbytes)] = table["seconds"][rows].astype(np.float64)
    # both are in the order in which the curves stand in the file
    return list(zip(curves(run), grouped.values(), strict=True))
