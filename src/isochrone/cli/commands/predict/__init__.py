"""Predict a time from a model file."""

from __future__ import annotations

import argparse

from isochrone.cli.parser import add_subcommands

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kinds of prediction, each with options of its own."""
    add_subcommands(parser, "cli.commands.predict", "WHAT")
