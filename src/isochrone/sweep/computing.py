"""What an arithmetic operation costs in a sweep over blocks that ranks compute with (t_op).

Kühnemann, Rauber and Rünger, *Performance Modeling of Two-phase Realizations of Communication
Operations*, equations 1 and 2: an iteration takes its number of operations times t_op, and the
communication.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isochrone.base.table import Table

__all__ = ["OPERATIONS", "t_op"]

OPERATIONS = "operations"
"""Member of a sample: multiplications and additions of a rank in the time of the sample."""


def t_op(
    table: Table, rows: NDArray[np.int64], times: NDArray[np.float64] | None, seconds: float
) -> float | None:
    """Return seconds of one arithmetic operation; None where the samples are of something else.

    On several ranks it is that of the rank whose median is the longest: a rank that always computes
    slower than others makes all wait in each iteration, while one that is disturbed now and then
    does so now and then only.

    Parameters
    ----------
    table, rows
        The samples of one size of a curve.
    times
        Of each rank in each of them, shape (samples, ranks); None if not known.
    seconds
        Their median on the slowest rank of each sample.
    """
    if OPERATIONS not in table:
        return None
    count = float(table[OPERATIONS][rows[0]])
    longest = seconds if times is None else float(np.median(times, axis=0).max())
    return longest / count if count > 0 else None
