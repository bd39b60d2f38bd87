"""Show the help of a command."""

import argparse

from isochrone.cli.main import parser as top_parser
from isochrone.console.options import add_option

EXAMPLES = (
    ("what fit can do", "isochrone help fit"),
    ("the options of one experiment", "isochrone help measure latency-map"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone help``."""
    add_option(
        parser,
        "words",
        "COMMAND",
        str,
        "command, subcommand or experiment (default: list all commands)",
        nargs="*",
    )


def run(args: argparse.Namespace) -> int:
    """Print what ``isochrone COMMAND --help`` prints."""
    top_parser().parse_args([*args.words, "--help"])
    raise AssertionError("--help ends the program")
