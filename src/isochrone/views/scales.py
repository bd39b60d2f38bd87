"""Axes of sizes, times and bandwidths: where a value lies, and ticks that carry their unit."""

from collections.abc import Callable, Sequence
from math import ceil, floor, log2, log10
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isochrone.base.units import format_bytes

Scale = Literal["log", "linear"]

_ZERO_GAP = 1.4  # octaves between the place of nothing and the smallest something
_MAX_AXIS_TICKS = 11
_SUBS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(range(1, 10)))


class Ticks(NamedTuple):
    """Places on an axis and what is written there."""

    places: list[float]
    texts: list[str]


def evenly_spaced(values: ArrayLike) -> bool:
    """Whether sizes are a range with a fixed step, which a linear axis suits."""
    steps = np.diff(np.unique(np.asarray(values, dtype=np.float64)))
    return len(steps) >= 3 and bool(np.ptp(steps) <= 0.01 * steps.max())


def place(values: ArrayLike, scale: Scale, smallest: float) -> NDArray[np.float64]:
    """Return where sizes lie on their axis.

    On a logarithmic one in octaves, with 0 somewhat left of the ``smallest`` size above 0: a
    message of no bytes is measured everywhere, and its logarithm is not.
    """
    values = np.asarray(values, dtype=np.float64)
    if scale == "linear":
        return values
    zero = log2(smallest) - _ZERO_GAP
    return np.where(values > 0, np.log2(np.maximum(values, 1e-300)), zero)


def where_ticks(values: ArrayLike, scale: Scale, write: Callable[[float], str]) -> Ticks:
    """Choose ticks of the sizes (or ranks) of an axis, at powers of two or multiples of one."""
    sizes = np.unique(np.asarray(values, dtype=np.float64))
    above = sizes[sizes > 0]
    smallest = float(above.min()) if len(above) else 1.0
    if scale == "linear":
        # multiples of a power of two, at most 9 of them
        first, last = float(sizes.min()), float(sizes.max())
        step = 2.0 ** ceil(log2(max(last - first, 1) / 8))
        begin = 0 if first < step else ceil(first / step)
        chosen = [k * step for k in range(begin, floor(last / step) + 1)]
    else:
        low, high = ceil(log2(smallest)), floor(log2(float(sizes.max()) or 1))
        step = next(k for k in (1, 2, 5, 10, 20) if (high - low) / k + 1 <= _MAX_AXIS_TICKS)
        chosen = [2.0**k for k in range(low, high + 1) if k % step == 0]
        if len(chosen) < 2:
            chosen = [float(v) for v in above[:: max(1, len(above) // 4)]]
        chosen = [0.0] * bool(sizes.min() == 0) + chosen
    return Ticks(place(chosen, scale, smallest).tolist(), [write(v) for v in chosen])


def value_ticks(low: float, high: float, scale: Scale, write: Callable[[float], str]) -> Ticks:
    """Choose ticks between two limits of times or bandwidths."""
    from matplotlib.ticker import MaxNLocator

    chosen = []
    if scale == "log":
        decades = range(floor(log10(low)), ceil(log10(high)) + 1)
        for subs in _SUBS:
            ticks = [s * 10.0**k for k in decades for s in subs if low <= s * 10.0**k <= high]
            if len(ticks) > 9:
                break
            chosen = ticks
        if not chosen:  # very many decades
            chosen = [10.0**k for k in decades if k % 3 == 0 and low <= 10.0**k <= high]
    if len(chosen) < 3:
        candidates = np.asarray(MaxNLocator(6).tick_values(low, high)).tolist()
        chosen = [t for t in candidates if low <= t <= high]
    return Ticks(chosen, [write(v) for v in chosen])


def with_margin(low: float, high: float, scale: Scale) -> tuple[float, float]:
    """Return the ends of an axis on which values up to both ends are seen."""
    if scale == "log":
        margin = (high / low) ** 0.04
        return low / margin, high * margin
    margin = 0.05 * (high - low) or 0.05 * high
    return low - margin, high + margin


def tick_bytes(size: float) -> str:
    """Write a size as tables and sentences do: ``0``, ``64 B``, ``1536 KiB``."""
    return format_bytes(round(size)) if size else "0"


def with_units(units: Sequence[tuple[float, str]]) -> Callable[[float], str]:
    """Return a writer of ticks: ``0``, ``50 µs``, ``1.5 ms``."""

    def write(value: float) -> str:
        if value == 0:
            return "0"
        factor, unit = next((u for u in reversed(units) if abs(value) >= 0.9999 * u[0]), units[0])
        return f"{value / factor:.4g} {unit}"

    return write


tick_seconds = with_units(((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")))
tick_rate = with_units(((1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")))
