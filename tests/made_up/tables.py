"""Tables of times drawn from a known truth, with noise, and what to ask a model of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.models import Samples
from made_up.truths import Truth

__all__ = ["BIG_JUMP", "DESIGNS", "Design", "Questions", "draw", "questions", "samples_of"]

Array = NDArray[np.float64]

SIZES = (8, 64, 256, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 262144, 1048576)
"""8 B to 1 MiB, a dozen."""

FINE = tuple(k << n for n in range(2, 19) for k in (2, 3))
"""8 B to 768 KiB, two for each doubling: where nothing but the size varies, more are measured."""


@dataclass(frozen=True)
class Design:
    """What is measured, and how well.

    Attributes
    ----------
    ranks, sizes
        All combinations are measured.
    alone
        Sizes of what has no number of ranks.
    least, most
        Repetitions of a point: as many as drawn between the two.
    noise
        Standard deviation of the logarithm of a time.
    outliers
        Part of the repetitions that something else has slowed down: by factors with a heavy tail.
    """

    ranks: tuple[int, ...]
    sizes: tuple[int, ...] = SIZES
    alone: tuple[int, ...] = FINE
    least: int = 10
    most: int = 10
    noise: float = 0.05
    outliers: float = 0.05


TO_16 = (2, 3, 4, 5, 6, 8, 10, 12, 16)
TO_32 = (2, 3, 4, 6, 8, 12, 16, 24, 32)

DESIGNS = {
    "2-16": Design(TO_16),
    "2-32": Design(TO_32),
    "2-32, quiet": Design(TO_32, noise=0.01, outliers=0.01),
    "2-32, powers of two": Design((2, 4, 8, 16, 32)),
    "2-16, few repetitions": Design(TO_16, least=1, most=4),
    "2-16, few rows": Design((2, 4, 8, 12, 16), (64, 1024, 8192, 65536, 1048576), FINE[::2]),
}
"""What users have: by name."""

BIG_JUMP = Design(
    (4, 8, 16, 24, 32, 48, 64, 96),
    tuple(1000 * k for k in (10, 20, 50, 100, 150, 200, 250, 300, 400, 500)),
    noise=0.02,
    outliers=0.0,
)
BIG_JUMP_ASKED = (
    (6, 12, 20, 40, 80),
    tuple(1000 * k for k in (15, 35, 75, 175, 350, 450)),
)
"""Ranks and sizes on which models of the design `BIG_JUMP` are judged."""


@dataclass(frozen=True)
class Questions:
    """Points at which a model is asked, shape (n,), by the names of its variables."""

    variables: dict[str, Array]
    seconds: Array


def draw(truth: Truth, design: Design, seed: int) -> Samples:
    """Measure a truth once, with noise of its own for each seed."""
    dice = np.random.default_rng(seed)
    p, b = _grid(truth, design.ranks, _sizes(truth, design))
    repeats = dice.integers(design.least, design.most, len(p), endpoint=True)
    p, b = np.repeat(p, repeats), np.repeat(b, repeats)
    return samples_of(truth, p, b, truth.seconds(p, b) * _noise(design, len(p), dice))


def samples_of(truth: Truth, p: Array, b: Array, seconds: Array) -> Samples:
    """Return a table, one row a repetition, with the columns that such a truth has."""
    selectors = {"op": np.full(len(p), truth.operation)} if truth.operation else {}
    experiment = "collective" if truth.operation else "point-to-point"
    return Samples(_columns(truth, p, b), selectors, seconds, experiment)


def noisy_medians(truth: Truth, design: Design, asked: Questions, seed: int) -> Array:
    """Return what a later measurement of the asked points would find, each ten times repeated."""
    dice = np.random.default_rng([seed, 1])
    rows = [_noise(design, len(asked.seconds), dice) for _ in range(10)]
    return np.asarray(asked.seconds * np.median(rows, axis=0))


def questions(truth: Truth, design: Design) -> dict[str, Questions]:
    """Return points by where they are.

    ``inside``: measured sizes, on numbers of ranks that were not measured. ``between``: sizes that
    were not measured. ``2x`` and ``4x``: beyond the most ranks, or bytes if there are no ranks.
    """
    sizes = np.array(_sizes(truth, design), dtype=float)
    between = np.round(sizes[:-1] * (sizes[1:] / sizes[:-1]) ** 0.6)
    if not truth.operation:
        found = {"inside": (TO_16[:1], sizes), "between": (TO_16[:1], between)}
        found |= {f"{k}x": (TO_16[:1], k * sizes[-1:]) for k in (2, 4)}
    else:
        most = max(design.ranks)
        new = tuple(k for k in (3, 5, 7, 8, 11, 13, 20, 27) if k < most and k not in design.ranks)
        found = {"inside": (new, sizes), "between": (design.ranks[1:], between)}
        found |= {f"{k}x": ((k * most,), sizes) for k in (2, 4)}
        if truth.operation == "barrier":
            del found["between"]
    return {where: _asked(truth, *_grid(truth, *grid)) for where, grid in found.items()}


def big_jump_questions(truth: Truth) -> Questions:
    """Return the points held out of the design `BIG_JUMP`."""
    return _asked(truth, *_grid(truth, *BIG_JUMP_ASKED))


def _asked(truth: Truth, p: Array, b: Array) -> Questions:
    return Questions(_columns(truth, p, b), truth.seconds(p, b))


def _sizes(truth: Truth, design: Design) -> tuple[int, ...]:
    return design.sizes if "p" in truth.variables else design.alone


def _grid(truth: Truth, ranks: object, sizes: object) -> tuple[Array, Array]:
    """Return all combinations; what the truth has no variable for stands at one value."""
    names = truth.variables
    p = np.array(ranks if "p" in names else [2], dtype=float)
    b = np.array(sizes if "b" in names else [0], dtype=float)
    return np.repeat(p, len(b)), np.tile(b, len(p))


def _columns(truth: Truth, p: Array, b: Array) -> dict[str, Array]:
    return {name: {"p": p, "b": b}[name] for name in truth.variables}


def _noise(design: Design, length: int, dice: np.random.Generator) -> Array:
    """Return factors: lognormal, and for some a slowdown with the tail of a Pareto distribution."""
    slowed = dice.random(length) < design.outliers
    factor = np.where(slowed, 1.2 + dice.pareto(1.5, length), 1.0)
    return np.asarray(dice.lognormal(0, design.noise, length) * factor)
