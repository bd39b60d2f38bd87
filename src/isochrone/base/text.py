"""Text from elsewhere (host names, logs, names of files) made safe to print on a terminal."""

from __future__ import annotations

from typing import Final

__all__ = ["printable", "whole_number"]

_DIGITS: Final = 18
"""Of the longest whole number that is read: it fits into 64 bits."""


def printable(text: object, limit: int = 200) -> str:
    """Return ``text`` on one line, without control characters, cut after ``limit`` characters.

    A host name in a run file may hold terminal escape sequences; a terminal must not obey them.
    """
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def whole_number(text: str) -> int | None:
    """Read a whole number of at most 18 digits, none of another script; None if it is none."""
    fits = len(text) <= _DIGITS and text.isascii() and text.isdigit()
    return int(text) if fits else None
