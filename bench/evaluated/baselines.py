"""Simple models to compare with: a power law, and the normal form of performance models."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Array = NDArray[np.float64]


def power_law(p: Array, b: Array, seconds: Array, ask_p: Array, ask_b: Array) -> list[Array]:
    """Fit log T to log p and log b; return the time and its 95 % prediction interval."""

    def rows(p: Array, b: Array) -> Array:
        return np.column_stack([np.ones_like(p), np.log(p), np.log(np.maximum(b, 1))])

    x, y, asked = rows(p, b), np.log(seconds), rows(ask_p, ask_b)
    found, *_ = np.linalg.lstsq(x, y, rcond=None)
    free = max(len(y) - 3, 1)
    variance = float(np.sum((y - x @ found) ** 2)) / free
    spread = variance * (1 + np.einsum("ij,jk,ik->i", asked, np.linalg.pinv(x.T @ x), asked))
    half = student.ppf(0.975, free) * np.sqrt(spread)
    middle = asked @ found
    return [np.exp(middle), np.exp(middle - half), np.exp(middle + half)]


def normal_form(p: Array, b: Array, seconds: Array, ask_p: Array, ask_b: Array) -> Array:
    """Fit c0 + c1 f1 + c2 f2 with f = p^i log2(p)^j b^k, as Extra-P's normal form.

    The terms are those with the least error of relative residuals in cross-validation: every fifth
    point is left out in turn. (Calotoiu et al., Using automated performance modeling, SC 2013.)
    """
    terms = [
        (i, j, k)
        for i, j, k in product((0.0, 0.5, 1.0, 2.0), (0, 1), (0.0, 1.0))
        if (i, j, k) != (0.0, 0, 0.0)
    ]

    def rows(chosen: tuple[tuple[float, int, float], ...], p: Array, b: Array) -> Array:
        made = [p**i * np.log2(p) ** j * b**k for i, j, k in chosen]
        return np.column_stack([np.ones_like(p), *made])

    _, back = np.unique(np.column_stack([p, b]), axis=0, return_inverse=True)
    fold = back.ravel() % 5
    best, least = None, np.inf
    for chosen in [*((one,) for one in terms), *combinations(terms, 2)]:
        x = rows(chosen, p, b) / seconds[:, None]
        error = 0.0
        for k in range(5):
            kept = fold != k
            found, *_ = np.linalg.lstsq(x[kept], np.ones(kept.sum()), rcond=None)
            error += float(np.sum((x[~kept] @ found - 1) ** 2))
        if error < least:
            best, least = chosen, error
    assert best is not None
    x = rows(best, p, b) / seconds[:, None]
    found, *_ = np.linalg.lstsq(x, np.ones(len(p)), rcond=None)
    return np.asarray(rows(best, ask_p, ask_b) @ found)
