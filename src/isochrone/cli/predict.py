"""Predict a time from a model file."""

from __future__ import annotations

import argparse

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kinds of prediction, each with options of its own."""
    from isochrone import registry

    kinds = parser.add_subparsers(metavar="WHAT", required=True)
    for name in registry.names("cli._predict"):
        module = registry.load("cli._predict", name)
        summary = (module.__doc__ or "").partition("\n")[0].rstrip(".")
        kind = kinds.add_parser(
            name, help=summary, description=module.__doc__, allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        module.add_arguments(kind)
        kind.set_defaults(predict=module.run)


def run(args: argparse.Namespace) -> int:
    """Predict what was asked for."""
    return int(args.predict(args))
