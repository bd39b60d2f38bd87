"""Which applications run together, and in which order."""

from __future__ import annotations

from itertools import combinations
from typing import Final

from isochrone.applications.description.description import Description
from isochrone.applications.description.draws import index
from isochrone.applications.description.program import Launch

__all__ = ["MAX_LAUNCHES", "launches"]

MAX_LAUNCHES: Final = 100_000

_ORDER: Final = 2**32 - 1
"""Stands for the application in the key of a draw that orders launches."""


def launches(description: Description) -> tuple[Launch, ...]:
    """Return all launches: each repetition has all of them, in an order drawn from the seed.

    What runs together is launched once in a repetition, however often it was asked for.

    Raises
    ------
    InputError
        If there are more than `MAX_LAUNCHES`.
    """
    together = _together(description)
    number = len(together) * description.repeats
    if number > MAX_LAUNCHES:
        raise description.at.key("repeats").error(
            f"{number} launches of {len(together)} kinds", f"at most {MAX_LAUNCHES}"
        )
    found: list[Launch] = []
    for repeat in range(description.repeats):
        keys = index(description.seed, 2**32, _ORDER, repeat, list(range(len(together))))
        order = sorted(range(len(together)), key=lambda k, keys=keys: (int(keys[k]), k))  # type: ignore[misc]
        found += [Launch(repeat, together[k]) for k in order]
    return tuple(found)


def _together(description: Description) -> list[tuple[int, ...]]:
    """Return the sets of applications that run together, each once."""
    names = [app.name for app in description.apps]
    every = range(len(names))
    found: dict[tuple[int, ...], None] = {}
    for run in description.runs:
        if run == "alone":
            found |= dict.fromkeys((k,) for k in every)
        elif run == "pairs":
            found |= dict.fromkeys(combinations(every, 2))
        elif run == "all":
            found[tuple(every)] = None
        else:
            found[tuple(sorted(names.index(name) for name in run))] = None
    return list(found)
