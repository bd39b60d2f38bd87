"""Orders worth comparing: as given, the best and the worst found, sorted ones, some by chance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

__all__ = ["Candidate", "choose"]

_TRIES: Final = 100
"""Random orders that are drawn for each that is wanted: of few orders most are known soon."""


@dataclass(frozen=True)
class Candidate:
    """An order to compare.

    Attributes
    ----------
    names
        What it is: ``given``, ``best found``, ``random 1`` …; several if they are the same order.
    order
        Nodes or hosts, as indices of those given.
    """

    names: list[str]
    order: list[int]


def choose(
    named: Iterable[tuple[str, Sequence[int]]],
    alike: Callable[[Sequence[int]], Hashable],
    *,
    most: int,
    random: int = 0,
    seed: int = 1,
) -> list[Candidate]:
    """Return distinct orders: those with names, then random ones.

    Parameters
    ----------
    named
        Orders by what they are, the most interesting ones first.
    alike
        Returns the same for two orders that are predicted the same because they are the same:
        nodes with equally many ranks may change places.
    most
        Orders in all; fewer if there are no more.
    random
        How many elements a random order has; 0: no random ones.
    seed
        Of the random orders.
    """
    found: dict[Hashable, Candidate] = {}
    for name, order in named:
        key = alike(order)
        if key in found:
            found[key].names.append(name)
        elif len(found) < most:
            found[key] = Candidate([name], [int(k) for k in order])
    generator = np.random.default_rng(seed)
    drawn = 0
    for _ in range(_TRIES * most if random else 0):
        if len(found) >= most:
            break
        order = generator.permutation(random).tolist()
        key = alike(order)
        if key not in found:
            drawn += 1
            found[key] = Candidate([f"random {drawn}"], order)
    return list(found.values())
