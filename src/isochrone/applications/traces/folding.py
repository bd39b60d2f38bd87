"""Calls of a rank, one by one, folded into loops: the repetition of a program.

A list of calls is kept; whenever its end repeats what stands before it, the two become a loop, and
the end of a loop that comes once more adds to its count (the compression of ScalaTrace: Noeth,
Ratn, Mueller, Schulz, de Supinski, "ScalaTrace: Scalable compression and replay of communication
traces for high-performance computing", JPDC 69(8), 2009). Computation is then kept by the place
of its call in the outermost loop: a call that comes three times in an iteration, and once after
computing, is not a call that computes a third of the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from isochrone.applications.traces.trace import CYCLE, Call, Gap, Loop

WINDOW: Final = 4096
"""Longest part, in calls and loops, whose repetition is found."""

TURNS: Final = 8192
"""Most turns of a call's loops whose gaps are kept apart."""

Node = Call | Loop


class Event(NamedTuple):
    """One call: what it was (see `Call`), seconds of computation before it, seconds in it."""

    op: str
    peer: int = -1
    bytes: float = 0.0
    root: int = -1
    members: int = 0
    gap: float = 0.0
    seconds: float = 0.0


def fold(events: Sequence[Event], *, by_bytes: bool = True) -> list[Node]:
    """Fold the calls of a rank into loops.

    Without `by_bytes` calls that differ only in their size are alike, and their mean is kept.
    """
    folding = _Folding()
    for event in events:
        size = event.bytes if by_bytes else None
        folding.take((event.op, event.peer, size, event.root, event.members))
    nodes = [_written(part, 1) for part in folding.parts]
    rest = iter(events)
    for node in nodes:
        for turn in range(node.count if isinstance(node, Loop) else 1):
            visits: Counter[int] = Counter()
            for call in _one_turn(node):
                event = next(rest)
                call.gap.note(event.gap)
                call.seconds += event.seconds
                call.bytes += (event.bytes - call.bytes) / call.gap.count
                if call.turns:
                    place = turn % CYCLE * (len(call.turns) // CYCLE) + visits[id(call)]
                    call.turns[place].note(event.gap)
                visits[id(call)] += 1
    return nodes


def length(nodes: Iterable[Node]) -> int:
    """Return the number of calls, repetition counted."""
    return sum(n.count * length(n.body) if isinstance(n, Loop) else 1 for n in nodes)


def calls_in(nodes: Iterable[Node], times: int = 1) -> Iterator[tuple[Call, int]]:
    """Yield each place once, and how often it was come to."""
    for node in nodes:
        if isinstance(node, Loop):
            yield from calls_in(node.body, times * node.count)
        else:
            yield node, times


def _written(part: _Part, turns: int) -> Node:
    """Return a call without times yet, or a loop of such."""
    if isinstance(part, _Turns):
        within = CYCLE if turns == 1 else turns * part.count
        return Loop(part.count, [_written(p, within) for p in part.body])
    op, peer, _, root, members = part
    call = Call(str(op), int(peer), 0.0, int(root), int(members))  # type: ignore[call-overload]
    call.turns = [Gap() for _ in range(turns)] if 1 < turns <= TURNS else []
    return call


def _one_turn(node: Node) -> Iterator[Call]:
    """Yield the calls of one turn of an outermost loop, in order."""
    if isinstance(node, Call):
        yield node
        return
    for part in node.body:
        for _ in range(part.count if isinstance(part, Loop) else 1):
            yield from _one_turn(part)


_Key = tuple[object, ...]


@dataclass(frozen=True)
class _Turns:
    """A loop of what is not yet written: how often, and what."""

    count: int
    body: list[_Part]


_Part = _Turns | _Key


class _Folding:
    """What was taken so far; `keys` are numbers that are equal where parts are alike."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.keys: list[int] = []
        self.numbers: dict[_Key, int] = {}
        self.places: dict[tuple[int, int], list[int]] = {}  # by two that follow each other
        self.bodies: dict[int, list[int]] = {}  # keys of the body of the loop at a place, in order

    def take(self, key: _Key) -> None:
        self._push(key, self._number(key))
        while self._grown() or self._begun():
            pass

    def _grown(self) -> bool:
        """Whether the end of the list was one more turn of the loop before it."""
        for place in reversed(self.bodies):
            size = len(self.parts) - 1 - place
            if size > WINDOW:
                return False
            body = self.bodies[place]
            if 0 < size == len(body) and self.keys[place + 1 :] == body:
                loop = self.parts[place]
                assert isinstance(loop, _Turns)
                self._pop(size + 1)
                self._push_loop(_Turns(loop.count + 1, loop.body), body)
                return True
        return False

    def _begun(self) -> bool:
        """Whether the end of the list repeats what is before it, and has become a loop."""
        keys = self.keys
        last = len(keys) - 1
        if last > 0 and keys[last] == keys[last - 1]:
            return self._begin(1)
        for place in reversed(self.places[self._pair(last)][:-1]):
            size = last - place
            if size > WINDOW or 2 * size > len(keys):
                return False
            if keys[-size] == keys[-2 * size] and keys[-2 * size : -size] == keys[-size:]:
                return self._begin(size)
        return False

    def _begin(self, size: int) -> bool:
        """Make a loop of the last two parts of this many nodes."""
        body, parts = self.keys[-size:], self.parts[-size:]
        self._pop(2 * size)
        self._push_loop(_Turns(2, parts), body)
        return True

    def _push_loop(self, loop: _Turns, body: list[int]) -> None:
        self._push(loop, self._number(("loop", loop.count, *body)))
        self.bodies[len(self.parts) - 1] = body

    def _push(self, part: _Part, key: int) -> None:
        self.parts.append(part)
        self.keys.append(key)
        last = len(self.parts) - 1
        self.places.setdefault(self._pair(last), []).append(last)

    def _pop(self, count: int) -> None:
        for place in range(len(self.parts) - 1, len(self.parts) - 1 - count, -1):
            self.places[self._pair(place)].pop()
        del self.parts[-count:], self.keys[-count:]
        while self.bodies and next(reversed(self.bodies)) >= len(self.parts):
            self.bodies.popitem()

    def _pair(self, place: int) -> tuple[int, int]:
        return (self.keys[place - 1] if place else -1, self.keys[place])

    def _number(self, key: _Key) -> int:
        return self.numbers.setdefault(key, len(self.numbers))
