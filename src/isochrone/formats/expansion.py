"""How much a compressed file may hold: more is refused before it takes memory."""

from __future__ import annotations

from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes
from isochrone.formats.source import Source

__all__ = ["most_in", "too_much"]

SMALL: Final = 8 << 20
"""Bytes that an array may have in any file: a matrix of 1,024 ranks, even if all its times are one
number, as those of a simulated network may be."""

RATIO: Final = 10
"""How many times as large as its file an array may be; times that were measured hardly shrink."""


def most_in(source: Source) -> int:
    """Return how many bytes one array of a file may have, at 8 or more for each element."""
    return max(SMALL, RATIO * len(source.data))


def too_much(source: Source) -> InputError:
    """Return the error to raise for a file that holds more."""
    return source.fail(
        f"more than {format_bytes(most_in(source))} of a matrix in a file of "
        f"{format_bytes(len(source.data))}",
        hint="no measured times can be compressed so far: import a CSV instead",
    )
