"""Curves whose bends are known: jumps, bumps, slopes that change, and breaks close together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

KINDS = ("straight", "jump", "bump", "slope", "near")


@dataclass(frozen=True)
class Truth:
    """From each break on, seconds are latency + bytes * slope.

    Attributes
    ----------
    pieces
        First bytes, latency and slope of each piece; the first begins at 0.
    jumps
        Bytes where the time jumps.
    """

    pieces: tuple[tuple[float, float, float], ...]
    jumps: tuple[float, ...]

    def at(self, nbytes: ArrayLike) -> NDArray[np.float64]:
        """Return the seconds of messages."""
        size = np.asarray(nbytes, dtype=np.float64)
        starts, latency, slope = np.array(self.pieces).T
        piece = np.searchsorted(starts, size, side="right") - 1
        return np.asarray(latency[piece] + size * slope[piece])

    @property
    def arguments(self) -> list[str]:
        """What ``auto_sizes.c`` is told."""
        return [f"{start:.9g}:{latency:.9g}:{slope:.9g}" for start, latency, slope in self.pieces]


def make(kind: str, seed: int, stop: int) -> Truth:
    """Make up a curve from 0 to ``stop`` bytes."""
    dice = np.random.default_rng([seed, KINDS.index(kind)])
    latency, rate = dice.uniform(1e-6, 1e-5), dice.uniform(1e-10, 2e-9)
    base = (0.0, latency, rate)
    edge = np.floor(np.exp(dice.uniform(np.log(256), np.log(stop / 2))))
    there = latency + edge * rate
    if kind == "jump":
        more = dice.uniform(0.2, 2) * there
        return Truth((base, (edge, latency + more, rate)), (edge,))
    if kind == "slope":
        turned = rate * dice.choice([0.25, 0.5, 2, 4])
        return Truth((base, (edge, there - edge * turned, turned)), ())
    if kind == "bump":  # the line goes back to where it came from
        end = edge * dice.uniform(1.5, 3)
        top = there * dice.uniform(1.5, 2.5)
        back = (latency + end * rate - top) / (end - edge)
        return Truth((base, (edge, top - edge * back, back), (end, latency, rate)), (edge,))
    if kind == "near":
        first, second = dice.uniform(0.15, 1, 2) * there
        after = edge + dice.integers(128, 512)
        return Truth(
            (base, (edge, latency + first, rate), (after, latency + first + second, rate)),
            (edge, after),
        )
    return Truth((base,), ())


def located(truth: Truth, sizes: NDArray[np.int64], gap: int) -> list[bool]:
    """Say of each jump whether it lies between two sizes at most ``gap`` or 2 % apart."""
    above = np.searchsorted(sizes, truth.jumps, side="left").tolist()
    return [
        bool(0 < k < len(sizes) and sizes[k] - sizes[k - 1] <= max(gap, 0.02 * sizes[k]))
        for k in above
    ]


def worst_error(truth: Truth, sizes: NDArray[np.int64], gap: int) -> float:
    """Return how far lines between the chosen sizes are from the truth, at worst, relative.

    Where a jump was located, between two sizes, there is no line.
    """
    x = np.unique(
        np.round(
            np.concatenate([np.linspace(0, sizes[-1], 4001), np.geomspace(1, sizes[-1], 4001)])
        )
    )
    k = np.clip(np.searchsorted(sizes, x, side="left"), 1, len(sizes) - 1)
    for jump, found in zip(truth.jumps, located(truth, sizes, gap), strict=True):
        if found:
            x, k = (values[k != np.searchsorted(sizes, jump, side="left")] for values in (x, k))
    line = np.interp(x, sizes, truth.at(sizes))
    return float(np.max(np.abs(line / truth.at(x) - 1)))
