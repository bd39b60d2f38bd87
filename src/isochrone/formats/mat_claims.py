"""What a MATLAB file of version 5 to 7 claims to hold, checked before it is read.

The file is a sequence of elements: a tag, which says type and length, and that many bytes.
Variables are elements of the type matrix, nearly always compressed one by one. Within a matrix
follow flags, which say its class, dimensions, name, and content. A reader makes room for what the
tags and dimensions say; here it is seen whether it is there.

References
----------
.. MAT-File Format, The MathWorks, Inc.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["ClaimError", "check"]

_HEADER: Final = 128
_MATRIX: Final = 14
_COMPRESSED: Final = 15
_CELL: Final = 1
_CHARS: Final = 4
_NUMBERS: Final = range(6, 16)
_KNOWN: Final = range(1, 16)
_LARGEST_NAME: Final = 4096


Order = Literal["little", "big"]


class ClaimError(Exception):
    """What a file claims to hold is not there, or more than it may be."""


def check(data: bytes, names: Collection[str], most: int) -> None:
    """Check the variables of a file that are called ``names``; together at most ``most`` bytes.

    Files of version 4 are left alone: nothing in them is compressed, or larger than it says.

    Raises
    ------
    ClaimError
        If one is not numbers, text, or cells of those; claims more than it holds; or they are too
        large.
    ValueError, zlib.error
        If the file is damaged.
    """
    if len(data) < _HEADER or 0 in data[:4]:
        return
    file = _Elements(data, _HEADER, "little" if data[126:128] == b"IM" else "big")
    left = most
    for kind, content in file.all(padded=False):
        if kind != _COMPRESSED:
            head, packed = content, None
        else:
            packed = zlib.decompressobj()
            head = packed.decompress(content, _LARGEST_NAME)
            kind, head = _unpacked(head, file.order)
        if kind != _MATRIX or _Matrix.of(head, file.order).name not in names:
            continue
        if packed is not None:
            head += packed.decompress(packed.unconsumed_tail, left + 1)
        left -= len(head)
        if left < 0:
            raise ClaimError
        _check_matrix(head, file.order, 1)


def _unpacked(head: bytes, order: Order) -> tuple[int, bytes]:
    """Return the type of the element that was compressed, and what follows its tag."""
    kind, _, start = _Elements(head, 0, order).tag(0)
    return kind, head[start:]


def _check_matrix(data: bytes, order: Order, cells: int) -> None:
    """Check that the content of a matrix is as large as its dimensions say."""
    matrix = _Matrix.of(data, order)
    rest = _Elements(data, matrix.start, order)
    if matrix.kind == _CELL and cells:
        if matrix.count * 8 > len(data):
            raise ClaimError
        for kind, content in rest.all(padded=True):
            if kind == _MATRIX and content:
                _check_matrix(content, order, cells - 1)
    elif matrix.kind == _CHARS or matrix.kind in _NUMBERS:
        held = len(next(rest.all(padded=True), (0, b""))[1])
        if matrix.count > held:
            raise ClaimError
    else:
        raise ClaimError


@dataclass(frozen=True)
class _Matrix:
    """The beginning of a matrix: its class, number of elements, name, and where content starts."""

    kind: int
    count: int
    name: str
    start: int

    @classmethod
    def of(cls, data: bytes, order: Order) -> _Matrix:
        """Read it; errors as of `check`."""
        elements = _Elements(data, 0, order)
        at, found = 0, []
        for _ in range(3):  # flags, dimensions, name
            _, length, start = elements.tag(at)
            if start + length > len(data):
                raise ClaimError
            found.append(data[start : start + length])
            at = elements.after(at)
            if found[0][:1] and elements.number(found[0]) & 0xFF not in _KNOWN:
                return cls(0, 0, "", at)  # an object, which has no dimensions
        flags, dimensions, name = found
        sizes = [elements.number(dimensions, k) for k in range(0, len(dimensions), 4)]
        if len(flags) < 8 or not sizes:
            raise ClaimError
        kind = elements.number(flags) & 0xFF
        return cls(kind, math.prod(sizes), name.decode("latin1").strip("\0"), at)


@dataclass(frozen=True)
class _Elements:
    """Elements one after the other."""

    data: bytes
    start: int
    order: Order

    def number(self, data: bytes, at: int = 0) -> int:
        """Return a number of four bytes; one below zero is a large one."""
        return int.from_bytes(data[at : at + 4], self.order)

    def tag(self, at: int) -> tuple[int, int, int]:
        """Return type and length of an element, and where its bytes start."""
        if at + 8 > len(self.data):
            raise ClaimError
        first, second = self.number(self.data, at), self.number(self.data, at + 4)
        if first >> 16:  # a short one, with its bytes within the tag
            return first & 0xFFFF, min(first >> 16, 4), at + 4
        return first, second, at + 8

    def after(self, at: int) -> int:
        """Return where the next element starts: at a multiple of 8 bytes."""
        _, length, start = self.tag(at)
        return at + 8 if start == at + 4 else start + length + -length % 8

    def all(self, *, padded: bool) -> Iterator[tuple[int, bytes]]:
        """Yield type and content of the elements; not ``padded`` those of a file, as they are."""
        at = self.start
        while at + 8 <= len(self.data):
            kind, length, start = self.tag(at)
            if start + length > len(self.data):
                raise ClaimError
            yield kind, self.data[start : start + length]
            at = self.after(at) if padded else start + length
