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
    found = list(configuration.values().values())
    files = [
        _File(source, path, path.is_file()) for source, path in configuration.files(os.environ)
    ]
    if args.json:
        print_json(_Configured(found, files))
        return 0
    items = [
        Sentence(f"{one.path}{'' if one.exists else ' (does not exist)'}", about=one.source)
        for one in files
    ]
    print_blocks([_table(found), Sentence(""), Listing("Files", tuple(items)), *_mistyped()])
    return 0


def _table(found: list[Value]) -> Block:
    titles = ("setting", "value", "from", "what it is")
    rows = [
        Row((
            one.setting.key,
            one.setting.default if one.source == "default" else one.text,
            f"${one.where}" if one.source == "environment" else one.source,
            one.setting.what,
        )) for one in found
    ]  # fmt: skip
    return Table("", columns_of(*titles), tuple(rows))


def _mistyped() -> list[Block]:
    """Point out variables that look like one of ours and are none."""
    known = [name for setting in configuration.SETTINGS for name in setting.variables]
    found = [
        Sentence(f"not a setting; did you mean {meant}?", about=f"${name}")
        for name in sorted(os.environ)
        if name.startswith("ISOCHRONE_") and name not in (*known, configuration.SITE_VARIABLE)
        and (meant := nearest(name, known))
    ]  # fmt: skip
    return [Listing("Perhaps mistyped", tuple(found))] if found else []
