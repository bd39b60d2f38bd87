"""Place nodes or I/O aggregators such that collective I/O has the least hot spot."""

from __future__ import annotations

import argparse

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what can be placed, each with options of its own."""
    from isochrone import registry

    kinds = parser.add_subparsers(metavar="WHAT", required=True)
    for name in registry.names("cli._place"):
        module = registry.load("cli._place", name)
        summary = (module.__doc__ or "").partition("\n")[0].rstrip(".")
        kind = kinds.add_parser(
            name, help=summary, description=module.__doc__, allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        module.add_arguments(kind)
        kind.set_defaults(place=module.run)


def run(args: argparse.Namespace) -> int:
    """Place what was asked for."""
    return int(args.place(args))
