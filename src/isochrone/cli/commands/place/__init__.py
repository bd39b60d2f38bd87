"""Place nodes or I/O aggregators such that collective I/O has the least hot spot."""

from __future__ import annotations

import argparse

from isochrone.cli.parser import add_subcommands

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what can be placed, each with options of its own."""
    add_subcommands(parser, "cli.commands.place", "WHAT")
