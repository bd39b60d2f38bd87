"""Loops of the ranks of a program, wherever they come in their calls, and which belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from isochrone.applications.traces.folding import Node, calls_in, length
from isochrone.applications.traces.trace import Call, Gap, Loop

__all__ = [
    "LONGEST", "Candidate", "Place", "Unknown", "belonging", "candidates", "unfolded",
    "written_out",
]  # fmt: skip

CLOSE: Final = 0.05
"""Share of the calls that a shorter loop may leave out and still be preferred."""

LEAST: Final = 0.5
"""Share of the calls that must be in the loop, else there is none."""

LONGEST: Final = 5000
"""Calls of a rank in one turn; no one reads a longer description."""


class Unknown(Exception):
    """Something that a description cannot tell, and why."""


@dataclass
class Candidate:
    """A loop of one rank, wherever it comes in its calls.

    Attributes
    ----------
    longest
        Where it comes with the most turns in a row: the first such.
    before
        Calls before `longest`, nearest first, and counted.
    total
        All its turns.
    """

    longest: Loop
    trail: list[tuple[list[Node], int]]
    total: int
    loops: list[Loop] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Calls of one turn."""
        return length(self.longest.body)


def candidates(nodes: list[Node]) -> list[Candidate]:
    """List the loops of a rank, equal ones taken together."""
    found: dict[object, Candidate] = {}

    def visit(level: list[Node], trail: list[tuple[list[Node], int]], times: int) -> None:
        for place, node in enumerate(level):
            if isinstance(node, Loop):
                here = [*trail, (level, place)]
                key = _key(node.body)
                known = found.setdefault(key, Candidate(node, here, 0))
                if node.count > known.longest.count:
                    known.longest, known.trail = node, here
                known.total += times * node.count
                known.loops.append(node)
                visit(node.body, here, times * node.count)

    visit(nodes, [], 1)
    return [c for c in found.values() if c.size <= LONGEST]


def _key(nodes: list[Node]) -> object:
    return tuple(
        (n.count, _key(n.body))
        if isinstance(n, Loop)
        else (n.op, n.peer, n.bytes, n.root, n.members)
        for n in nodes
    )  # fmt: skip


def belonging(found: list[list[Candidate]], sizes: list[int]) -> list[Candidate | None]:
    """Choose for each rank the loop that belongs to the program's; None: it does nothing."""
    options: list[tuple[float, int, list[Candidate | None]]] = []
    for count in sorted({c.total for candidates in found for c in candidates}):
        best = [_best(c, count, size) for c, size in zip(found, sizes, strict=True)]
        covered = sum(0 if b is None else b.total * b.size for b in best) / sum(sizes)
        options.append((covered, max(0 if b is None else b.size for b in best), best))
    most = max((covered for covered, _, _ in options), default=0.0)
    if most < LEAST:
        raise Unknown("no repetition was found that holds most of its calls")
    good = [option for option in options if option[0] >= most - CLOSE]
    return min(good, key=lambda option: option[1])[2]


def _best(candidates: list[Candidate], count: int, calls: int) -> Candidate | None:
    """Return the loop that is repeated `count` times, or a multiple of that, give or take one."""
    fitting = [c for c in candidates if abs(c.total - round(c.total / count) * count)
               <= round(c.total / count)]  # fmt: skip
    return max(fitting, key=lambda c: (c.total * c.size, -c.size), default=None)


def unfolded(nodes: list[Node], *, backwards: bool = False) -> Iterator[Call]:
    """Yield calls in the order in which they were made, or the last one first."""
    for node in reversed(nodes) if backwards else nodes:
        if isinstance(node, Loop):
            for _ in range(node.count):
                yield from unfolded(node.body, backwards=backwards)
        else:
            yield node


@dataclass(frozen=True)
class Place:
    """A call of a turn: the `visit`-th of `visits` that a turn makes to it.

    With the `first` call of a turn, the gap before the first turn is counted, too.
    """

    call: Call
    visit: int
    visits: int
    first: bool = False

    def at(self, turn: int, turns: int) -> Call:
        """Return it with its gaps in each `turns`-th turn from `turn` on."""
        kept = self.call.turns
        gap = self.call.gap
        if self.visits * turns > 1 and kept and len(kept) // self.visits % turns == 0:
            gap = Gap()
            for number, one in enumerate(kept[self.visit :: self.visits]):
                if number % turns == turn % turns:
                    gap.add(one)
        if self.first:
            gap = _without_begin(gap)
        call = self.call
        return Call(call.op, call.peer, call.bytes, call.root, call.members, gap)


def written_out(candidate: Candidate) -> list[Place]:
    """Return the calls of one turn."""
    seen: Counter[int] = Counter()
    inner = {id(call): times for call, times in calls_in(candidate.longest.body)}
    body: list[Place] = []
    for call in unfolded(candidate.longest.body):
        body.append(Place(call, seen[id(call)], inner[id(call)], first=not body))
        seen[id(call)] += 1
    return body


def _without_begin(gap: Gap) -> Gap:
    """Leave out what was done before the first turn, if one gap is ten times all others.

    No call parts it from the computation of that turn.
    """
    tenths = sorted(gap.tenths)
    if len(tenths) < 2 or gap.tenths[tenths[-1]] > 1 or tenths[-1] - tenths[-2] <= 10:
        return gap
    kept = {tenth: gap.tenths[tenth] for tenth in tenths[:-1]}
    most = min(gap.most, 10 ** ((tenths[-2] + 1) / 10))
    return Gap(gap.count - 1, gap.total - gap.most, gap.least, most, kept, gap.processor)
