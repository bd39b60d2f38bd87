"""Repetition in a sequence: loops, and loops in loops.

Two equal parts that follow each other become a loop, and a part that equals the body of the loop
before it one more turn of that. M. Noeth, P. Ratn, F. Mueller, M. Schulz, B. R. de Supinski:
"ScalaTrace: Scalable compression and replay of communication traces", JPDC 69 (2009), fold alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

MAX_REPEATED_PART = 4096
"""Longest part, in single ones and loops, whose repetition is found."""


@dataclass
class Leaf:
    """One place of the folded sequence; `visits` are the indices of what came there."""

    visits: list[int] = field(default_factory=list)


@dataclass
class Loop:
    """A part that was repeated `count` times in a row."""

    count: int
    body: list[Node]


Node = Leaf | Loop


def fold(keys: Iterable[Hashable]) -> list[Node]:
    """Fold a sequence, of which equal keys are alike."""
    folding = _Folding()
    for key in keys:
        folding.take(key)
    _visit(folding.nodes, 0)
    return folding.nodes


def _visit(nodes: Sequence[Node], at: int) -> int:
    """Note in order who comes where; return the index after the last one."""
    for node in nodes:
        if isinstance(node, Leaf):
            node.visits.append(at)
            at += 1
        else:
            for _ in range(node.count):
                at = _visit(node.body, at)
    return at


class _Folding:
    """What was taken so far; `keys` are numbers that are equal where parts are alike."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.keys: list[int] = []
        self.numbers: dict[tuple[object, ...], int] = {}
        self.places: dict[tuple[int, int], list[int]] = {}  # by two that follow each other
        self.bodies: dict[int, list[int]] = {}  # keys of the body of the loop at a place, in order

    def take(self, key: Hashable) -> None:
        self._push(Leaf(), (key,))
        while self._grown() or self._begun():
            pass

    def _grown(self) -> bool:
        """Whether the end of the list was one more turn of the loop before it."""
        for position in reversed(self.bodies):
            size = len(self.nodes) - 1 - position
            if size > MAX_REPEATED_PART:
                return False
            body = self.bodies[position]
            if 0 < size == len(body) and self.keys[position + 1 :] == body:
                loop = self.nodes[position]
                assert isinstance(loop, Loop)
                self._pop(size + 1)
                self._push_loop(Loop(loop.count + 1, loop.body), body)
                return True
        return False

    def _begun(self) -> bool:
        """Whether the end of the list repeats what is before it, and has become a loop."""
        keys = self.keys
        last = len(keys) - 1
        if last > 0 and keys[last] == keys[last - 1]:
            return self._begin(1)
        for position in reversed(self.places[self._pair(last)][:-1]):
            size = last - position
            if size > MAX_REPEATED_PART or 2 * size > len(keys):
                return False
            if keys[-size] == keys[-2 * size] and keys[-2 * size : -size] == keys[-size:]:
                return self._begin(size)
        return False

    def _begin(self, size: int) -> bool:
        """Make a loop of the last two parts of this many nodes."""
        body, nodes = self.keys[-size:], self.nodes[-size:]
        self._pop(2 * size)
        self._push_loop(Loop(2, nodes), body)
        return True

    def _push_loop(self, loop: Loop, body: list[int]) -> None:
        self._push(loop, ("loop", loop.count, *body))
        self.bodies[len(self.nodes) - 1] = body

    def _push(self, node: Node, key: tuple[object, ...]) -> None:
        self.nodes.append(node)
        self.keys.append(self.numbers.setdefault(key, len(self.numbers)))
        last = len(self.nodes) - 1
        self.places.setdefault(self._pair(last), []).append(last)

    def _pop(self, count: int) -> None:
        for position in range(len(self.nodes) - 1, len(self.nodes) - 1 - count, -1):
            self.places[self._pair(position)].pop()
        del self.nodes[-count:], self.keys[-count:]
        while self.bodies and next(reversed(self.bodies)) >= len(self.nodes):
            self.bodies.popitem()

    def _pair(self, position: int) -> tuple[int, int]:
        return (self.keys[position - 1] if position else -1, self.keys[position])
