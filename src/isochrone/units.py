"""Seconds and bytes inside; units only where a person reads or types.

Binary prefixes (KiB, MiB, GiB) are powers of 1024 and decimal ones (kB, MB, GB) powers of 1000.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Final

from isochrone.errors import InputError

__all__ = [
    "Bytes",
    "Seconds",
    "format_bytes",
    "format_seconds",
    "parse_bytes",
    "parse_seconds",
]

Seconds = float
Bytes = int

_TIME_UNITS: Final = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "min": 60.0, "h": 3600.0,
}  # fmt: skip
_BYTE_UNITS: Final = {
    "": 1, "b": 1,
    "k": 1024, "kib": 1024, "kb": 1000,
    "m": 1024**2, "mib": 1024**2, "mb": 1000**2,
    "g": 1024**3, "gib": 1024**3, "gb": 1000**3,
}  # fmt: skip
_QUANTITY: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)\s*([A-Za-zµ]*)\s*")


def parse_bytes(text: str) -> Bytes:
    """Read ``64``, ``1KiB``, ``1.5 MB`` … as a whole number of bytes.

    Raises
    ------
    InputError
        If it is no size, or not a whole number of bytes.
    """
    match = _QUANTITY.fullmatch(text)
    factor = _BYTE_UNITS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise InputError(f"{text!r} is not a size", hint="write for example 64, 1KiB or 4MB")
    value = Fraction(match[1]) * factor
    if value.denominator != 1:
        raise InputError(f"{text!r} is not a whole number of bytes")
    return int(value)


def parse_seconds(text: str) -> Seconds:
    """Read ``10``, ``250ms``, ``1.5us``, ``2min`` … as seconds.

    Raises
    ------
    InputError
        If it is no duration.
    """
    match = _QUANTITY.fullmatch(text)
    factor = _TIME_UNITS.get(match[2]) if match else None
    if match is None or factor is None:
        raise InputError(f"{text!r} is not a duration", hint="write for example 30, 250ms or 2min")
    return float(match[1]) * factor


def format_seconds(seconds: Seconds, digits: int = 3) -> str:
    """Write a time with the unit a person would choose: ``1.04 µs``, ``23.1 ms``, ``2.5 s``."""
    if not math.isfinite(seconds):
        return "–"
    for factor, unit in ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms")):
        if abs(seconds) < 1000 * factor * (1 - 0.5 * 10**-digits):
            return f"{_significant(seconds / factor, digits)} {unit}"
    return f"{_significant(seconds, digits)} s"


def format_bytes(size: Bytes) -> str:
    """Write a size with the largest binary unit that divides it: ``64 B``, ``1 KiB``, ``4 MiB``."""
    for factor, unit in ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB")):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def _significant(value: float, digits: int) -> str:
    """Write ``value`` with ``digits`` significant digits and no exponent."""
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:.{max(0, digits - 1 - exponent)}f}"
