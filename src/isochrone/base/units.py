"""Seconds and bytes inside; units only where a person reads or types.

Binary prefixes (KiB, MiB, GiB) are powers of 1024 and decimal ones (kB, MB, GB) powers of 1000.
"""

import re
from collections.abc import Iterator, Sequence
from math import isfinite, nan
from typing import Literal

from isochrone.base.errors import InputError
from isochrone.base.text import printable

Seconds = float
Bytes = int

MAX_SECONDS = 1e9
"""A longer time than a generation is a damaged number."""

MIN_SECONDS = 1e-12
"""Smallest positive time: no clock distinguishes smaller ones from zero."""

LARGEST = 10**18
"""No size and no count is larger; products of a few of them are still numbers."""

_TIME_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "": 1.0,
    "min": 60.0,
    "h": 3600.0,
}
_BYTE_UNITS = {
    "": 1,
    "b": 1,
    "k": 1024,
    "kib": 1024,
    "kb": 1000,
    "m": 1024**2,
    "mib": 1024**2,
    "mb": 1000**2,
    "g": 1024**3,
    "gib": 1024**3,
    "gb": 1000**3,
}
_QUANTITY = re.compile(
    r"\s*([0-9]{1,1000}(?:\.[0-9]{0,1000})?(?:[eE][-+]?[0-9]{1,4})?)\s*([A-Za-zµ]*)\s*"
)
"""Of few digits: a number such as 1e999999999, exactly, takes more memory than there is."""
_PERCENT = re.compile(r"\s*([0-9]{1,99}(?:\.[0-9]{0,99})?(?:[eE][-+]?[0-9]{1,4})?)\s*(%?)\s*")


def parse_bytes(text: str) -> Bytes:
    """Read ``64``, ``1KiB``, ``1.5 MB`` … as a whole number of bytes.

    Raises
    ------
    InputError
        If it is not a size, or not a whole number of bytes.
    """
    match = _QUANTITY.fullmatch(text)
    factor = _BYTE_UNITS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise InputError(f"{text!r} is not a size", hint="write for example 64, 1KiB or 4MB")
    from fractions import Fraction  # few commands have a size

    value = Fraction(match[1]) * factor
    if value.denominator != 1:
        raise InputError(f"the size {text!r} is not a whole number of bytes")
    if value > LARGEST:
        raise InputError(f"'{printable(text, 40)}' is larger than the largest size")
    return int(value)


def parse_sizes(text: str, max_sizes: int = 1 << 16) -> list[Bytes]:
    """Read message sizes as the probe does: ``64,1KiB``, ``0:1024:32``, ``8:1MiB:x2``, or several.

    Raises
    ------
    InputError
        If it is not a list or range, or holds more than ``max_sizes`` sizes.
    """
    sizes: dict[Bytes, None] = {}
    for entry in text.split(","):
        ends = entry.split(":")
        if len(ends) == 1:
            sizes[parse_bytes(entry)] = None
            continue
        if len(ends) != 3:
            raise InputError(f"{entry!r} is not a range START:STOP:STEP or START:STOP:xFACTOR")
        for size in _range(entry, parse_bytes(ends[0]), parse_bytes(ends[1]), ends[2]):
            sizes[size] = None
            if len(sizes) > max_sizes:
                raise InputError(f"the range {text!r} has too many sizes")
    return list(sizes)


def unit_of(unit: str) -> tuple[float, Literal["time", "size"]] | None:
    """Return how many seconds or bytes a unit such as ``us`` or ``KiB`` is; None: it is none."""
    if unit and unit in _TIME_UNITS:
        return _TIME_UNITS[unit], "time"
    if unit and unit.lower() in _BYTE_UNITS:
        return float(_BYTE_UNITS[unit.lower()]), "size"
    return None


