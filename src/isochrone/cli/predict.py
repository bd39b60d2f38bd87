"""Predict a time from a model file."""

from __future__ import annotations

import argparse

from isochrone.cli._commands import add_commands

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kinds of prediction, each with options of its own."""
    kinds = parser.add_subparsers(metavar="WHAT", required=True)
    for _, module, kind in add_commands(kinds, "cli._predict"):
        module.add_arguments(kind)
        kind.set_defaults(predict=module.run)


def run(args: argparse.Namespace) -> int:
    """Predict what was asked for."""
    return int(args.predict(args))
