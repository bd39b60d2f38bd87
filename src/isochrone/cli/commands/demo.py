"""Demonstrate the tool on this machine: a latency map, a size sweep, a model, and report.html."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Final

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.cli.measuring import follow, setup_of
from isochrone.pages import terminal
from isochrone.pages.common import page_of
from isochrone.pages.html.render import is_report, write_report
from isochrone.pages.model import blocks
from isochrone.runfile.file import read

__all__ = ["add_arguments", "run"]

STEPS: Final = (
    ("latency-map", 4, ("--bytes", "64,64KiB")),
    ("point-to-point", 2, ("--bytes", "auto:0:256KiB", "--repeats", "40", "--time-limit", "10")),
)
"""Experiment, ranks and options of each measurement."""

TIMEOUT: Final = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone demo``."""
    parser.add_argument("--mpicc", metavar="X", help="compiler wrapper of your MPI")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="FILE",
        help="HTML file (default: report.html); replaces an earlier report",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Take the tour."""
    if args.output.exists() and not is_report(args.output):
        raise InputError(
            "it exists and is not an Isochrone report", where=str(args.output), hint="give -o FILE"
        )
    setup = setup_of(args)
    files = []
    for experiment, ranks, options in STEPS:
        path = args.output.with_name(f"demo-{experiment}.jsonl")
        tokens = setup.tokens(experiment, options, ranks, path, force=True)
        print(f"$ {shlex.join(tokens)}\n")
        follow(tokens, path, title=experiment, timeout=TIMEOUT)
        terminal.render(page_of(read(path)))
        print()
        files.append(path)
    model = _fit(files[-1], args.output.with_name("demo-model.json"))
    write_report([read(path) for path in files], args.output)
    kept = ", ".join(map(str, [*files, model]))
    print(f"\nKept: {kept}. The report is {args.output}: open it in a browser.")
    return 0


def _fit(run_file: Path, path: Path) -> Path:
    """Fit a formula to the sweep, print it, and keep the model."""
    print(f"$ isochrone fit {run_file} --model hockney -o {path}\n")
    model = models.fit(models.load([run_file]), "hockney")
    models.write(model, path)
    terminal.print_blocks(blocks(model))
    return path
