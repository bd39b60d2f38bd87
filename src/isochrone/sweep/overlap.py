"""How much of a nonblocking or persistent operation a computation hides.

A repetition times the operation alone (pure), and again with a computation between its beginning
and its completion (overall). Those are members of its sample, as in the tables of OSU and IMB.
"""

from typing import NamedTuple

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.stats import median_of
from isochrone.base.table import Table
from isochrone.runfile.samples import Times, enclose, passes_of

MEMBERS = ("overall", "compute", "post", "complete")
"""Seconds, in a sample: all of it, the computation, the call that begins the operation, and the one
that waits for its end."""


class Overlap(NamedTuple):
    """Overlap at a size: the hidden part of the operation, from 0 to 1.

    Attributes
    ----------
    overlap
        Part of the operation that the computation hides.
    overlap_low, overlap_high
        Interval of 95 % at least; None where the intervals of the times are not known.
    post, complete
        Median seconds of the call that begins the operation, and of the one that waits for its end;
        None where not known.
    """

    overlap: float | None = None
    overlap_low: float | None = None
    overlap_high: float | None = None
    post: float | None = None
    complete: float | None = None


def overlap_of(table: Table, rows: Ints, pure: Times) -> Overlap:
    """Return the overlap of one size.

    It is (pure + compute - overall) / min(pure, compute), limited to 0 and 1: the hidden time, as a
    part of the most that could be hidden. If the computation is not shorter than the operation,
    that is 1 - (overall - compute) / pure, the definition of the OSU Micro-Benchmarks
    (``osu_util_mpi.c``, ``print_stats_nbc``). IMB-IO divides by the shorter of both, too; IMB-NBC
    by the longer one (``IMB_output.c``), which is the same where both are equally long.

    Each end of the interval takes the ends of both intervals that are the least favourable: that of
    the pure time, and that of ``overall - compute``. The errors of both are independent, so it
    covers at least as much as either.

    Parameters
    ----------
    table, rows
        The samples of the size.
    pure
        Summary of their pure times.
    """
    if not {"overall", "compute"} <= set(table.columns):
        return Overlap()
    overall, compute = (table[key][rows].astype(np.float64) for key in ("overall", "compute"))
    if np.isnan(overall - compute).any():
        return Overlap()
    computed = median_of(compute)
    exposed = overall - compute
    low, high, _ = enclose(exposed, passes_of(table, rows))

    def hidden(seconds: float, left: float) -> float | None:
        shorter = min(seconds, computed)
        if not shorter > 0 or np.isnan(left):
            return None
        return float(min(max((seconds - left) / shorter, 0.0), 1.0))

    calls = (_median(table, key, rows) for key in ("post", "complete"))
    return Overlap(
        hidden(pure.median, median_of(exposed)),
        hidden(pure.low, high),
        hidden(pure.high, low),
        *calls,
    )


def _median(table: Table, key: str, rows: Ints) -> float | None:
    values: Floats = table[key][rows].astype(np.float64) if key in table else np.array([np.nan])
    return None if np.isnan(values).any() else median_of(values)
