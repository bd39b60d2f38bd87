"""Measure this machine for a minute, and write a report."""

import argparse
import itertools
from pathlib import Path

from isochrone import models
from isochrone.base.text import command_line, printable_path, shell_word
from isochrone.console.measuring import follow, setup_of
from isochrone.console.options import add_mpi
from isochrone.console.output import add_output, check_output
from isochrone.models.pages.model import brief
from isochrone.pages import terminal
from isochrone.pages.common import page_of
from isochrone.pages.html.render import write_report
from isochrone.runfile.file import read

EXAMPLES = (
    ("measure this machine for a minute", "isochrone demo"),
    ("the same with another MPI", "isochrone demo --mpicc ~/mpich/bin/mpicc -o laptop.html"),
)

STEPS = (
    ("latency-map", 4, ("--bytes", "64,64KiB")),
    ("point-to-point", 2, ("--bytes", "auto:0:256KiB", "--repeats", "40", "--time-limit", "10")),
)
"""Experiment, ranks and options of each measurement."""

DEMO_TIMEOUT = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone demo``."""
    add_mpi(parser)
    add_output(parser, "HTML file (default: report.html; if that exists, report-2.html …)")


def run(args: argparse.Namespace) -> int:
    """Take the tour."""
    report, runs, model_file = _unused_names(args.output, force=args.force)
    setup = setup_of(args)
    for (experiment, ranks, options), path in zip(STEPS, runs, strict=True):
        tokens = setup.tokens(experiment, options, ranks, path)
        print(f"$ {command_line(tokens)}\n")
        follow(tokens, path, title=experiment, timeout=DEMO_TIMEOUT)
        terminal.render(page_of(read(path)))
        print()
    typed = [shell_word(str(path)) for path in (runs[-1], model_file)]
    print(f"$ isochrone fit {typed[0]} --family hockney -o {typed[1]}\n")
    model = models.fit(models.load([runs[-1]]), "hockney")
    models.write(model, model_file)
    terminal.print_blocks(brief(model))
    write_report([read(path) for path in runs], report)
    file_names = ", ".join(map(str, [*runs, model_file]))
    page = printable_path(report)
    print(f"\nFiles: {printable_path(file_names)}. Open the report in a browser: {page}")
    return 0


def _unused_names(wanted: Path | None, *, force: bool) -> tuple[Path, list[Path], Path]:
    """Return names for the report, the runs and the model that no file has.

    Raises
    ------
    InputError
        If the user's own name for the report cannot be taken.
    """
    if wanted is not None:
        check_output(wanted, force=force)
    for attempt in itertools.count(1):
        suffix = f"-{attempt}" if attempt > 1 else ""
        report = wanted or Path(f"report{suffix}.html")
        runs = [report.with_name(f"demo-{name}{suffix}.jsonl") for name, _, _ in STEPS]
        model = report.with_name(f"demo-model{suffix}.json")
        new = [*runs, model] if wanted else [report, *runs, model]
        if not any(path.exists() for path in new):
            return report, runs, model
    raise AssertionError("numbers do not end")
