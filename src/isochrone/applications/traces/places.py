"""Places of a folded sequence of rounds, and the loops around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from isochrone.applications.traces.gaps import NOTHING, Spent
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


ByRank = dict[int, Spent]
"""What ranks compute."""


def parts(one: Round) -> tuple[ByRank, ByRank]:
    """Return the computation before a round and within it."""
    return one.before, one.within


def total(spent: ByRank) -> float:
    """Return the mean seconds of all ranks together."""
    return sum(one.mean for one in spent.values())


def computed(place: Place) -> float:
    """Return the seconds that all ranks compute at a place."""
    one = place.round
    return place.visits * (total(one.before) + one.answers * total(one.within))


def unrolled(loop: Again, once: ByRank) -> Tree:
    """Return the turns of a loop one after another, each place with its own visits.

    What ranks compute once, before the loop, they compute before the first place.
    """

    def turn(tree: Tree, number: int, inner: int) -> Tree:
        found: Tree = []
        for node in tree:
            if isinstance(node, Again):
                found.append(Again(node.times, turn(node.body, number, inner * node.times)))
                continue
            of = [
                {r: one.every(number * inner, inner, loop.times) for r, one in part.items()}
                for part in parts(node.round)
            ]
            one = replace(node.round, before=of[0], within=of[1])
            found.append(Place(one, node.visits // loop.times, node.period))
        return found

    found = [node for number in range(loop.times) for node in turn(loop.body, number, 1)]
    before = next(flat(found)).round.before
    before |= {rank: before.get(rank, NOTHING) + spent for rank, spent in once.items()}
    return found


def butterfly(tree: Tree, ranks: int) -> list[Place]:
    """Return the first places if partners differ there in one bit, in each bit once; else none."""
    found = []
    bits: Counter[int] = Counter()
    for node in tree:
        if sum(bits) == ranks - 1 or not isinstance(node, Place) or node.round.kind != "exchange":
            break
        found.append(node)
        bits.update(a ^ b for a, b, _ in node.round.messages)
    once = set(bits.values()) == {ranks} and not any(bit & (bit - 1) for bit in bits)
    return found if once and sum(bits) == ranks - 1 else []


def joined(places: Sequence[Place]) -> Place:
    """Return the places of a butterfly as one, with all that is computed before it."""
    before: ByRank = {}
    for place in places:
        for part in parts(place.round):
            before |= {rank: before.get(rank, NOTHING) + spent for rank, spent in part.items()}
    messages = [message for place in places for message in place.round.messages]
    whole = replace(places[0].round, messages=messages, before=before, within={})
    return replace(places[0], round=whole)