def _range(text: str, start: Bytes, stop: Bytes, step: str) -> Iterator[Bytes]:
    """Yield the sizes of one range."""
    if start > stop:
        raise InputError(f"the range {text!r} is empty: it starts after its end")
    factor, gap = 1.0, 0
    if step.startswith("x"):
        try:
            factor = float(step[1:])
        except ValueError:
            factor = 0.0
        if not 1 < factor < 2**64 or start == 0:
            raise InputError(
                f"{text!r} is not a range", hint="xFACTOR must be above 1, and START above 0"
            )
    else:
        gap = parse_bytes(step)
        if gap == 0:
            raise InputError(f"the step of the range {text!r} is 0")
    size = start
    while size <= stop:
        yield size
        size = max(size + 1, size + gap if gap else round(size * factor))


def parse_seconds(text: str) -> Seconds:
    """Read ``10``, ``250ms``, ``1.5us``, ``2m``, ``2min`` … as seconds.

    Raises
    ------
    InputError
        If it is not a duration.
    """
    match = _QUANTITY.fullmatch(text)
    factor = {**_TIME_UNITS, "m": 60.0}.get(match[2]) if match else None  # a column in m is MiB
    if match is None or factor is None:
        raise InputError(f"{text!r} is not a duration", hint="write for example 30, 250ms or 2min")
    return float(match[1]) * factor


def parse_percent(text: str) -> float:
    """Read ``5%``, or a fraction below 1, as a fraction.

    Raises
    ------
    InputError
        If it is neither; a number such as 5 could mean both.
    """
    match = _PERCENT.fullmatch(text)
    value = float(match[1]) if match else nan
    if match and not match[2] and value >= 1:
        raise InputError(f"the percentage '{text}' is ambiguous: write {value:g}%")
    if not value < LARGEST:
        raise InputError(f"'{text}' is not a percentage such as 5%")
    return value / 100 if match and match[2] else value


def format_seconds(seconds: Seconds, digits: int = 3) -> str:
    """Write a time with the unit a person would choose: ``1.04 µs``, ``23.1 ms``, ``2.5 s``."""
    return _scaled(seconds, ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")), digits)


def format_bytes(size: Bytes) -> str:
    """Write a size with the largest binary unit that divides it: ``64 B``, ``1 KiB``, ``4 MiB``."""
    for factor, unit in ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB")):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def format_amount(size: float) -> str:
    """Write bytes with three digits, whatever they are a multiple of: ``2.34 MiB``."""
    if size < 1024:
        return f"{size:.0f} B"
    power = next((k for k in (1, 2, 3) if size < 999.5 * 1024**k), 4)
    return f"{size / 1024**power:.3g} {'KMGT'[power - 1]}iB"


def format_rate(rate: float) -> str:
    """Write bytes per second with a decimal prefix, as networks are sold: ``12.3 GB/s``."""
    units = (1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")
    return _scaled(rate, units)


def _scaled(value: float, units: Sequence[tuple[float, str]], digits: int = 3) -> str:
    """Write a value in the first unit in which it is below 1000, or in the last one."""
    if not isfinite(value):
        return "–"
    limit = 1000 * (1 - 0.5 * 10**-digits)
    factor, unit = next((scale for scale in units if abs(value) < limit * scale[0]), units[-1])
    return f"{_significant(value / factor, digits)} {unit}"


def format_error(value: float) -> str:
    """Write a relative error: ``4.69 %``, and ten and more as a factor: ``109x``."""
    return f"{100 * value:.2f} %" if value < 10 else f"{value:,.0f}x"


def format_ratio(ratio: float) -> str:
    """Write a ratio with two decimals: ``1.09``; with more near 1."""
    if not isfinite(ratio):
        return "–"
    if ratio >= 9.995:
        return _significant(ratio, 3)
    decimals = next((d for d in (2, 3, 4) if f"{ratio:.{d}f}" != f"{1:.{d}f}"), 2)
    return f"{ratio:.{decimals}f}"


def _significant(value: float, digits: int) -> str:
    """Write ``value`` with ``digits`` significant digits and no exponent."""
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:.{max(0, digits - 1 - exponent)}f}"
