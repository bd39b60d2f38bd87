"""Checks the sizes in a MATLAB file of version 5 to 7 before it is read.

The file is a sequence of elements: a tag with type and length, and that many bytes. Variables are
elements of the type matrix, nearly always compressed one by one. A matrix consists of flags with
its class, dimensions, name, and content. A reader allocates memory by the tags and dimensions; here
they are compared with the actual content.

References
----------
.. MAT-File Format, The MathWorks, Inc.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from isochrone.runfile.run import MAX_MATRIX_RANKS

_MAT_HEADER_BYTES = 128
_FLAGS = 6
_MATRIX = 14
_COMPRESSED = 15
_TYPES = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18})
"""Of numbers and letters. SciPy looks them up without asking whether it knows them: it crashes."""
_CELL_CLASS = 1
_CHARS = 4
_NUMBERS = range(6, 16)
_READ = frozenset({_CELL_CLASS, _CHARS, *_NUMBERS})
_KNOWN = range(1, 16)
_COMPLEX = 1 << 11
_LARGEST_NAME = 4096
_MAX_MATRIX_DIMENSIONS = 32


Order = Literal["little", "big"]


class ClaimError(Exception):
    """What a file claims to hold is not there, or more than it may be."""


def check(data: bytes, names: Collection[str], limit: int) -> set[str]:
    """Check the variables of a file that are called ``names``; each at most ``limit`` bytes.

    Files of version 4 are left alone: nothing in them is compressed, or larger than it says. So are
    those of 7.3, which SciPy does not read.

    Returns
    -------
    set of str
        Those that are neither numbers, text, nor cells of those, and should not be read.

    Raises
    ------
    ClaimError
        If one is of an unknown type, claims more than it holds, or is too large.
    ValueError, zlib.error
        If the file is damaged.
    """
    if len(data) < _MAT_HEADER_BYTES or 0 in data[:4] or data[124 + (data[126:127] == b"I")] != 1:
        return set()
    file = _Elements(data, "little" if data[126:128] == b"IM" else "big")
    others, at = set(), _MAT_HEADER_BYTES
    while at + 8 <= len(data):
        kind, length, start = file.tag(at)
        at, content = start + length, data[start : start + length]
        if kind != _COMPRESSED:
            head, packed = content, None
        else:
            packed = zlib.decompressobj()
            head = packed.decompress(content, _LARGEST_NAME)
            kind, head = int.from_bytes(head[:4], file.order), head[8:]
        if kind != _MATRIX:
            continue
        matrix = _Matrix.of(_Elements(head, file.order), 0)
        if matrix.name not in names:
            continue
        if packed is not None:
            head += packed.decompress(packed.unconsumed_tail, limit + _LARGEST_NAME)
        if len(head) > limit + _LARGEST_NAME or matrix.count * 8 > limit:
            raise ClaimError
        if matrix.kind in _READ:
            _check_matrix(_Elements(head, file.order), 0, 1)
        else:
            others.add(matrix.name)
    return others


def _check_matrix(elements: _Elements, at: int, cells: int) -> int:
    """Check that a matrix has the content for its dimensions, and return where it ends.

    Matrices within it follow each other as SciPy reads them: where the content ends, whatever
    length their tags say. So no byte is read there as another thing than what was checked.
    """
    matrix = _Matrix.of(elements, at)
    at = matrix.start
    if matrix.kind == _CELL_CLASS and cells:
        if matrix.count > MAX_MATRIX_RANKS:
            raise ClaimError
        for _ in range(matrix.count):
            kind, length, start = elements.tag(at)
            if kind != _MATRIX or start != at + 8:
                raise ClaimError
            at = _check_matrix(elements, start, cells - 1) if length else start
    elif matrix.kind == _CHARS or matrix.kind in _NUMBERS:
        for _ in range(2 if matrix.is_complex else 1):
            kind, length, _ = elements.tag(at)
            if kind not in _TYPES or matrix.count > length:
                raise ClaimError
            at = elements.after(at)
    else:
        raise ClaimError
    return at


@dataclass(frozen=True)
class _Matrix:
    """The beginning of a matrix: its class, number of elements, name, and where content starts."""

    kind: int
    is_complex: bool
    count: int
    name: str
    start: int

    @classmethod
    def of(cls, elements: _Elements, at: int) -> _Matrix:
        """Read it; errors as of `check`."""
        if elements.tag(at) != (_FLAGS, 8, at + 8):
            raise ClaimError
        flags = elements.number(at + 8)
        at += 16
        if flags & 0xFF not in _KNOWN:
            return cls(0, False, 0, "", at)  # an object, which has no dimensions
        _, length, start = elements.tag(at)
        if length > 4 * _MAX_MATRIX_DIMENSIONS:
            raise ClaimError
        sizes = [elements.number(k) for k in range(start, start + length, 4)]
        if not sizes:
            raise ClaimError
        at = elements.after(at)
        _, length, start = elements.tag(at)
        name = elements.data[start : start + length].decode("latin1").strip("\0")
        at = elements.after(at)
        return cls(flags & 0xFF, bool(flags & _COMPLEX), math.prod(sizes), name, at)


@dataclass(frozen=True)
class _Elements:
    """Elements one after the other."""

    data: bytes
    order: Order

    def number(self, at: int) -> int:
        """Return a number of four bytes; one below zero is a large one."""
        return int.from_bytes(self.data[at : at + 4], self.order)

    def tag(self, at: int) -> tuple[int, int, int]:
        """Return type and length of an element, and where its bytes start, which are there."""
        if at + 8 > len(self.data):
            raise ClaimError
        first, second = self.number(at), self.number(at + 4)
        if first >> 16:  # a short one, with its bytes within the tag
            return first & 0xFFFF, min(first >> 16, 4), at + 4
        if at + 8 + second > len(self.data):
            raise ClaimError
        return first, second, at + 8

    def after(self, at: int) -> int:
        """Return where the next element starts: at a multiple of 8 bytes."""
        _, length, start = self.tag(at)
        return at + 8 if start == at + 4 else start + length + -length % 8
