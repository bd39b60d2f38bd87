"""Options that several commands share."""

from argparse import Action, ArgumentParser, _ActionsContainer
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from isochrone.base.errors import InputError
from isochrone.base.text import whole_number
from isochrone.base.units import LARGEST, parse_bytes, parse_percent, parse_seconds, parse_sizes

_NO_RANKS = "'{}' is not a number of ranks, or a list such as 4,8,16 or 2:64:x2"


def experts_only(action: Action) -> None:
    """Let an option be shown by ``--help-all`` only."""
    action.expert = True  # type: ignore[attr-defined]


def hide(parser: _ActionsContainer, *names: str) -> None:
    """Let some options of a command be shown by ``--help-all`` only."""
    for name in names:
        experts_only(parser._option_string_actions[name])


def add_flag(parser: _ActionsContainer, names: str, text: str, *, expert: bool = False) -> None:
    """Add an option that is given or not, with its help."""
    action = parser.add_argument(*names.split(), action="store_true", help=text)
    if expert:
        experts_only(action)


def add_option(
    parser: _ActionsContainer,
    names: str,
    value: str | None,
    read: Callable[[str], object],
    text: str,
    *,
    expert: bool = False,
    **keywords: Any,
) -> None:
    """Add an option, or an argument, that takes a value.

    Parameters
    ----------
    parser
        The parser, or a group of it.
    names
        As the user types them: ``-o --output``.
    value
        What the help calls the value; None: by its choices.
    read
        Reads the value.
    text
        The help.
    expert
        Whether only ``--help-all`` shows it.
    keywords
        What else `argparse.ArgumentParser.add_argument` shall know.
    """
    action = parser.add_argument(*names.split(), type=read, metavar=value, help=text, **keywords)
    if expert:
        experts_only(action)


add_expert = partial(add_option, expert=True)
"""Adds an option that only ``--help-all`` shows."""


def add_models(parser: _ActionsContainer, *, required: bool) -> None:
    """Add ``--model`` with several files."""
    add_option(
        parser,
        "--model",
        "FILE",
        Path,
        "model files of messages and collectives (from fit -o)",
        nargs="+",
        action="extend",
        required=required,
        default=[],
    )


def add_placement(parser: ArgumentParser) -> None:
    """Add ``--placement``."""
    add_expert(
        parser,
        "--placement",
        None,
        str,
        "ranks fill one node after the other (block, default), or go to the nodes in turn",
        choices=["block", "cyclic"],
        default="block",
    )


def add_message_size(parser: ArgumentParser) -> None:
    """Add ``--bytes``, the message size of the map that is meant."""
    add_option(
        parser,
        "--bytes",
        "SIZE",
        read_size,
        "message size of a map, such as 1MiB (default: the smallest)",
    )


def add_threshold(parser: ArgumentParser) -> None:
    """Add ``--threshold``, the slowdown from which something is called slow."""
    add_option(
        parser,
        "--threshold",
        "PERCENT",
        read_percent,
        "call a node, rank or pair of a map slow if its slowdown, compared with its peers, is at "
        "least this (default: 10%%)",
        default=0.10,
    )


def add_force(parser: _ActionsContainer) -> None:
    """Add ``--force``."""
    add_flag(parser, "--force", "overwrite existing output")


def add_journal(parser: _ActionsContainer) -> None:
    """Add ``--verbose`` and ``--log``, which `isochrone.cli.main` reads."""
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        dest="journal",
        help="print launches and decisions, such as which MPI and launcher were chosen",
    )
    add_expert(
        parser,
        "--log",
        "FILE",
        Path,
        "append the same, all warnings and the output of launchers to FILE",
    )


def add_mpi(parser: _ActionsContainer) -> None:
    """Add ``--probe``, ``--mpicc``, ``--verbose`` and ``--log``: a command that launches."""
    add_journal(parser)
    add_expert(
        parser,
        "--probe",
        "FILE",
        str,
        "isochrone-probe to use (default: $ISOCHRONE_PROBE, else in PATH, else installed, else "
        "compiled now)",
    )
    add_option(parser, "--mpicc", "COMMAND", str, "compiler wrapper of the MPI (default: detected)")


def count_of(noun: str, maximum: int = 99_999_999) -> Callable[[str], int]:
    """Return a reader of numbers from 1 on; ``noun`` says what is counted."""

    def read(text: str) -> int:
        count = whole_number(text)
        if not count or count > maximum:
            raise InputError(f"'{text}' is not a number of {noun}")
        return count

    return read


read_count = count_of("at least 1")
"""Reads a number of at least 1."""

read_percent, read_size = parse_percent, parse_bytes


def values_of(quantity: str) -> Callable[[str], list[int]]:
    """Return a reader of lists and ranges of sizes or of numbers of ranks."""

    def read(text: str) -> list[int]:
        try:
            values = parse_sizes(text)
        except InputError as error:
            if quantity == "ranks":
                raise InputError(_NO_RANKS.format(text)) from error
            raise
        if quantity == "ranks" and min(values) < 1:
            raise InputError(_NO_RANKS.format(text))
        if max(values) > LARGEST:
            raise InputError(f"'{text}' is larger than any machine")
        return values

    return read


def words_in(text: str) -> list[str]:
    """Read a list of words between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def read_time_or_zero(text: str) -> float:
    """Read a duration, or 0."""
    try:
        return 0.0 if text.strip() == "0" else read_time(text)
    except InputError as error:
        raise InputError(f"{error}, or 0") from error


def read_time(text: str) -> float:
    """Read a duration such as 300, 5m or 10min; return seconds."""
    try:
        seconds = parse_seconds(text)
    except InputError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise InputError(f"'{text}' is not a time above 0, such as 300, 5m or 200ms")
    return seconds


def read_setting(text: str) -> tuple[str, str]:
    """Read ``NAME=VALUE``."""
    name, sign, value = (piece.strip() for piece in text.partition("="))
    if not (name and sign and value):
        raise InputError(f"'{text}' is not NAME=VALUE")
    return name, value
