"""Place nodes or I/O aggregators such that collective I/O has the least hot spot."""

from __future__ import annotations

import argparse

from isochrone.cli._commands import add_commands

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what can be placed, each with options of its own."""
    kinds = parser.add_subparsers(metavar="WHAT", required=True)
    for _, module, kind in add_commands(kinds, "cli._place"):
        module.add_arguments(kind)
        kind.set_defaults(place=module.run)


def run(args: argparse.Namespace) -> int:
    """Place what was asked for."""
    return int(args.place(args))
