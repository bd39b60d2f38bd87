"""The repetitions themselves, of each size of each curve: how they are spread, not only where."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isochrone.runfile.run import Run
from isochrone.runfile.samples import points, repetitions
from isochrone.sweep.curves import curve_key, samples

__all__ = ["repetitions_of"]


Array = NDArray[np.float64]


def repetitions_of(run: Run) -> dict[tuple[str, int], dict[int, Array]]:
    """Return the seconds of the repetitions by size, by the key and the ranks of their curve.

    Sizes of which only summaries are known, as from programs that print nothing but means, are
    left out.

    Raises
    ------
    InputError
        If the run is not a sweep, holds no sample, or its samples are damaged.
    """
    table = samples(run)
    found: dict[tuple[str, int], dict[int, Array]] = {}
    for (*of, (_, nbytes)), rows in points(table, (*run.by, "bytes")).items():
        key, p = curve_key(dict(of), run.size)
        sizes = found.setdefault((str(key), p), {})
        if repetitions(table, rows) == len(rows):
            sizes[int(nbytes)] = table["seconds"][rows].astype(np.float64)
    return found
