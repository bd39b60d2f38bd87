"""Suggestions for mistyped names."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known name most similar to ``word``; empty if none is similar."""
    import difflib  # slow, and rarely needed

    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return names[close[0]] if close else ""


def did_you_mean(word: str, known: Iterable[str], *, then: str = "; ") -> str:
    """Return ``did you mean 'show'?``, followed by ``then``; empty if no name is similar."""
    found = nearest(word, known)
    return f"did you mean '{found}'?{then}" if found else ""
