"""Summarise run files: levels of a map, curves of a sweep, points of a hot spot, phases of I/O."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from isochrone.cli.options import add_least, add_message_size
from isochrone.pages import terminal
from isochrone.pages.common import document, page_of
from isochrone.pages.page import Asked
from isochrone.runfile.file import read

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone show``."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="run file")
    parser.add_argument("--json", action="store_true", help="one JSON document, for scripts")
    add_message_size(parser)
    add_least(parser)


def run(args: argparse.Namespace) -> int:
    """Print what each file holds."""
    asked = Asked(args.bytes, args.least)
    if args.json:
        documents = [document(read(path), asked) for path in args.files]
        print(json.dumps(documents[0] if len(documents) == 1 else documents))
        return 0
    for number, path in enumerate(args.files):
        if number:
            print()
        terminal.render(page_of(read(path), asked))
    return 0
