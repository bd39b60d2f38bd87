"""Text from elsewhere (host names, logs, names of files) made safe to print on a terminal."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import Final

MAX_PATH: Final = 4096

_DIGITS: Final = 18
"""Of the longest whole number that is read: it fits into 64 bits."""


def printable(text: object, limit: int = 200) -> str:
    """Return ``text`` on one line, without control characters, cut after ``limit`` characters.

    A host name in a run file may hold terminal escape sequences; a terminal must not obey them.
    """
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def listed(names: Sequence[str], most: int) -> str:
    """Name the first of many, and say how many more there are: ``a, b and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def printable_path(path: object) -> str:
    """Return the name of a file likewise, however long names of files may be."""
    return printable(path, MAX_PATH)


def warn(text: object, limit: int = 500) -> None:
    """Say something in a line on standard error."""
    print(f"isochrone: {printable(text, limit)}", file=sys.stderr)


def shell_word(word: str) -> str:
    """Return a word as one would type it in a shell.

    One with control characters is written as ``$'…'``, in which bash, ksh and zsh read them by
    number: so it can be printed, and means the same file.
    """
    if word.isprintable():
        return shlex.quote(word)
    typed = "".join(c if c.isprintable() and c not in "\\'" else _numbers(c) for c in word)
    return f"$'{typed}'"


def command_line(words: Iterable[str]) -> str:
    """Return a command as one would type it in a shell."""
    return " ".join(map(shell_word, words))


def _numbers(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))


def whole_number(text: str) -> int | None:
    """Read a whole number of at most 18 digits, none of another script; None if it is none."""
    fits = len(text) <= _DIGITS and text.isascii() and text.isdigit()
    return int(text) if fits else None
