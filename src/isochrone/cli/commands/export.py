"""Convert a run file to the format of another program."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from isochrone.base.units import format_bytes
from isochrone.cli.input import read_run
from isochrone.cli.options import add_message_size
from isochrone.cli.output import add_output, check_output
from isochrone.formats import exporter as exporters

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone export``."""
    formats = exporters.names()
    parser.add_argument("file", type=Path, metavar="FILE", help="run file")
    parser.add_argument(
        "--to", choices=formats, required=True, metavar="FORMAT",
        help=f"one of: {', '.join(formats)}",
    )  # fmt: skip
    add_message_size(parser)
    add_output(parser, "file to write (default: the name of FILE with the suffix of the format)")


def run(args: argparse.Namespace) -> int:
    """Write the file, say where it is, and what it leaves out."""
    exporter = exporters.load(args.to)
    path = check_output(
        args.output or args.file.with_suffix(exporter.suffix), force=args.force, inputs=[args.file]
    )
    beside = [path.with_suffix(suffix) for suffix in exporter.beside]
    for other in beside:
        check_output(other, force=args.force, inputs=[args.file])
    found = read_run(args.file)
    exporter.write(found, path, nbytes=args.bytes)
    if exporter.one_size and args.bytes is None and len(found.message_sizes()) > 1:
        size = format_bytes(found.message_sizes()[0])
        print(
            f"isochrone: {args.to} holds one message size; exported {size} (see --bytes)",
            file=sys.stderr,
        )
    for written in (path, *beside):
        print(written)
    return 0
