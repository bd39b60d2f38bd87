"""Random numbers that are a function of where they are used, the same here and in the probe.

A distribution is a list of equally likely values (`Values`), and a draw is an index into it. The
index follows from the seed and five numbers that say which draw it is, through the finaliser of
SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014,
figure 17, constants of Stafford's variant 13). So two emulations compute and send the same,
whatever the order in which things happen, and a prediction or an export knows each of their values.
``probe/experiments/app/draws.h`` does the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isochrone.applications.description.program import Compute

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


def index(seed: int, size: int, *key: ArrayLike) -> NDArray[np.int64]:
    """Return which of `size` equally likely values is drawn.

    Parameters
    ----------
    seed
        Of the description; its lowest 64 bits count.
    size
        Number of values, 1 to 2**32.
    key
        Which draw it is: application, rank in it, phase, iteration, number. Integers from 0, or
        arrays of them that broadcast together.
    """
    with np.errstate(over="ignore"):
        state = _mix(np.asarray(seed % 2**64, dtype=np.uint64) + _GOLDEN)
        for component in key:
            state = _mix((state ^ np.asarray(component, dtype=np.uint64)) + _GOLDEN)
        return (((state >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)).astype(np.int64)


def draw(seed: int, values: Sequence[float], *key: ArrayLike) -> NDArray[np.float64]:
    """Return what is drawn from equally likely values; see `index`."""
    return np.asarray(values, dtype=np.float64)[index(seed, len(values), *key)]


AGAIN = 2**20
"""Added to a key for each further message between the same ranks in a phase, and for results."""

DISPATCH = 2**21
"""Added to the number of a task for what the master of a farm computes before it hands it out."""

_DRAWN_ITERATIONS = 64
"""Iterations that are drawn together."""


@dataclass
class Draws:
    """Draws of one application, some iterations at a time.

    Attributes
    ----------
    seed
        Of the program.
    values
        Its lists of equally likely values.
    app
        Number of the application.
    """

    seed: int
    values: Sequence[Sequence[float]]
    app: int
    _kept: dict[tuple[int, int, int, int], tuple[int, list[float]]] = field(default_factory=dict)

    def value(self, of: int, rank: int, phase: int, draw_number: int, iteration: int) -> float:
        """Return what is drawn from list ``of`` by a key; see `lowering`."""
        values = self.values[of]
        if len(values) == 1:
            return values[0]
        block, offset = divmod(iteration, _DRAWN_ITERATIONS)
        key = (of, rank, phase, draw_number)
        cached = self._kept.get(key)
        if cached is None or cached[0] != block:
            iterations = np.arange(block * _DRAWN_ITERATIONS, (block + 1) * _DRAWN_ITERATIONS)
            drawn = draw(self.seed, values, self.app, rank, phase, iterations, draw_number)
            cached = self._kept[key] = (block, drawn.tolist())
        return cached[1][offset]

    def computation(self, step: Compute, rank: int, iteration: int) -> float:
        """Return the seconds of a step in an iteration."""
        seconds = self.value(step.time, rank, step.phase, 0, iteration)
        if step.schedule is not None:
            factors = self.values[step.schedule]
            seconds *= factors[iteration % len(factors)]
        return seconds * step.factor
