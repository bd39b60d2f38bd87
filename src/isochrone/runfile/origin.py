"""The origin of times, which models, predictions, figures and tables inherit."""

from collections.abc import Iterable
from typing import Literal, get_args

Origin = Literal["measured", "simulated", "synthetic", "imported", "tabulated"]
"""On a machine; in the virtual time of a simulator; from a formula; from a file of another program;
from a table of the user."""

TABULATED = "tabulated"


def _renamed(origin: str) -> str:
    """Return an origin in today's words: older files have ``made up`` and ``given``."""
    return origin.replace("made up", "synthetic").replace("given", TABULATED)


def together(origins: Iterable[str]) -> str:
    """Return the origin of combined data: ``measured and simulated``; empty texts add nothing."""
    names = {
        _renamed(name)
        for origin in origins
        for name in origin.replace(", ", " and ").split(" and ")
    }
    ordered = [origin for origin in get_args(Origin) if origin in names]
    others = sorted(names - set(ordered) - {""})
    *first, last = [*ordered, *others] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def with_noun(origin: str, noun: str = "times") -> str:
    """Return a noun for data of an origin: ``simulated times``; ``times`` if it is not known."""
    return f"{_renamed(origin)} {noun}".strip()


def one_word(origin: str) -> str:
    """Return the word for data of an origin in a formula: ``simulated``; ``observed`` if mixed."""
    return with_noun(origin, "") if origin in get_args(Origin) else "observed"
