"""Show the help of a command, as `isochrone COMMAND --help` does."""

import argparse

from isochrone.cli.main import parser as top_parser

EXAMPLES = (
    ("what fit can do", "isochrone help fit"),
    ("the options of one experiment", "isochrone help measure latency-map"),
    ("one kind of prediction", "isochrone help predict collective"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone help``."""
    parser.add_argument(
        "words", nargs="*", metavar="COMMAND",
        help="command, subcommand or experiment (default: list all commands)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print what ``isochrone COMMAND --help`` prints."""
    top_parser().parse_args([*args.words, "--help"])
    raise AssertionError("--help ends the program")
