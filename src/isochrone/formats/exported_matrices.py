"""The matrices of a latency map as the mmpi tools need them: in µs, 0 on the diagonal."""

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.runfile.run import Run


def size_to_export(run: Run, nbytes: int | None) -> int:
    """Choose the message size for a format that holds one: by default the smallest."""
    return run.message_sizes()[0] if nbytes is None else nbytes


def matrix_us(run: Run, statistic: str, nbytes: int) -> Floats:
    """Return a statistic of the round trips as a symmetric matrix in µs.

    The diagonal is 0.0, as mmpi defines it; a pair that was not measured is NaN. The mean is
    what every format needs; another statistic that the run does not know is NaN throughout.
    """
    if statistic != "mean" and statistic not in run.pairs():
        matrix = np.full((run.size, run.size), np.nan)
    else:
        # times 1e6, not divided by 1e-6: 1e6 is exact in binary and keeps the printed digits
        matrix = run.matrix(statistic, nbytes) * 1e6
    np.fill_diagonal(matrix, 0.0)
    return matrix
