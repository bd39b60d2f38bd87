"""Launches of one command whose truth is known: what they share, how they differ, what changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isochrone.base.table import Table
from isochrone.runfile.run import Run

SIZES = tuple(8 * 4**k for k in range(8))


def launches(
    number: int,
    dice: np.random.Generator,
    *,
    factor: float | Sequence[float] = 1.0,
    between: float = 0.1,
    within: float = 0.1,
    rho: float = 0.5,
    repeats: int = 12,
    sizes: Sequence[int] = SIZES,
    **header: Any,
) -> list[Run]:
    """Make launches of a sweep of one pair.

    Parameters
    ----------
    number
        How many.
    dice
        What chance is made of.
    factor
        By which all sizes, or each of them, take longer.
    between
        Standard deviation of the logarithm of what a launch has in common, and again of what each
        size has in it.
    within, rho
        Standard deviation of the logarithm of a repetition, and its correlation with the one
        before (an autoregressive process of first order).
    """
    exact = (1e-6 + np.array(sizes) / 5e9) * np.broadcast_to(factor, len(sizes))
    found = []
    for _ in range(number):
        common = dice.normal(0, between) + dice.normal(0, between, len(sizes))
        noise = np.empty((repeats, len(sizes)))
        noise[0] = dice.normal(0, within, len(sizes))
        for k in range(1, repeats):
            fresh = dice.normal(0, within * np.sqrt(1 - rho**2), len(sizes))
            noise[k] = rho * noise[k - 1] + fresh
        seconds = exact * np.exp(common + noise)
        found.append(
            Run(
                header={
                    "experiment": "point-to-point",
                    "ranks": 2,
                    "options": {},
                    "seconds_are": "half a round trip",
                    **header,
                },
                tables={
                    "sample": Table(
                        {
                            "i": np.zeros(seconds.size, np.int64),
                            "j": np.ones(seconds.size, np.int64),
                            "bytes": np.tile(np.array(sizes, np.int64), repeats),
                            "seconds": seconds.ravel(),
                        }
                    )
                },
                end={"seconds": 1.0, "complete": True},
            )
        )
    return found
