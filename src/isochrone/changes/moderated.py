"""Spreads of many alike things, each known from a few launches, made surer by the others.

Of five launches the spread of one pair is known within a factor of two; a map has thousands of
pairs that scatter alike. Each squared spread is drawn to that of all, as far as they are alike
(Smyth 2004, *Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments*, Statistical Applications in Genetics and Molecular Biology 3, article 3).
Where a few things scatter far more than the others they keep most of their own spread.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

__all__ = ["FEW", "LEAST_SPREAD", "moderated"]

Array = NDArray[np.float64]

FEW: Final = 4
"""Fewer things say nothing of how much spreads differ."""

LEAST_SPREAD: Final = 2e-3
"""Relative spread that even exact times of a simulator are credited with."""

_STEPS: Final = 60


def moderated(squared: Array, freedom: int | NDArray[np.int64]) -> tuple[Array, Array]:
    """Return squared spreads, each drawn to that of all, and their degrees of freedom.

    Parameters
    ----------
    squared
        Variances of logarithms of times, one for each thing.
    freedom
        Degrees of freedom of each: launches - 1.
    """
    own = np.maximum(squared, LEAST_SPREAD**2)
    free = np.broadcast_to(np.asarray(freedom, np.float64), own.shape)
    if len(own) < FEW:
        return own, free
    half = free / 2
    logs = np.log(own) - digamma(half) + np.log(half)
    middle = float(np.mean(logs))
    more = float(np.var(logs, ddof=1)) - float(np.mean(polygamma(1, half)))
    if more <= 0:  # no more different than chance makes them: one spread for all
        total = float(np.sum(free))
        return np.full(len(own), free @ own / total), np.full(len(own), total)
    prior = 2 * _trigamma_inverse(more)
    common = np.exp(middle + digamma(prior / 2) - np.log(prior / 2))
    return (prior * common + free * own) / (prior + free), free + prior


def _trigamma_inverse(value: float) -> float:
    """Solve trigamma(x) = value by Newton's steps on 1 / trigamma (Smyth 2004, appendix)."""
    x = 0.5 + 1 / value
    for _ in range(_STEPS):
        at = float(polygamma(1, x))
        step = at * (1 - at / value) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-8 * x:
            break
    return x
