"""The loop of a program that all its ranks are in, and what each does in one turn of it.

Each rank's calls are folded into loops of its own; those of one program belong together by how
often they are repeated. Where a turn begins is a convention: it is put where every message that
was sent before was received before, all ranks have done as many collective operations, and nothing
is open, at the earliest such place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Final

from isochrone.applications.traces.folding import Node, calls_in, length
from isochrone.applications.traces.trace import CYCLE, RECEIVES, SENDS, Call, Gap, Loop, Trace
from isochrone.base.errors import InputError

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
        return replace(self.call, gap=gap)


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
    return Gap(gap.count - 1, gap.total - gap.most, gap.least, most, kept)


UNEVEN: Final = 0.01
"""Share of all computation by which turns must differ to be told apart."""

QUARTER: Final = 0.25
"""Share of a gap by which turns must differ to be told apart."""

SHORT: Final = 200
"""Calls of a rank that can be written down without any repetition."""

_Counts = Counter[tuple[str, int]]


@dataclass(frozen=True)
class MainLoop:
    """`bodies[r]` is what rank r does in each of `iterations` turns, one call after another."""

    iterations: int
    bodies: list[list[Call]]


def main_loop(trace: Trace) -> MainLoop:
    """Find the main loop of a program.

    The turns of all ranks begin together, and they have the same number of them.

    Raises
    ------
    Unknown
        If there is none, or the ranks do not agree on one.
    """
    found = [candidates(nodes) for nodes in trace.ranks]
    sizes = [length(nodes) for nodes in trace.ranks]
    if not any(sizes):
        raise Unknown("it holds no communication")
    walks = [_Walk(candidate) for candidate in belonging(found, sizes)]
    if any(call.peer < 0 for w in walks for call in w.body if call.op in RECEIVES):
        raise Unknown("a receive from any source decides at run time who is answered")
    whole = _turns_together(walks, trace.groups)
    times = _uneven(walks, whole)
    whole = [turns * times for turns in whole]
    try:
        _cut(walks, trace.groups)
    except Unknown:  # what came before does not add up: it received from anyone, or was cut off
        for walk in walks:
            walk.forget()
        _cut(walks, trace.groups)
    bodies, iterations = [], []
    for walk, turns in zip(walks, whole, strict=True):
        size = len(walk.body) * turns
        places = (divmod(k, len(walk.body)) for k in range(walk.place, walk.place + size))
        bodies.append([walk.places[place].at(turn, turns) for turn, place in places])
        if size:
            elsewhere = (walk.total - walk.turns) // turns
            iterations.append((walk.end - walk.place) // size + elsewhere)
    return MainLoop(min(iterations), bodies)


def once(trace: Trace, reason: Unknown) -> MainLoop:
    """Return all calls of a program as one turn.

    Raises
    ------
    InputError
        If there are too many of them.
    """
    sizes = [length(nodes) for nodes in trace.ranks]
    if max(sizes, default=0) > SHORT or not any(sizes):
        raise InputError(f"not known: {reason}", where=trace.name)
    return MainLoop(1, [list(unfolded(nodes)) for nodes in trace.ranks])


class _Walk:
    """One rank's way through its loop, from the first call that fits its pattern."""

    def __init__(self, candidate: Candidate | None) -> None:
        self.places = [] if candidate is None else written_out(candidate)
        self.body = [place.call for place in self.places]
        self.total = 0 if candidate is None else candidate.total
        self.turns = 0 if candidate is None else candidate.longest.count
        self.counts: _Counts = Counter()
        self.open = 0
        self.place = 0
        self.end = self.turns * len(self.body)
        if candidate is not None:
            self._back(candidate)

    def _back(self, candidate: Candidate) -> None:
        """Count what was done before, and step back as far as that fits the pattern."""
        for level, place in candidate.trail:
            for call, times in calls_in(level[:place]):
                _count(self.counts, call, times)
        around = candidate.trail[::-1]
        before = (
            call for level, place in around for call in unfolded(level[:place], backwards=True)
        )
        for call in before:  # in the first turn of the loops around it, nearest first
            if _key([call]) != _key([self.body[(self.place - 1) % len(self.body)]]):
                break
            self.place -= 1
            _count(self.counts, call, -1)
        after = (call for level, place in around for call in unfolded(level[place + 1 :]))
        for call in after:  # in the last turn of those
            if _key([call]) != _key([self.body[self.end % len(self.body)]]):
                break
            self.end += 1

    def forget(self) -> None:
        """Begin where the loop was seen to begin, and as if nothing had been before."""
        self.place, self.open = 0, 0
        self.counts = Counter()

    def advance(self) -> None:
        """Do the next call."""
        if self.place >= self.end:
            raise Unknown("its ranks do not agree on where an iteration begins")
        call = self.body[self.place % len(self.body)]
        _count(self.counts, call, 1)
        self.open = 0 if call.op == "wait" else self.open + (call.op in ("isend", "irecv"))
        self.place += 1

    def of_body(self) -> _Counts:
        counts: _Counts = Counter()
        for call in self.body:
            _count(counts, call, 1)
        return counts


