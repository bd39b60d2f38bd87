"""Untrusted text (host names, logs, names of files) made safe to print; names that are alike."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence

Tell = Callable[[str], None]
"""Receives a line for the user."""

MAX_PATH = 4096

_MAX_DIGITS = 18
"""Maximum number of digits of a whole number, which fits into 64 bits."""


def printable(text: object, limit: int = 200) -> str:
    """Return ``text`` on one line, without control characters, cut after ``limit`` characters.

    A host name in a run file may contain terminal escape sequences.
    """
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def listed(names: Sequence[str], max_names: int) -> str:
    """List the first names, and count the others: ``a, b and 3 more``."""
    suffix = f" and {len(names) - max_names} more" if len(names) > max_names else ""
    return ", ".join(names[:max_names]) + suffix


def printable_path(path: object) -> str:
    """Return the name of a file likewise, with a limit for file names."""
    return printable(path, MAX_PATH)


listeners: list[Tell] = []
"""Receive each line of `warn`, too."""


def warn(text: object, limit: int = 500) -> None:
    """Print a line on standard error."""
    line = printable(text, limit)
    print(f"isochrone: {line}", file=sys.stderr)
    for listener in listeners:
        listener(line)


def shell_word(word: str) -> str:
    """Return a word quoted for a shell.

    Control characters are written in ``$'…'``, which bash, ksh and zsh read.
    """
    if word.isprintable():
        return shlex.quote(word)
    typed = "".join(c if c.isprintable() and c not in "\\'" else _numbers(c) for c in word)
    return f"$'{typed}'"


def command_line(words: Iterable[str]) -> str:
    """Return a command quoted for a shell."""
    return " ".join(map(shell_word, words))


def _numbers(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))


def whole_number(text: str) -> int | None:
    """Read a whole number of at most 18 ASCII digits; None if it is none."""
    fits = len(text) <= _MAX_DIGITS and text.isascii() and text.isdigit()
    return int(text) if fits else None


def nearest(word: str, choices: Iterable[str]) -> str:
    """Return the known name that ``word`` means, or is similar to; empty if there is none."""
    from isochrone.base.synonyms import advice

    meant = _meant(word, list(choices))
    return "" if meant in advice().values() else meant


def did_you_mean(word: str, choices: Iterable[str], *, suffix: str = "; ") -> str:
    """Return ``did you mean 'show'?`` or advice, followed by ``suffix``; empty if none fits."""
    from isochrone.base.synonyms import advice

    meant = _meant(word, list(choices))
    if meant and meant not in advice().values():
        meant = f"did you mean '{meant}'?"
    return f"{meant}{suffix}" if meant else ""


def _meant(word: str, names: list[str]) -> str:
    """Return the name or the advice that a word means.

    In this order: by meaning, a name that is similar, a meaning that is similar, a part of the word
    by meaning (``--pin-processes``).
    """
    import difflib  # slow, and rarely needed

    from isochrone.base.synonyms import advice, synonyms

    meanings = advice() | synonyms(names) | {name: name for name in names}
    typed = [word, f"-{word}"] if re.match("-[^-].", word) else [word]
    for name in (*typed, *map(str.lower, typed)):
        if name in meanings:
            return meanings[name]
    option = word[:1] == "-"
    for known, cutoff in ((names, 0.6), (meanings, 0.85)):
        alike = {name.lower().lstrip("-"): name for name in known if option == (name[:1] == "-")}
        close = difflib.get_close_matches(word.lower().lstrip("-"), alike, n=1, cutoff=cutoff)
        if close:
            return meanings[alike[close[0]]]
    parts = re.split("[-_]+", word.lower().lstrip("-")) if option else []
    return next((meanings[f"--{part}"] for part in parts if f"--{part}" in meanings), "")
