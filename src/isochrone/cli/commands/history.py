"""Plot the times of runs over days, and mark changes, in one HTML page.

Runs of one experiment on the same hosts are drawn together; latency maps need only have hosts in
common. A mark shows where the MPI library, an option or another setting changed.
"""

import argparse
from pathlib import Path

from isochrone.changes.pages.history import history_page
from isochrone.console.input import earlier_runs
from isochrone.console.options import add_option
from isochrone.console.output import add_output, output_of, print_path
from isochrone.pages.html.render import write_page
from isochrone.runfile.baseline_folder import files

EXAMPLES = (
    ("the runs of a baseline over time", "isochrone history nights -o history.html"),
    ("write the page again every morning", "isochrone history nights -o history.html --force"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone history``."""
    add_option(parser, "folder", "FOLDER", Path, "baseline, or any folder of run files")
    add_output(parser, "HTML file (default: history.html)")


def run(args: argparse.Namespace) -> int:
    """Write the page, and say where it is."""
    path = output_of(args, Path("history.html"), files(args.folder))
    write_page(history_page(earlier_runs(args.folder)), path)
    print_path(path)
    return 0
