"""Where in the gap between two measured sizes a library changes its protocol or algorithm.

The data do not say. Libraries switch at round binary numbers: 8 KiB, 12 KiB, 64 KiB.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from isochrone.base.segmentation import Break

__all__ = ["likely_switch"]


def likely_switch(gap: Break, known: Collection[float] = ()) -> float:
    """Return the largest value that is taken to belong to the regime below.

    Parameters
    ----------
    gap
        Largest measured value below the switch, and smallest above.
    known
        Switches that the library is known to have; one within the gap is taken.

    Returns
    -------
    float
        Else the roundest binary number between the two, that is the one with the fewest digits,
        and of several the one nearest to the middle; else the middle of the ratio.
    """
    low, high = gap.below, gap.above
    given = [value for value in known if low <= value < high]
    if given:
        return given[0]
    middle = math.sqrt(low * high) if low > 0 else (low + high) / 2
    if high - low < 2:
        return low
    step = 2.0 ** math.floor(math.log2(high - low))
    while step >= 1:
        first = math.floor(low / step) + 1
        last = math.ceil(high / step) - 1
        if first <= last:
            return step * min(range(first, last + 1), key=lambda k: abs(k * step - middle))
        step /= 2
    return middle
