"""Write run files as one self-contained HTML report."""

import argparse
from pathlib import Path

from isochrone import models
from isochrone.console.input import add_tests, files_of, read_all, wanted
from isochrone.console.options import add_expert, add_option
from isochrone.console.output import add_output, output_of, print_path
from isochrone.formats.table_notes import add_table_notes
from isochrone.pages.html.render import write_report
from isochrone.pages.page import Asked

EXAMPLES = (
    ("report of a run", "isochrone report map.jsonl"),
    (
        "report of several runs",
        "isochrone report quick/map-16.jsonl quick/sizes-16.jsonl -o machine.html",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone report``."""
    add_option(parser, "files", "FILE", Path, "run files or their folders", nargs="+")
    add_expert(
        parser,
        "--model",
        "FILE",
        Path,
        "model file: compare emulated applications with its prediction; may be repeated",
        action="append",
        default=[],
    )
    add_tests(parser)
    add_output(parser, "HTML file (default: report.html)")
    add_table_notes(parser)


def run(args: argparse.Namespace) -> int:
    """Write the report, and say where it is."""
    files = files_of(args.files)
    path = output_of(args, Path("report.html"), [*files, *args.model])
    request = Asked(models=tuple(models.read(file) for file in args.model))
    write_report([run for file in files for run in read_all(file, wanted(args))], path, request)
    print_path(path)
    return 0
