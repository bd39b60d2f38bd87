"""Times made small for a page: numbers of three digits, the same that the page writes out."""

import base64
import zlib

import numpy as np
from numpy.typing import NDArray

MIN_TIME_POWER = -12
"""Power of ten of the smallest time there is a code for; nothing takes less than a picosecond."""

ESTIMATED = 1 << 15
"""Added to the code of a time that was not measured."""

_DECADE = 900
_LARGEST = 36 * _DECADE


def codes(seconds: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Return times rounded to three significant digits, as whole numbers in the same order.

    A time of 100 … 999 times a power of ten is 1 + its digits - 100 + 900 for each decade above
    ``MIN_TIME_POWER``; 0 is no time.
    """
    valid = np.isfinite(seconds) & (seconds > 0)
    value = np.where(valid, seconds, 1.0)
    decade = np.floor(np.log10(value))
    digits = np.rint(value / 10.0 ** (decade - 2))
    decade, digits = decade + (digits >= 1000), np.where(digits >= 1000, 100, digits)
    # the logarithm of a power of ten may come out a little too high
    decade, digits = decade - (digits < 100), np.where(digits < 100, 999, digits)
    code = 1 + (decade - MIN_TIME_POWER) * _DECADE + digits - 100
    return np.where(valid, np.clip(code, 1, _LARGEST), 0).astype(np.uint16)


def packed(*columns: NDArray[np.uint16]) -> str:
    """Return columns as compressed base64: low bytes of the first, its high bytes, the next ….

    High bytes are alike, so that they nearly vanish when they stand together.
    """
    planes = [column.astype("<u2").view(np.uint8).reshape(-1, 2).T.tobytes() for column in columns]
    return base64.b64encode(zlib.compress(b"".join(planes), 6)).decode()
