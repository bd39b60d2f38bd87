"""Access patterns as options of the command line.

`isochrone.collective_io.patterns` holds the patterns, one per file; each file ends in its
`Pattern`.
"""

import argparse
import re
from collections.abc import Callable, Mapping
from typing import Any

from isochrone.base import registry
from isochrone.base.record import Record
from isochrone.collective_io.workload import AccessPattern

DEFAULT = "tiles"
"""The pattern that is meant if the user names none."""

Options = Mapping[str, Any]
"""Values of the options of the command line by name; None where the user has not given them.

A pattern finds there its own options, and those that all patterns share: ``tile``, elements along
each axis of what a rank owns, and ``element``, bytes of one.
"""


class Option(Record):
    """An option of the command line.

    Attributes
    ----------
    name
        With its dashes.
    help
        One line.
    metavar
        Placeholder of its value in the help; empty: a flag.
    read
        Reads the value; raises `argparse.ArgumentTypeError`.
    expert
        Whether only ``--help-all`` shows it.
    """

    name: str
    help: str
    metavar: str = ""
    read: Callable[[str], object] = str
    expert: bool = False


class Pattern(Record):
    """An access pattern that the user can select.

    Attributes
    ----------
    option
        Selects it; named as its file.
    make
        Builds the pattern from the options, for that number of ranks if they do not set one. Raises
        `InputError` if they contradict each other.
    more
        Its other options.
    hint
        Suggested option for that number of ranks, if the pattern has another one.
    position
        Of its option in the help: the lowest is first, equal ones follow by name.
    """

    option: Option
    make: Callable[[Options, int], AccessPattern]
    more: tuple[Option, ...] = ()
    hint: Callable[[int], str] = lambda ranks: "the two must be equal"
    position: int = 100


_files, load = registry.family("collective_io.patterns", "PATTERN", Pattern)
"""The names of the files; a pattern by its name."""


def names() -> list[str]:
    """List the patterns as the user types them, in the order of the help."""
    return sorted(_files(), key=lambda name: load(name).position)


def sides(
    fewest: int, max_count: int | None = None, min_value: int = 1
) -> Callable[[str], tuple[int, ...]]:
    """Return a reader, for argparse, of sides such as ``4x4``.

    It takes from ``fewest`` to ``max_count`` (default: as many) numbers from ``min_value``.
    """

    def read(text: str) -> tuple[int, ...]:
        numbers = text.lower().split("x")
        if not fewest <= len(numbers) <= (max_count or fewest) or not all(
            re.fullmatch("[0-9]{1,9}", side) and int(side) >= min_value for side in numbers
        ):
            raise argparse.ArgumentTypeError(f"'{text}' is not a grid such as 4x4")
        return tuple(map(int, numbers))

    return read
