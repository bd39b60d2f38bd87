"""Where times come from, in words that stay with them: in models, predictions, pictures, tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

Origin = Literal["measured", "simulated", "made up", "imported", "given"]
"""On a machine; in the virtual time of a simulator; from a formula; from a file of another program;
from a table of the user's own, of which no more is known."""

GIVEN: Final[Origin] = "given"


def together(origins: Iterable[str]) -> str:
    """Return the origin of data that were put together: ``measured and simulated``.

    What is not known (an empty text) adds nothing.
    """
    parts = {part for origin in origins for part in origin.replace(", ", " and ").split(" and ")}
    known = [origin for origin in get_args(Origin) if origin in parts]
    others = sorted(parts - set(known) - {""})
    *first, last = [*known, *others] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def with_noun(origin: str, noun: str = "times") -> str:
    """Say what data of an origin are: ``simulated times``; ``times`` if it is not known."""
    return f"{origin.replace('made up', 'made-up')} {noun}".strip()


def one_word(origin: str) -> str:
    """Return a word for data of an origin in a formula: ``simulated``; ``observed`` if mixed."""
    return with_noun(origin, "") if origin in get_args(Origin) else "observed"
