"""Show the settings, and where each comes from.

Precedence, highest first: command line, environment (ISOCHRONE_…), your file
(~/.config/isochrone/config.toml), the site's file (/etc/isochrone.toml), built-in defaults.
"""

import argparse
import os
from pathlib import Path

from msgspec import Struct

from isochrone.base.text import nearest
from isochrone.console import configuration
from isochrone.console.as_json import add_json, print_json
from isochrone.console.configuration import Value
from isochrone.pages.page import Block, Listing, Row, Sentence, Table, columns_of
from isochrone.pages.terminal import print_blocks

EXAMPLES = (
    ("which settings are in use, and where do they come from?", "isochrone config"),
    ("the same as JSON", "isochrone config --json"),
)


class _File(Struct):
    source: str
    path: Path
    exists: bool


class _Configured(Struct):
    """What is configured, and where each value came from."""

    settings: list[Value]
    files: list[_File]


DOCUMENTS = {"config": _Configured}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone config``."""
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print all settings."""
    values = list(configuration.values().values())
    files = [
        _File(source, path, path.is_file()) for source, path in configuration.files(os.environ)
    ]
    if args.json:
        print_json(_Configured(values, files))
        return 0
    items = [
        Sentence(f"{file.path}{'' if file.exists else ' (does not exist)'}", about=file.source)
        for file in files
    ]
    print_blocks([_table(values), Sentence(""), Listing("Files", tuple(items)), *_mistyped()])
    return 0


def _table(values: list[Value]) -> Block:
    titles = ("setting", "value", "from", "what it is")
    rows = [
        Row(
            (
                value.setting.key,
                value.setting.default if value.source == "default" else value.text,
                f"${value.where}" if value.source == "environment" else value.source,
                value.setting.what,
            )
        )
        for value in values
    ]
    return Table("", columns_of(*titles), tuple(rows))


def _mistyped() -> list[Block]:
    """Point out variables that look like one of ours and are none."""
    variables = [name for setting in configuration.SETTINGS for name in setting.variables]
    sentences = [
        Sentence(f"not a setting; did you mean {meant}?", about=f"${name}")
        for name in sorted(os.environ)
        if name.startswith("ISOCHRONE_")
        and name not in (*variables, configuration.SITE_VARIABLE)
        and (meant := nearest(name, variables))
    ]
    return [Listing("Perhaps mistyped", tuple(sentences))] if sentences else []
