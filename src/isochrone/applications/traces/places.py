"""Places of a folded sequence of rounds, and the loops around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from isochrone.applications.traces.gaps import NOTHING, Spent
from isochrone.applications.traces.rounds import Round


@dataclass
class Place:
    """A place of the folded sequence: what happens there, and how often.

    `period` are the turns of the loop around it. `turns` is what happens in each of them, if that
    differs in more than computation and bytes. `paths`, if known, are the seconds of each turn that
    the ranks wait for, before the round and within it.
    """

    round: Round
    visits: int
    period: int
    turns: list[Round] = field(default_factory=list)
    paths: tuple[list[float], ...] = ()


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


def parts(round_: Round) -> tuple[ByRank, ByRank]:
    """Return the computation before a round and within it."""
    return round_.before, round_.within


def total(spent: ByRank) -> float:
    """Return the mean seconds of all ranks together."""
    return sum(of_rank.mean for of_rank in spent.values())


def computed(place: Place) -> float:
    """Return the seconds that all ranks compute at a place."""
    round_ = place.round
    return place.visits * (total(round_.before) + round_.answers * total(round_.within))


def unrolled(loop: Again, once: ByRank) -> Tree:
    """Return the turns of a loop one after another, each place with its own visits.

    What ranks compute once, before the loop, they compute before the first place.
    """

    def turn(tree: Tree, index: int, inner: int) -> Tree:
        nodes: Tree = []
        for node in tree:
            if isinstance(node, Again):
                nodes.append(Again(node.times, turn(node.body, index, inner * node.times)))
                continue
            of = [
                {
                    r: of_rank.every(index * inner, inner, loop.times)
                    for r, of_rank in by_rank.items()
                }
                for by_rank in parts(node.round)
            ]
            round_ = replace(node.round, before=of[0], within=of[1])
            nodes.append(Place(round_, node.visits // loop.times, node.period))
        return nodes

    nodes = [node for index in range(loop.times) for node in turn(loop.body, index, 1)]
    before = next(flat(nodes)).round.before
    before |= {rank: before.get(rank, NOTHING) + spent for rank, spent in once.items()}
    return nodes
