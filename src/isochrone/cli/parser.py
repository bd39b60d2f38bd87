"""Parsers whose subcommands are plug-ins, each imported only when it is the one that is named."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from isochrone.base import registry
from isochrone.base.text import printable

__all__ = ["Parser", "add_subcommands"]


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Breaks lines between words only: half of ``hotspot-directional`` is no name of anything."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        lines = self._split_lines(text, width - len(indent))
        return "\n".join(indent + line for line in lines)


class Parser(argparse.ArgumentParser):
    """Reports wrong use in one line, as everything else does."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_HelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and end with exit code 2."""
        self.exit(2, f"{self.prog}: {printable(message, 1000)} (try: {self.prog} --help)\n")


class _Subcommand(Parser):
    """One plug-in of a family; to be listed in a help, its file is not imported."""

    def __init__(self, *, family: str, plugin: str, **options: Any) -> None:
        super().__init__(**options)
        self.family, self.plugin = family, plugin

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Import the plug-in, let it add its options, and parse them."""
        module = registry.load(self.family, self.plugin)
        self.description = module.__doc__
        inner = f"{self.family}.{self.plugin}"
        if inner in registry.FAMILIES:  # a folder of subcommands
            add_subcommands(self, inner, "WHAT")
        else:
            self.epilog = _examples(getattr(module, "EXAMPLES", ()))
            module.add_arguments(self)
            self.set_defaults(run=module.run)
        self.set_defaults(parser=self)
        return super().parse_known_args(args, namespace)


def _examples(pairs: Sequence[tuple[str, str]]) -> str | None:
    """Return the end of a help: what each command line does, and the line."""
    lines = [f"  # {what}\n  {line}" for what, line in pairs]
    return "\n".join(["examples:", *lines]) if lines else None


def add_subcommands(parser: argparse.ArgumentParser, family: str, metavar: str) -> None:
    """Add one subcommand for each plug-in of a family; the named one sets ``run``."""
    subcommands = parser.add_subparsers(metavar=metavar, required=True, parser_class=_Subcommand)
    for name in registry.names(family):
        subcommands.add_parser(
            name, help=registry.summary(family, name), family=family, plugin=name
        )
