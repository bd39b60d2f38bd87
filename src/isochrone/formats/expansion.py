"""How much a compressed file may hold: more is refused before it takes memory."""

from __future__ import annotations

from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes
from isochrone.formats.source import Source

__all__ = ["most_in", "too_much"]

SMALL: Final = 48 << 20
"""Bytes that any file may hold: the matrices of a thousand ranks, even if all their times are one
number, as those of a simulated network may be."""

RATIO: Final = 50
"""How many times its own size a larger file may hold; times that were measured hardly shrink."""


def most_in(source: Source) -> int:
    """Return how many bytes a file may hold, decompressed."""
    return max(SMALL, RATIO * len(source.data))


def too_much(source: Source) -> InputError:
    """Return the error to raise for a file that holds more."""
    return source.fail(
        f"more than {format_bytes(most_in(source))} in a file of {format_bytes(len(source.data))}",
        hint="no measured times can be compressed so far: import a CSV instead",
    )
