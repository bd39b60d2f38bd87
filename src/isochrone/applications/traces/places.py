"""Places of a folded sequence of rounds, and the loops around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isochrone.applications.traces.gaps import Spent
from isochrone.applications.traces.rounds import Round

MOST_OMITTED = 0.001
"""Share of the run time that a description may omit."""


@dataclass
class Place:
    """A place of the folded sequence: what happens there, and how often."""

    round: Round
    visits: int
    period: int


@dataclass
class Again:
    """A part that is repeated."""

    times: int
    body: list[Place | Again]


Tree = list["Place | Again"]


def flat(tree: Tree) -> Iterator[Place]:
    """Yield the places of a tree."""
    for node in tree:
        if isinstance(node, Again):
            yield from flat(node.body)
        else:
            yield node


def parts(one: Round) -> tuple[dict[int, Spent], dict[int, Spent]]:
    """Return the computation before a round and within it."""
    return one.before, one.within


def computed(place: Place) -> float:
    """Return the seconds that all ranks compute at a place."""
    one = place.round
    within = one.answers * sum(spent.mean for spent in one.within.values())
    return place.visits * (sum(spent.mean for spent in one.before.values()) + within)
