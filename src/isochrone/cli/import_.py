"""Read what another program measured and write it as a run file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from isochrone.cli._output import add_output, check_output

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone import``."""
    from isochrone import registry

    formats = registry.names("importers")
    parser.add_argument("file", type=Path, metavar="FILE", help="file of the other program")
    parser.add_argument(
        "--from", dest="source", choices=formats, required=True, metavar="FORMAT",
        help=f"one of: {', '.join(formats)}",
    )  # fmt: skip
    add_output(parser, "run file to write (default: the name of FILE with the suffix .jsonl)")


def run(args: argparse.Namespace) -> int:
    """Write the run file, say where it is and what was wrong with the other."""
    from isochrone import registry
    from isochrone.run import write
    from isochrone.text import printable

    path = check_output(
        args.output or args.file.with_suffix(".jsonl"), force=args.force, inputs=[args.file]
    )
    found = registry.load("importers", args.source).read(args.file)
    write(found, path, overwrite=args.force)
    for warning in found.warnings:
        print(f"isochrone: {printable(warning['text'], 500)}", file=sys.stderr)
    print(path)
    return 0
