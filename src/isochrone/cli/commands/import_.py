"""Import the output of another program as a run file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.cli.output import add_output, check_output
from isochrone.formats import importer as importers
from isochrone.runfile.file import write

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone import``."""
    formats = importers.names()
    parser.add_argument("file", type=Path, metavar="FILE", help="file of the other program")
    parser.add_argument(
        "--from", dest="source", choices=formats, required=True, metavar="FORMAT",
        help=f"one of: {', '.join(formats)}",
    )  # fmt: skip
    parser.add_argument(
        "--ranks", type=_count, metavar="N",
        help="number of ranks, for output that does not contain it (osu collectives)",
    )  # fmt: skip
    add_output(parser, "run file to write (default: the name of FILE with the suffix .jsonl)")


def run(args: argparse.Namespace) -> int:
    """Write the run file, say where it is and what was wrong with the other."""
    path = check_output(
        args.output or args.file.with_suffix(".jsonl"), force=args.force, inputs=[args.file]
    )
    importer = importers.load(args.source)
    if args.ranks is not None and not importer.takes_ranks:
        raise InputError(
            f"files of {args.source} already contain the number of ranks", where="--ranks"
        )
    found = importer.read(args.file, **({"ranks": args.ranks} if importer.takes_ranks else {}))
    write(found, path, overwrite=args.force)
    for warning in found.warnings:
        print(f"isochrone: {printable(warning['text'], 500)}", file=sys.stderr)
    print(path)
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of ranks")
    return int(text)
