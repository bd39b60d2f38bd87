"""What somebody who mistyped a name most likely meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known name that is most like ``word``; empty if none is like it."""
    import difflib  # only who mistypes waits for it

    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return names[close[0]] if close else ""


def did_you_mean(word: str, known: Iterable[str], *, then: str = "; ") -> str:
    """Return ``did you mean 'show'?``, and ``then`` after it; empty if nothing known is alike."""
    found = nearest(word, known)
    return f"did you mean '{found}'?{then}" if found else ""
