"""Broadcasts along a tree: a whole number of steps, with or without a jump in the sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["SIZES", "stepped"]

SIZES = (8, 1024, 4096, 16_384, 65_536, 262_144)


def stepped(
    ranks: Sequence[int], sizes: Sequence[int] = SIZES, jump: float = 0.0, noise: float = 0.005
) -> list[dict[str, Any]]:
    """Return rows of a table, three repetitions of each point.

    ``jump`` are seconds that a message of more than 12 KiB takes more.
    """
    chance = np.random.default_rng(1)
    return [
        {
            "op": "bcast",
            "p": p,
            "b": b,
            "seconds": (2e-6 + np.ceil(np.log2(p)) * (1.5e-6 + 4e-10 * b) + jump * (b > 12_288))
            * (1 + noise * chance.standard_normal()),
        }
        for p in ranks
        for b in sizes
        for _ in range(3)
    ]
