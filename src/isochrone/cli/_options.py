"""Options that several commands share."""

from __future__ import annotations

import argparse

__all__ = ["add_message_size", "read_size"]


def add_message_size(parser: argparse.ArgumentParser) -> None:
    """Add ``--bytes``, the message size of the map that is meant."""
    parser.add_argument(
        "--bytes", type=read_size, metavar="SIZE",
        help="message size, e.g. 1MiB (default: the smallest one measured)",
    )  # fmt: skip


def read_size(text: str) -> int:
    """Read a size for argparse, which wants its own kind of error."""
    from isochrone.errors import InputError
    from isochrone.units import parse_bytes

    try:
        return parse_bytes(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
