"""Options that several commands share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.units import LARGEST, parse_bytes, parse_sizes

__all__ = ["add_least", "add_message_size", "read_count", "read_part", "read_size", "values_of"]

_NO_RANKS: Final = "'{}' is not a number of ranks, or a list such as 4,8,16 or 2:64:x2"


def add_message_size(parser: argparse.ArgumentParser) -> None:
    """Add ``--bytes``, the message size of the map that is meant."""
    parser.add_argument(
        "--bytes", type=read_size, metavar="SIZE",
        help="message size, e.g. 1MiB (default: the smallest one measured)",
    )  # fmt: skip


def add_least(parser: argparse.ArgumentParser) -> None:
    """Add ``--least``, what something must add to be called slow."""
    parser.add_argument(
        "--least", type=read_part, default=0.10, metavar="PART",
        help="what adds less than this part of the time to a map's round trips is noted, and not "
             "called slow (default: 10%%)",
    )  # fmt: skip


def read_count(text: str) -> int:
    """Read a number of at least 1 for argparse."""
    if not re.fullmatch("[0-9]{1,8}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return int(text)


def read_part(text: str) -> float:
    """Read ``10%`` or ``0.1`` for argparse."""
    try:
        part = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        part = float("nan")
    if not 0 <= part <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a part such as 10% or 0.1")
    return part


def read_size(text: str) -> int:
    """Read a size for argparse, which wants its own kind of error."""
    try:
        return parse_bytes(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def values_of(what: str) -> Callable[[str], list[int]]:
    """Return a reader, for argparse, of lists and ranges of sizes or of numbers of ranks."""

    def read(text: str) -> list[int]:
        try:
            found = parse_sizes(text)
        except InputError as error:
            if what == "ranks":
                raise argparse.ArgumentTypeError(_NO_RANKS.format(text)) from error
            raise argparse.ArgumentTypeError(str(error)) from error
        if what == "ranks" and min(found) < 1:
            raise argparse.ArgumentTypeError(_NO_RANKS.format(text))
        if max(found) > LARGEST:
            raise argparse.ArgumentTypeError(f"'{text}' is beyond any machine")
        return found

    return read
