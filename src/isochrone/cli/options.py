"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final

from isochrone.base.errors import InputError
from isochrone.base.units import parse_bytes, parse_sizes

__all__ = ["add_message_size", "read_size", "values_of"]

_NO_RANKS: Final = "'{}' is not a number of ranks, or a list such as 4,8,16 or 2:64:x2"


def add_message_size(parser: argparse.ArgumentParser) -> None:
    """Add ``--bytes``, the message size of the map that is meant."""
    parser.add_argument(
        "--bytes", type=read_size, metavar="SIZE",
        help="message size, e.g. 1MiB (default: the smallest one measured)",
    )  # fmt: skip


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
        return found

    return read
