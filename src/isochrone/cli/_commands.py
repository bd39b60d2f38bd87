"""Subcommands made of a family of plug-ins: the commands themselves, and what `place` places."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from isochrone import registry

__all__ = ["add_commands"]


def add_commands(
    commands: argparse._SubParsersAction[Any], family: str
) -> Iterator[tuple[str, ModuleType, argparse.ArgumentParser]]:
    """Add one subcommand for each plug-in; its docstring is its help.

    Yields
    ------
    tuple
        Name, module and parser of each, which has no options yet.
    """
    for name in registry.names(family):
        module = registry.load(family, name)
        summary = (module.__doc__ or "").partition("\n")[0].rstrip(".")
        yield name, module, commands.add_parser(
            name, help=summary, description=module.__doc__, allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
