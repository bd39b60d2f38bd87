"""Messages of a round, as a topology that a description names; else as a list of edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

__all__ = ["bytes_of", "edges", "named"]

Message = tuple[int, int, float]
_Pairs = Counter[tuple[int, int]]

DIMENSIONS: Final = 3
"""Most dimensions of a halo."""


def named(messages: Sequence[Message], kind: str, ranks: int) -> Any | None:
    """Return the topology that has exactly these messages, or None if there is none with a name.

    Sizes are not looked at.
    """
    pairs: _Pairs = Counter((a, b) for a, b, _ in messages)
    if kind == "stream":
        return _stream(pairs, ranks)
    if kind == "token":
        ring = Counter((r, (r + 1) % ranks) for r in range(ranks))
        return "token-ring" if pairs == ring and messages[0][0] == 0 else None
    if kind == "request":
        star = Counter(pair for r in range(1, ranks) for pair in ((0, r), (r, 0)))
        return "client-server" if pairs == star else None
    return _exchange(pairs, ranks)


def _stream(pairs: _Pairs, ranks: int) -> Any | None:
    """Return a pipeline, or a wavefront over a grid, from the lower to the higher rank."""
    if pairs == Counter((r, r + 1) for r in range(ranks - 1)):
        return "pipeline"
    for dimensions in range(2, DIMENSIONS + 1):
        for shape in _shapes(ranks, dimensions):
            onward = Counter((a, b) for a, b in _halo(shape, (False,) * dimensions) if a < b)
            if min(shape) > 1 and pairs == onward:
                return {"halo": {"shape": list(shape), "periodic": False}}
    return None


def _exchange(pairs: _Pairs, ranks: int) -> Any | None:
    for dimensions in range(1, DIMENSIONS + 1):
        for shape in _shapes(ranks, dimensions):
            if min(shape) < 2:
                continue
            for around in product((False, True), repeat=dimensions):
                if pairs == _halo(shape, around):
                    periodic = around[0] if len(set(around)) == 1 else list(around)
                    return {"halo": {"shape": list(shape), "periodic": periodic}}
    if pairs == Counter((a, b) for a in range(ranks) for b in range(ranks) if a != b):
        return "all-to-all"
    return None


def _shapes(ranks: int, dimensions: int) -> Iterator[tuple[int, ...]]:
    if dimensions == 1:
        yield (ranks,)
        return
    for side in range(1, ranks + 1):
        if ranks % side == 0:
            for rest in _shapes(ranks // side, dimensions - 1):
                yield (side, *rest)


def _halo(shape: tuple[int, ...], around: tuple[bool, ...]) -> _Pairs:
    """Return who sends to whom; last dimension fastest."""
    found: _Pairs = Counter()
    strides = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * shape[axis]
    for place in product(*(range(side) for side in shape)):
        rank = sum(k * stride for k, stride in zip(place, strides, strict=True))
        for axis, side in enumerate(shape):
            if place[axis] + 1 < side or around[axis]:
                other = rank + ((place[axis] + 1) % side - place[axis]) * strides[axis]
                found[rank, other] += 1
                found[other, rank] += 1
    return found


def bytes_of(messages: Sequence[Message]) -> int | None:
    """Return the size that all messages have, or None if they differ."""
    sizes = {round(size) for _, _, size in messages}
    return sizes.pop() if len(sizes) == 1 else None


def edges(messages: Sequence[Message]) -> tuple[list[Any], int]:
    """Return edges as a description lists them, and the size of those that have none of their own.

    Messages keep their order; several of one size along one edge are one with a count.
    """
    counts: Counter[tuple[int, int, int]] = Counter((a, b, round(size)) for a, b, size in messages)
    common = Counter(size for _, _, size in counts).most_common(1)[0][0]
    found: list[Any] = []
    for (a, b, size), count in counts.items():
        more = ({} if size == common else {"bytes": size}) | (
            {} if count == 1 else {"count": count}
        )
        found.append({"from": a, "to": b, **more} if more else [a, b])
    return found, common