def _count(counts: _Counts, call: Call, times: int) -> None:
    if call.op in SENDS:
        counts["to", call.peer] += times
    elif call.op in RECEIVES:
        counts["from", call.peer] += times
    elif call.op != "wait":
        counts["in", call.members] += times


def _uneven(walks: list[_Walk], whole: list[int]) -> int:
    """Return how many turns a program takes until it computes as before, if not one.

    Calls may be alike in each while what is computed before them is not.
    """
    found, better = 1, True
    while better:
        better = False
        for times in (2, 3, 4, 6, 12):
            if CYCLE % (found * times) == 0 and _differ(walks, whole, found, found * times):
                found, better = found * times, True
                break
    return found


def _differ(walks: list[_Walk], whole: list[int], now: int, then: int) -> bool:
    """Whether gaps at one place differ between turns that are taken for the same now."""
    total = sum(place.call.gap.mean for walk in walks for place in walk.places)
    for walk, turns in zip(walks, whole, strict=True):
        size = len(walk.places)
        if walk.turns < 4 * then * turns or size * turns * then > LONGEST:
            return False
        for place in walk.places:
            for turn in range(now * turns):
                gaps = [place.at(turn + k * now * turns, then * turns).gap
                        for k in range(then // now)]  # fmt: skip
                if _apart(gaps, UNEVEN * total):
                    return True
    return False


def _apart(gaps: list[Gap], least: float) -> bool:
    """Whether some gaps are all shorter than all others, and by enough to be told."""
    order = sorted(gaps, key=lambda gap: gap.mean)
    return any(
        high.mean - low.mean > max(least, QUARTER * high.mean)
        and max(gap.most for gap in order[:place]) < min(gap.least for gap in order[place:])
        for place, (low, high) in enumerate(pairwise(order), 1)
    )


_Meeting = tuple[int, tuple[str, int], int, tuple[str, int]]


def _meetings(walks: list[_Walk], groups: list[tuple[int, ...]]) -> Iterator[_Meeting]:
    """Yield two ranks and what of theirs must be as many: sent and received, taken part in."""
    for rank, walk in enumerate(walks):
        for what, other in walk.of_body():
            if what == "to":
                yield rank, (what, other), other, ("from", rank)
            elif what == "from":
                yield other, ("to", rank), rank, (what, other)
            else:
                for member in groups[other]:
                    yield rank, (what, other), member, (what, other)


def _turns_together(walks: list[_Walk], groups: list[tuple[int, ...]]) -> list[int]:
    """Return how many turns of each rank's own pattern make one of the program."""
    counts = [walk.of_body() for walk in walks]
    links: dict[int, list[tuple[int, Fraction]]] = {rank: [] for rank in range(len(walks))}
    for a, what_a, b, what_b in _meetings(walks, groups):
        if not counts[a][what_a] or not counts[b][what_b]:
            raise Unknown(f"what rank {a} and rank {b} do together does not repeat at both")
        ratio = Fraction(counts[a][what_a], counts[b][what_b])
        links[a].append((b, ratio))
        links[b].append((a, 1 / ratio))
    turns: dict[int, Fraction] = {}
    base = min((walk.total for walk in walks if walk.body), default=1)
    for rank, walk in enumerate(walks):
        if rank in turns:
            continue
        turns[rank] = Fraction(max(1, round(walk.total / base)))
        reached = [rank]
        while reached:
            a = reached.pop()
            for b, ratio in links[a]:
                if b not in turns:
                    turns[b] = turns[a] * ratio
                    reached.append(b)
                elif turns[b] != turns[a] * ratio:
                    raise Unknown(f"ranks {a} and {b} do not repeat at the same rate")
    scale = lcm(*(t.denominator for t in turns.values()))
    whole = [int(turns[rank] * scale) for rank in range(len(walks))]
    if any(w * len(walk.body) > LONGEST for w, walk in zip(whole, walks, strict=True)):
        raise Unknown("one iteration of it has too many calls to be written down")
    return whole


def _cut(walks: list[_Walk], groups: list[tuple[int, ...]]) -> None:
    """Advance each rank to the earliest place at which all agree."""
    pairs = {
        pair: None for a, what_a, b, what_b in _meetings(walks, groups)
        for pair in ((a, what_a, b, what_b), (b, what_b, a, what_a))
    }  # fmt: skip
    moved = True
    while moved:
        moved = False
        for a, what_a, b, what_b in pairs:
            while walks[a].counts[what_a] < walks[b].counts[what_b]:
                walks[a].advance()
                moved = True
        for walk in walks:
            while walk.open:
                walk.advance()
                moved = True
