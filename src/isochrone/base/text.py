"""Text from elsewhere (host names, logs) made safe to print on a terminal."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: object, limit: int = 200) -> str:
    """Return ``text`` on one line, without control characters, cut after ``limit`` characters.

    A host name in a run file may hold terminal escape sequences; a terminal must not obey them.
    """
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
