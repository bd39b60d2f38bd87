"""Write a self-contained HTML report of what was measured, findings first."""

from __future__ import annotations

import argparse
from pathlib import Path

from isochrone import models
from isochrone.cli.output import add_output, check_output
from isochrone.pages.html.render import write_report
from isochrone.pages.page import Asked
from isochrone.runfile.file import read

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone report``."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="run file")
    parser.add_argument(
        "--model", type=Path, action="append", default=[], metavar="FILE",
        help="emulated applications: a model of messages or collectives to predict them by; may be "
        "repeated",
    )  # fmt: skip
    add_output(parser, "HTML file (default: report.html)")


def run(args: argparse.Namespace) -> int:
    """Write the report, and say where it is."""
    path = check_output(
        args.output or Path("report.html"), force=args.force, inputs=[*args.files, *args.model]
    )
    asked = Asked(models=tuple(models.read(file) for file in args.model))
    write_report([read(file) for file in args.files], path, asked)
    print(path)
    return 0
