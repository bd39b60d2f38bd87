"""One page a command, from its parser: what `isochrone COMMAND --help` says, with links.

The pages are written to docs/commands before Sphinx reads it; they are not kept in the repository.
"""

from __future__ import annotations

import argparse
import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Final
from unittest.mock import patch

from sphinx.application import Sphinx

from isochrone.base import registry
from isochrone.cli.experiments import all_options
from isochrone.cli.parser import Parser

__all__ = ["pages", "setup"]

COMMANDS: Final = "cli.commands"
SPECIAL: Final = re.compile(r"([\\*_\[\]<>|#~$])")
CODE: Final = re.compile(r"(`[^`]*`|(?<![\w-])--[a-z][\w-]*)")


def pages() -> dict[str, str]:
    """Return the Markdown of each command."""
    return {name: "\n".join(page(name)) + "\n" for name in registry.names(COMMANDS)}


def page(name: str) -> Iterator[str]:
    """Say what a command does and takes, in lines of Markdown."""
    yield f"# isochrone {name}\n"
    inner = f"{COMMANDS}.{name}"
    if inner not in registry.FAMILIES:
        yield from command(COMMANDS, name, f"isochrone {name}", "##")
        return
    yield prose(registry.load(COMMANDS, name).__doc__ or "")
    for kind in registry.names(inner):
        yield f"\n## isochrone {name} {kind}\n"
        yield from command(inner, kind, f"isochrone {name} {kind}", "###")


def command(family: str, name: str, program: str, level: str) -> Iterator[str]:
    """Describe what can be typed after the name of a command."""
    module = registry.load(family, name)
    parser = Parser(prog=program)
    module.add_arguments(parser)
    yield prose(module.__doc__ or "")
    with patch.dict(os.environ, {"COLUMNS": "92", "NO_COLOR": "1"}):
        parser.whole_help = True
        usage = parser.format_usage().replace("usage: ", " " * 7, 1)
    yield f"\n```text\n{textwrap.dedent(usage).rstrip()}\n```\n"
    for group in parser._action_groups:
        yield from options(parser, group, level)
    if parser.epilog:
        yield f"\n```text\n{parser.epilog.strip()}\n```\n"
    if name == "measure":
        yield from experiments(level)
    yield from examples(module, level)


def experiments(level: str) -> Iterator[str]:
    """List the options of each experiment, if there is a probe that can be asked."""
    for name, known in all_options().items():
        yield f"\n{level} isochrone measure {name}\n"
        for option in known:
            yield f"\n`{f'{option.flag} {option.value}'.strip()}`"
            yield f": {text(option.words)}"


def options(
    parser: argparse.ArgumentParser, group: argparse._ArgumentGroup, level: str
) -> Iterator[str]:
    """List the options of one group, as a list of terms."""
    formatter = parser._get_formatter()
    shown = [one for one in group._group_actions if one.help != argparse.SUPPRESS]
    if not shown:
        return
    title = {"positional arguments": "Arguments"}.get(group.title or "", group.title or "options")
    yield f"\n{level} {text(title[0].upper() + title[1:])}\n"
    if group.description:
        yield prose(group.description) + "\n"
    for one in shown:
        names = formatter._format_action_invocation(one).split(", ")
        yield ", ".join(f"`{name}`" for name in names)
        yield f": {text(' '.join(formatter._expand_help(one).split()) if one.help else '–')}\n"


def examples(module: ModuleType, level: str) -> Iterator[str]:
    """Show the examples at the end of the help, as they are typed."""
    found: Sequence[tuple[str, str]] = getattr(module, "EXAMPLES", ())
    if found:
        yield f"\n{level} Examples\n"
    for what, line in found:
        yield f"{text(what[0].upper() + what[1:])}:\n"
        yield f"```text\n{line}\n```\n"


def prose(words: str) -> str:
    """Return the paragraphs of a docstring; what is indented stays as it is."""
    parts = [part.strip("\n") for part in re.split(r"\n\s*\n", words.strip())]
    return "\n\n".join(
        f"```text\n{part}\n```" if part.startswith(("    ", "  ")) else text(part) for part in parts
    )


def text(words: str) -> str:
    """Escape what means something in Markdown, except in code; options are code."""
    parts = CODE.split(words)  # every second one is code
    parts[1::2] = [f"`{part.strip('`')}`" for part in parts[1::2]]
    parts[::2] = [SPECIAL.sub(r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def write(app: Sphinx) -> None:
    """Write the pages that changed, and remove those of commands that are gone."""
    folder = Path(app.srcdir, "commands")
    made = pages()
    for path in folder.glob("*.md"):
        if path.stem not in made and path.name != "index.md":
            path.unlink()
    for name, words in made.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != words:
            path.write_text(words, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before those of the folder are looked for."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
